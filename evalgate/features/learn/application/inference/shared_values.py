"""Values that all passing trials share: the request, codes, literals of the answer, and what they left behind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.features.learn.application.inference.checks import InferredCheck
from evalgate.features.learn.application.inference.contrast import FEW, count_other_values
from evalgate.features.learn.measures.usable_names import is_usable_name
from evalgate.gate.trajectory.answers import find_literals
from evalgate.gate.trajectory.behaviour import read_steady_answer
from evalgate.measures.redaction.redact import redact, redact_field, redact_value
from evalgate.measures.sequences.differences import ABSENT, format_path, list_changes
from evalgate.measures.text.tool_words import changes_something
from evalgate.measures.values.json_values import is_steady, json_equal
from evalgate.models.trace.trace_view import list_evidence
from evalgate.reporting.text.flow_style import COMMENT_LIMIT, format_value
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.measures.sequences.differences import PlaceChange
    from evalgate.models.trace.trace import Trace

MAX_PROMPT = 2_000
"""Characters of a request that a suite names."""
MAX_OFFERS = 3
"""Tools whose codes are checked, and offers of a kind."""
_CODE = re.compile(r"[#A-Z0-9][A-Z0-9_:-]{1,39}")
"""A code has no lower case, which names and texts of persons have; so has a time."""
FEW_ANSWERS, MAX_LITERALS, SHORT, LONGEST = 2, 5, 2, 60
_OF_TIME = re.compile(r"(?:19|20)\d\d|\d{4}-\d\d-\d\d(?:T.*)?|\d\d?:\d\d(?::\d\d)?")
"""A year, a day, a time: another one tomorrow, unless the request names it."""
MOST_PATHS, MOST_VALUES, MAX_TEXT = 20, 5, 80
"""Paths that a check may list, values that are expected, and characters of one."""


def find_prompt(trials: Sequence[Trace]) -> str | None:
    """The only message of a user, if it is one and the same text in all trials, printable and no secret; else None.

    What a user says later answers an agent, so a conversation can't be recorded again from its first message.
    """
    requests = {_find_request(trace) for trace in trials}
    prompt = requests.pop() if len(requests) == 1 else None
    return prompt if prompt and _is_writable(prompt) else None


def _is_writable(prompt: str) -> bool:
    is_printable = all(sign.isprintable() or sign in "\n\t" for sign in prompt[:MAX_PROMPT])
    return len(prompt) <= MAX_PROMPT and is_printable and redact(prompt) == prompt


def _find_request(trace: Trace) -> str | None:
    asked = [message for message in trace.messages if message["role"] == "user"]
    is_whole = list_evidence(trace)["messages"] == "complete"
    return asked[0]["content"] if len(asked) == 1 and is_whole and not asked[0]["parts"] else None


def find_codes(trials: Sequence[Trace], failed: Sequence[Trace]) -> list[InferredCheck]:
    """A check of each tool's codes: several trials agree, or several failed ones have others."""
    tools = sorted(set.intersection(*(set(trace.called) for trace in trials)))
    changing = [
        tool
        for tool in tools
        if any(changes_something(tool, trace.tool_definitions, trace.tool_kinds) for trace in trials)
    ]
    usable = filter(is_usable_name, changing)
    return [check for tool in usable if (check := _find_code(tool, trials, failed))][:MAX_OFFERS]


def offer(checks: Sequence[InferredCheck]) -> list[str]:
    """Checks as comments, for the author to add: whether another run may use another value, traces don't show."""
    lines = [f"- {format_value(check.require().entry)}  # {check.reason}" for check in checks]
    return [line for line in lines if len(line) < COMMENT_LIMIT]


def _find_code(tool: str, trials: Sequence[Trace], failed: Sequence[Trace]) -> InferredCheck | None:
    calls = [[call["arguments"] for call in trace.agent_calls if call["name"] == tool] for trace in trials]
    if any(len(each) != 1 or not isinstance(each[0], dict) for each in calls):
        return None
    shared = {
        name: value
        for name, value in sorted(calls[0][0].items())
        if _is_shared(name, value, calls) and is_steady(value, trials[0].started_at)
    }
    others = {name: count_other_values(tool, failed, name, value) for name, value in shared.items()}
    chosen = {name: value for name, value in shared.items() if len(trials) >= FEW or others[name] >= FEW}
    if not chosen:
        return None
    entry = {"type": "tool_sequence", "sequence": [{"tool": tool, "args": chosen}]}
    counts = sorted({others[name] for name in chosen})
    reason = f", another in {counts[-1]} of {pluralize(len(failed), 'failed trial')}" if counts[-1] else ""
    return InferredCheck(entry, f"in all {len(trials)}{reason}") if redact_value(entry) == entry else None


