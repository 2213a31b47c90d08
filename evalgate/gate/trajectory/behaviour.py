"""What a trial did, as far as it is compared: calls with their arguments and outcomes, answer, status, what it left."""

from __future__ import annotations

import json
import re
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.redact import redact_value
from evalgate.measures.text.plain_text import simplify
from evalgate.measures.text.tool_words import changes_something, separate_words
from evalgate.measures.values.json_values import decode_json_text, is_set_time, is_time_of_run, list_short_values
from evalgate.measures.values.outputs import ended_in_error
from evalgate.models.comparison.behaviour import Behaviour, CallMaker, ComparedCall
from evalgate.models.trace.actors import ROOT
from evalgate.models.trace.trace import OTHER_AGENTS
from evalgate.models.trace.trace_view import ARGUMENT_SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.comparison.behaviour import LeftState, OtherAgents
    from evalgate.models.trace.trace import ToolCall, Trace

MOST_CALLS, MOST_VALUES, MOST_LEVELS = 200, 50, 4
LONGEST_ANSWER = 4_000
_DATE = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
LONGEST_PROMPT = 20_000
"""Characters of a system prompt in which the day of the run is looked for."""
LONGEST_REQUESTS = 10_000
"""Characters of what users say."""
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
WORD_KEYS, LONGEST_WORD, LONGEST_RESULT = ("status", "state", "result"), 30, 20_000
"""Keys at the top of a result under which it says how a call ended, and characters of that and of the result."""
MOST_FLAGS, MOST_ADDRESSES = 10, 50
_ADDRESS = re.compile(r"https?://(?:[^\s/@]*@)?([\w.-]+)|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DOMAIN = re.compile(r"(?:^|\.)([\w-]+\.(?:(?:ac|co|com|edu|gov|net|org)\.[a-z]{2}|[a-z][\w-]*))$")
"""The end of a host: of a subdomain may be one for each run, as of a preview."""
_END = re.compile(r"ok|okay|success|successful|successfully|done|valid|sent|paid|[a-z]+[a-df-z]ed")
_NO_END = re.compile("cach|compress|expect|need|pagin|queue|requir|retri|trunc")
"""How words begin that end alike and are about how the result was made, or what is to be done."""
_WORDS = re.compile(r"[^\W\d_]+(?:[ _-][^\W\d_]+)*")
SCALAR = re.compile(r"-?\d+(?:\.\d+)?|true|false|null")
split_path = re.compile(r"[.\[]").split
"""Splits a path, of which the first part is the name of an argument."""


def behaviour_from_trace(trace: Trace, *, with_sources: bool = False) -> Behaviour:
    """What is compared of a trace; sources of arguments only if a check asked for them, or `with_sources`."""
    recorded = trace.agent_calls[:MOST_CALLS]
    names = {call["name"] for call in recorded}
    changing = {name: changes_something(name, trace.tool_definitions, trace.tool_kinds) for name in names}
    raw = list_short_values([call["arguments"] for call in recorded], MOST_LEVELS, MOST_VALUES, trace.started_at)
    others = [_list_others(call["arguments"], each) for call, each in zip(recorded, raw, strict=True)]
    words = [_list_words(call) if changing[call["name"]] else {} for call in recorded]
    texts = [_list_texts(call["arguments"], each) for call, each in zip(recorded, raw, strict=True)]
    named = [_list_addresses(call) if changing[call["name"]] else [] for call in recorded]
    values, answer = redact_value([raw, read_steady_answer(trace)])
    rows = [values, *(redact_value(each) if any(each) else each for each in (others, words, texts, named))]
    makers = [_find_maker(call, trace.tool_calls) if changing[call["name"]] else None for call in recorded]
    days = _count_days([answer, *(each for given in values for each in given.values())], trace)
    related = [_relate(given, days) if days else {} for given in values]
    calls = [
        ComparedCall(call["name"], changing[call["name"]], given, _name_outcome(call), {}, call["step"], *rest)
        for call, given, *rest in zip(recorded, *rows, makers, related, strict=True)
    ]
    was_asked = trace.kept_view is not None and ARGUMENT_SOURCES in trace.kept_view.cache
    if with_sources or was_asked:
        calls = _add_sources(calls, trace)
    has_answer = trace.response["content"] is not None
    left = None if trace.state is None else _read_left_state(trace)
    known = None if "calls" in trace.gaps else calls
    agents = _read_others(trace) if OTHER_AGENTS in trace.metadata else None
    spoken = answer.strip() if has_answer else None
    count = len(trace.llm_calls)
    ends = known, spoken, trace.status, left, days
    return Behaviour(*ends, models=_list_models(trace), others=agents, model_calls=count, asked=_join_requests(trace))


def _join_requests(trace: Trace) -> str | None:
    """All that users said in the run; None if that is nothing, or too long to be looked through."""
    asked = "\n".join(each["content"] or "" for each in trace.messages if each["role"] == "user" and each["turn"])
    return asked if 0 < len(asked) <= LONGEST_REQUESTS else None


_NUMBER = re.compile(r"#\d+(?=/|$)")


def _find_maker(call: ToolCall, calls: Sequence[ToolCall]) -> CallMaker | None:
    """Who made a call, without the number that tells agents of one name apart."""
    path, agent, start = call["actor"], call["agent"], call["started_by"]
    if path is None:
        return None
    if agent is None and start is not None and path != ROOT and 0 <= start < len(calls):
        agent = f"agent of {calls[start]['name']}"
    return CallMaker(_NUMBER.sub("", path), agent)


def _list_models(trace: Trace) -> tuple[str, ...] | None:
    """The models of all answers; None if one is not known."""
    used = {call["model"] or "" for call in trace.llm_calls if "error" not in call}
    return tuple(sorted(used)) if used and "" not in used else None


def _count_days(texts: Iterable[str], trace: Trace) -> dict[str, str]:
    """Each date in the texts as a number of days from that of the run; none if that is not known.

    That is the first date in the system prompt that is at most a day from the start, as in another zone, else its own.
    """
    started = _read_date((trace.started_at or "")[:10])
    dates = set() if started is None else {*_DATE.findall(" ".join(texts))}
    if started is None or not dates:
        return {}
    found = map(_read_date, _DATE.findall((trace.system_instructions or "")[:LONGEST_PROMPT]))
    today = next((each for each in found if each and abs((each - started).days) <= 1), started)
    return {text: f"day{(day - today).days:+}" for text in dates if (day := _read_date(text))}


def _read_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:  # looks like a date, as `2026-13-45` does
        return None


def _relate(given: dict[str, str], days: dict[str, str]) -> dict[str, str]:
    """The values with a date, with the days instead of their dates."""
    found = {path: relate_dates(value, days) for path, value in given.items()}
    return {path: value for path, value in found.items() if value != given[path]}


def relate_dates(text: str, days: dict[str, str]) -> str:
    """A text with days instead of its dates."""
    return _DATE.sub(lambda found: days.get(found[0], found[0]), text)


def read_steady_answer(trace: Trace) -> str:
    """The answer in plain signs, of which times about when the run started are only their days."""

    def shorten(found: re.Match[str]) -> str:
        is_own = is_time_of_run(found[0], trace.started_at) and not is_set_time(found[0], trace.started_at)
        return found[1] if is_own else found[0]

    answer = (trace.response["content"] or "")[:LONGEST_ANSWER]
    return _MOMENT.sub(shorten, answer if answer.isascii() else simplify(answer))


def _list_others(arguments: Any, values: dict[str, str]) -> list[str] | None:
    """The arguments without a value that is compared, but for those that are null; None if there are too many."""
    if not isinstance(arguments, dict) or len(values) == MOST_VALUES:
        return None
    found = {split_path(path, 1)[0] for path in values}
    return sorted({split_path(name, 1)[0] for name, value in arguments.items() if value is not None} - found)


def _list_words(call: ToolCall) -> dict[str, str]:
    """The words in which the result of a call that did not fail says how it ended."""
    text = call["result_text"] if call["result"] is None else call["result"]
    is_short = not isinstance(text, str) or len(text) <= LONGEST_RESULT
    result = decode_json_text(text) if is_short and _name_outcome(call) != "error" else None
    if not isinstance(result, dict):
        return {}
    found = {key: result.get(key) for key in WORD_KEYS}
    words = {
        key: word
        for key, word in found.items()
        if isinstance(word, str) and len(word) <= LONGEST_WORD and _WORDS.fullmatch(word)
    }
    flags = ((key, value) for key, value in result.items() if isinstance(value, bool) and _names_end(key))
    return words | {key: json.dumps(value) for key, value in islice(flags, MOST_FLAGS)}


def _list_addresses(call: ToolCall) -> list[str]:
    """The e-mail addresses, and the domains of URLs, in the result of a call that did not fail."""
    text = call["result_text"] or ""
    if ("@" not in text and "://" not in text) or len(text) > LONGEST_RESULT or _name_outcome(call) == "error":
        return []
    found = islice(_ADDRESS.finditer(text.lower()), MOST_ADDRESSES)
    names = (each[0] if each[1] is None else (domain := _DOMAIN.search(each[1])) and domain[1] for each in found)
    return sorted({name for name in names if name})


def _names_end(key: str) -> bool:
    """Whether a field that is true or false says how a call ended, such as `ok`, `approved` or `isRefunded`."""
    last = re.split("[_ -]", separate_words(key[:LONGEST_WORD]).lower())[-1]
    return key in WORD_KEYS or (_END.fullmatch(last) is not None and _NO_END.match(last) is None)


def _list_texts(arguments: Any, values: dict[str, str]) -> list[str]:
    """The arguments that hold a number, a boolean or null as a text."""
    named = arguments if isinstance(arguments, dict) else {}
    return [path for path, value in values.items() if isinstance(named.get(path), str) and SCALAR.fullmatch(value)]


def _name_outcome(call: ToolCall) -> str:
    """Whether a call failed, which a recording may say on one side and leave to the result on the other."""
    if call["status"] == "error" or (call["status"] == "unknown" and ended_in_error(call)):
        return "error"
    is_recorded = call["status"] == "ok" or call["result"] is not None or call["result_text"] is not None
    return "no error" if is_recorded else ""


def _add_sources(calls: Iterable[ComparedCall], trace: Trace) -> list[ComparedCall]:
    from evalgate.gate.trajectory.call_origins import list_call_sources  # few suites ask for them

    return [
        call._replace(sources=list_call_sources(trace, number)) if call.changes else call
        for number, call in enumerate(calls, 1)
    ]


def _read_others(trace: Trace) -> OtherAgents | None:
    from evalgate.gate.trajectory.call_origins import read_other_agents  # few traces record any

    return read_other_agents(trace)


def _read_left_state(trace: Trace) -> LeftState:
    from evalgate.gate.trajectory.left_state import read_left_state  # few traces record it

    return read_left_state(trace)