def _is_shared(name: str, value: Any, calls: Sequence[Sequence[Mapping[str, Any]]]) -> bool:
    is_code = _CODE.fullmatch(value) is not None if isinstance(value, str) else type(value) in (int, float)
    is_open = redact_field(name, "x") == "x" and not name.startswith("$")
    return is_code and is_open and all(each[0].get(name) == value for each in calls)


def find_answer_literals(trials: Sequence[Trace]) -> Iterator[InferredCheck]:
    """Yields a check of each literal that all answers of several trials have, with a source in each trial."""
    if len(trials) < FEW_ANSWERS:
        return
    common = set.intersection(*(find_literals(read_steady_answer(trace)) for trace in trials))
    clean = (each for each in sorted(common) if len(each) <= LONGEST and redact(each) == each)
    found = [each for each in clean if all(_has_source(each, trace) for trace in trials)]
    longest = [each for each in found if not any(_find_whole(each, other) for other in found if other != each)]
    for literal in longest[:MAX_LITERALS]:
        yield InferredCheck({"type": "output_contains", **_look_for(literal)}, f"in all {len(trials)} answers")


def _look_for(literal: str) -> dict[str, str]:
    """A text; of one or two characters as a whole number, since a longer one may have these digits, too."""
    if len(literal) > SHORT:
        return {"value": literal}
    first, last = (r"\b" if each.isalnum() else "" for each in (literal[0], literal[-1]))
    return {"pattern": f"{first}{re.escape(literal)}{last}"}


def _find_whole(literal: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(literal)}(?!\w)", text) is not None


def _has_source(literal: str, trace: Trace) -> bool:
    texts = [message["content"] or "" for message in trace.messages if message["role"] == "user"]
    if _OF_TIME.fullmatch(literal) is None:
        texts += [call["result_text"] or "" for call in trace.agent_calls]
    return any(_find_whole(literal, text) for text in texts)


def expect_state(trials: Sequence[Trace]) -> Iterator[InferredCheck]:
    """Yields checks where all trials agree on what changed."""
    yield from _expect_records([list_changes(trace.state) for trace in trials])
    yield from _expect_files([_list_files(trace) for trace in trials])


def _expect_records(trials: Sequence[Sequence[PlaceChange] | None]) -> Iterator[InferredCheck]:
    if not trials or any(changes is None for changes in trials):
        return
    first, *others = [{format_path(each.path): each for each in changes or ()} for changes in trials]
    if len(first) > MOST_PATHS or any(each.keys() != first.keys() for each in others):
        return
    yield InferredCheck({"type": "state_unchanged", **({"except": [*first]} if first else {})})
    steady = [path for path, change in first.items() if all(_is_same(change, each[path]) for each in others)]
    for path in steady[:MOST_VALUES]:
        value = first[path].after
        if value is ABSENT:
            yield InferredCheck({"type": "state", "path": path, "exists": False})
        elif _is_plain(value):
            yield InferredCheck({"type": "state", "path": path, "eq": value})


def _is_same(one: PlaceChange, other: PlaceChange) -> bool:
    if one.after is ABSENT or other.after is ABSENT:
        return one.after is other.after
    return json_equal(one.after, other.after)


def _is_plain(value: Any) -> bool:
    """Whether it is short, and not what a mask left of an id or a time."""
    if isinstance(value, str):
        return len(value) <= MAX_TEXT and value.isprintable() and not (value.startswith("[") and value.endswith("]"))
    return isinstance(value, bool | int | float)


def _list_files(trace: Trace) -> list[str] | None:
    """The files that the run changed; None if that is not known."""
    files = (trace.state or {}).get("files")
    return None if files is None else sorted(path for path, each in files.items() if "change" in each)


def _expect_files(trials: Sequence[Sequence[str] | None]) -> Iterator[InferredCheck]:
    found = trials[0] if trials else None
    if found is None or len(found) > MOST_PATHS or any(each != found for each in trials):
        return
    if not any(sign in path for path in found for sign in "*?"):
        yield InferredCheck({"type": "files_changed", "only": [*found]})
