"""Differences of behaviour between two sides of a scenario, also where its verdict stays the same.

A difference is only what is one and the same in all trials of each side, so that chance rarely makes one:
benchmarks/behaviour_noise.py measures how often.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from evalgate.measures.redaction.redact import redact_value
from evalgate.measures.sequences.differences import excerpt_texts
from evalgate.measures.sequences.trajectory_metrics import OrderedCall, order_alike, order_like
from evalgate.measures.text.plain_text import remove_emphasis, simplify
from evalgate.measures.text.tool_words import changes_something
from evalgate.measures.values.json_values import (
    CURRENCIES,
    CURRENCY_SIGNS,
    decode_json_text,
    is_time_of_run,
    list_short_values,
    shorten,
)
from evalgate.measures.values.outputs import ended_in_error
from evalgate.models.comparison.behaviour import Behaviour, BehaviourDifference, ComparedCall
from evalgate.models.comparison.trajectory import TextPair
from evalgate.models.trace.trace_view import ARGUMENT_SOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from msgspec import UnsetType

    from evalgate.models.comparison.behaviour import DifferenceKind, LeftState
    from evalgate.models.comparison.comparison import AgentChange
    from evalgate.models.trace.trace import ToolCall, Trace

    Found = Iterator[tuple[DifferenceKind, str, str, str]]

Key = TypeVar("Key")
MOST_CALLS, MOST_VALUES, MOST_LEVELS = 200, 50, 4
LONGEST_ANSWER, LONGEST_SIDE = 4_000, 200
MOST_NAMES, MOST_LITERALS, MOST_DIFFERENCES = 12, 5, 20
MOST_ARGUMENTS, LONGEST_ARGUMENT = 2, 40
"""Arguments that distinguish calls of one tool, and characters of one."""
UNSHOWN = "\u2026"
"""Stands for the value of an argument that is not one and the same, or too long."""
SEVERAL, ENOUGH = 2, 3
"""Trials of a side from which answers are compared, and from which calls are that change nothing."""
_BY_CHANCE = re.compile(r"(?:think|calculate|compute|transfer_to|hand_?(?:off|over)|escalate)(?![a-z])", re.IGNORECASE)
"""Calls that change nothing outside of the conversation, or end it: between two single trials they differ by chance."""
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_LITERAL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[\w$\u20ac.:/+-]*\d[\w.:/+%-]*")
_BEFORE_AMOUNT = re.compile(rf"(?:[{CURRENCY_SIGNS}]|\b(?:{CURRENCIES}))\s?$")
_AFTER_AMOUNT = re.compile(rf"\s?(?:[{CURRENCY_SIGNS}%]|(?:{CURRENCIES}|euros?|dollars?|pounds?|percent)\b)")
_END_OF_HEAD = re.compile(r"[.\[]")
_WHOLE = re.compile(r"\A(-?\d+)\.0\Z")
"""A whole number as some write it in JSON."""
_CENTS = re.compile(r"(?<=\d)\.00\Z")
WORD_KEYS, LONGEST_WORD, LONGEST_RESULT = ("status", "state", "result"), 30, 20_000
"""Keys at the top of a result under which it says how a call ended, and characters of that and of the result."""
_WORDS = re.compile(r"[^\W\d_]+(?:[ _-][^\W\d_]+)*")
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?|true|false|null")
_LONGEST_CODE = 5
"""Characters of a code, with a blank behind it and one character before it."""


def behaviour_from_trace(trace: Trace, *, with_sources: bool = False) -> Behaviour:
    """What is compared of a trace; sources of arguments only if a check asked for them, or `with_sources`."""
    recorded = trace.agent_calls[:MOST_CALLS]
    changing = {name: changes_something(name, trace.tool_definitions) for name in {call["name"] for call in recorded}}
    raw = list_short_values([call["arguments"] for call in recorded], MOST_LEVELS, MOST_VALUES, trace.started_at)
    others = [_list_others(call["arguments"], each) for call, each in zip(recorded, raw, strict=True)]
    words = [_list_words(call) if changing[call["name"]] else {} for call in recorded]
    texts = [_list_texts(call["arguments"], each) for call, each in zip(recorded, raw, strict=True)]
    values, answer = redact_value([raw, read_steady_answer(trace)])
    rows = [values, *(redact_value(each) if any(each) else each for each in (others, words, texts))]
    calls = [
        ComparedCall(call["name"], changing[call["name"]], given, _name_outcome(call), {}, call["step"], *rest)
        for call, given, *rest in zip(recorded, *rows, strict=True)
    ]
    was_asked = trace.kept_view is not None and ARGUMENT_SOURCES in trace.kept_view.cache
    if with_sources or was_asked:
        calls = _add_sources(calls, trace)
    has_answer = trace.response["content"] is not None
    left = None if trace.state is None else _read_left_state(trace)
    known = None if "calls" in trace.gaps else calls
    return Behaviour(known, answer.strip() if has_answer else None, trace.status, left)


def read_steady_answer(trace: Trace) -> str:
    """The answer in plain signs, of which times about when the run started are only their days."""

    def shorten(found: re.Match[str]) -> str:
        return found[1] if is_time_of_run(found[0], trace.started_at) else found[0]

    answer = (trace.response["content"] or "")[:LONGEST_ANSWER]
    return _MOMENT.sub(shorten, answer if answer.isascii() else simplify(answer))


def _read_left_state(trace: Trace) -> LeftState:
    from evalgate.gate.trajectory.left_state import read_left_state  # few traces record it

    return read_left_state(trace)


def _list_texts(arguments: Any, values: dict[str, str]) -> list[str]:
    """The arguments that hold a number, a boolean or null as a text."""
    named = arguments if isinstance(arguments, dict) else {}
    return [path for path, value in values.items() if isinstance(named.get(path), str) and _SCALAR.fullmatch(value)]


def _list_words(call: ToolCall) -> dict[str, str]:
    """The words in which the result of a call that did not fail says how it ended."""
    text = call["result_text"] if call["result"] is None else call["result"]
    is_short = not isinstance(text, str) or len(text) <= LONGEST_RESULT
    result = decode_json_text(text) if is_short and _name_outcome(call) != "error" else None
    if not isinstance(result, dict):
        return {}
    found = {key: result.get(key) for key in WORD_KEYS}
    return {
        key: word
        for key, word in found.items()
        if isinstance(word, str) and len(word) <= LONGEST_WORD and _WORDS.fullmatch(word)
    }


def _list_others(arguments: Any, values: dict[str, str]) -> list[str] | None:
    """The arguments without a value that is compared, but for those that are null; None if there are too many."""
    if not isinstance(arguments, dict) or len(values) == MOST_VALUES:
        return None
    found = {_name_head(path) for path in values}
    return sorted({_name_head(name) for name, value in arguments.items() if value is not None} - found)


def _name_head(path: str) -> str:
    """The argument to which a path leads."""
    return _END_OF_HEAD.split(path, maxsplit=1)[0]


def _name_outcome(call: ToolCall) -> str:
    """Whether a call failed, which a recording may say on one side and leave to the result on the other."""
    if call["status"] == "error" or (call["status"] == "unknown" and ended_in_error(call)):
        return "error"
    is_recorded = call["status"] == "ok" or call["result"] is not None or call["result_text"] is not None
    return "no error" if is_recorded else ""


def _add_sources(calls: Iterable[ComparedCall], trace: Trace) -> list[ComparedCall]:
    from evalgate.gate.trajectory.call_sources import list_call_sources  # few suites ask for them

    return [
        call._replace(sources=list_call_sources(trace, number)) if call.changes else call
        for number, call in enumerate(calls, 1)
    ]


def find_differences(
    baseline: Sequence[Behaviour], current: Sequence[Behaviour], agent: AgentChange | None, *, passes: bool
) -> list[BehaviourDifference]:
    """The differences between the trials of a scenario.

    With one trial on a side, calls, arguments and states are compared only if the scenario `passes` on both, and
    answers not.
    """
    fewest = min(len(baseline), len(current))
    if not fewest:
        return []
    baseline, current = _order_trials(baseline, current)
    found = [*_compare_ends(baseline, current, agent)]
    if fewest >= SEVERAL:
        found += _compare_calls(baseline, current, fewest)
    elif passes:
        sides = [list(map(_leave_out_chance, side)) for side in (baseline, current)]
        found += _compare_calls(sides[0], sides[1], fewest)
    if fewest >= SEVERAL or passes:
        found += _compare_left(baseline, current)
    if fewest >= SEVERAL:
        found += _compare_answers(baseline, current, fewest)
    return [
        BehaviourDifference(*each, len(baseline), len(current), _find_example(each[0], baseline[0], current[0]))
        for each in found[:MOST_DIFFERENCES]
    ]


def _order_trials(
    baseline: Sequence[Behaviour], current: Sequence[Behaviour]
) -> tuple[Sequence[Behaviour], Sequence[Behaviour]]:
    """The trials, of which calls of one message, which have no order, are in that of the same calls in the first."""
    first, now = order_alike(_list_ordered(baseline[0]), _list_ordered(current[0]))
    return _order_like(baseline, first), _order_like(current, now)


def _order_like(trials: Sequence[Behaviour], order: Sequence[int]) -> Sequence[Behaviour]:
    first = _reorder(trials[0], order)
    known = _list_ordered(first)
    return [first, *(_reorder(each, order_like(known, _list_ordered(each))) for each in trials[1:])]


def _reorder(trial: Behaviour, order: Sequence[int]) -> Behaviour:
    return trial if trial.calls is None else replace(trial, calls=[trial.calls[at] for at in order])


def _list_ordered(trial: Behaviour) -> list[OrderedCall]:
    return [OrderedCall(call.step, call.name, call.values) for call in trial.calls or ()]


def _leave_out_chance(trial: Behaviour) -> Behaviour:
    calls = None if trial.calls is None else [call for call in trial.calls if not _BY_CHANCE.match(call.name)]
    return Behaviour(calls, trial.answer, trial.status, trial.left)


def _compare_ends(baseline: Sequence[Behaviour], current: Sequence[Behaviour], agent: AgentChange | None) -> Found:
    if agent is not None and agent.models is not None:
        before, _, now = agent.models.partition(" -> ")
        yield "model", "model", before, now
    if agent is not None and agent.tools:  # which a framework may write into the prompt: one line for both
        yield "tools", f"tool definitions{' and system prompt' if agent.prompts else ''}", *agent.tool_sides
    elif agent is not None and agent.prompts:
        yield "prompt", "system prompt", "", ""
    statuses = _find_constants(baseline, current, lambda each: each.status)
    if statuses is not None and statuses[0] != statuses[1]:
        yield "status", "status", *statuses


def _find_constants(
    baseline: Iterable[Behaviour], current: Iterable[Behaviour], read: Callable[[Behaviour], Any]
) -> tuple[Any, Any] | None:
    """What is read of each side, if it is one and the same in all its trials and known."""
    sides = [[read(each) for each in side] for side in (baseline, current)]
    if any(each is None or each != side[0] for side in sides for each in side):
        return None
    return sides[0][0], sides[1][0]


def _compare_calls(baseline: Sequence[Behaviour], current: Sequence[Behaviour], fewest: int) -> Found:
    changing = _find_constants(baseline, current, lambda each: _list_names(each, only_changing=True))
    if changing is None:
        return
    if changing[0] != changing[1]:
        yield "calls", "calls that change something", *_name_sequences(baseline, current, only_changing=True)
        return
    everything = _find_constants(baseline, current, lambda each: _list_names(each, only_changing=False))
    if fewest >= ENOUGH and everything is not None and everything[0] != everything[1]:
        yield "all_calls", "calls", *_name_sequences(baseline, current, only_changing=False)
    yield from _compare_values(baseline, current, only_changing=fewest < ENOUGH)
    if fewest >= ENOUGH and any(call.sources for call in current[0].calls or ()):
        yield from _compare_sources(baseline, current)


def _list_names(trial: Behaviour, *, only_changing: bool) -> list[str] | None:
    if trial.calls is None:
        return None
    return [call.name for call in _list_calls(trial, only_changing=only_changing)]


def _list_calls(trial: Behaviour, *, only_changing: bool) -> list[ComparedCall]:
    return [call for call in trial.calls or () if call.changes or not only_changing]


def _name_sequences(
    baseline: Sequence[Behaviour], current: Sequence[Behaviour], *, only_changing: bool
) -> tuple[str, str]:
    """The calls that all trials of each side make; of a tool that is called more than once, by their arguments."""
    sides = [
        [
            (calls[0].name, _find_common(calls, lambda call: call.values))
            for calls in zip(*(_list_calls(trial, only_changing=only_changing) for trial in side), strict=True)
        ]
        for side in (baseline, current)
    ]
    counts = [Counter(name for name, _ in side) for side in sides]
    repeated = {name for count in counts for name in count if count[name] >= SEVERAL}
    shown = {
        name: _find_different([given for side in sides for each, given in side if each == name]) for name in repeated
    }
    before, now = ([_name_call(*each, shown.get(each[0], ())) for each in side] for side in sides)
    return _join_names(before), _join_names(now)


def _find_different(calls: Sequence[Mapping[str, str]]) -> list[str]:
    """The paths of the first arguments that distinguish the calls, of all if none does."""
    paths = list(dict.fromkeys(path for given in calls for path in given))
    different = [path for path in paths if any(given.get(path) != calls[0].get(path) for given in calls)]
    return (different or paths)[:MOST_ARGUMENTS]


def _name_call(name: str, given: Mapping[str, str], shown: Iterable[str]) -> str:
    arguments = ", ".join(f"{path}: {shorten(given[path], LONGEST_ARGUMENT)}" for path in shown if path in given)
    return f"{name}({arguments})" if arguments else name


def _join_names(names: Sequence[str]) -> str:
    left = len(names) - MOST_NAMES
    return ", ".join([*names[:MOST_NAMES], *([f"{left} more"] if left > 0 else [])]) or "none"


def _compare_values(baseline: Sequence[Behaviour], current: Sequence[Behaviour], *, only_changing: bool) -> Found:
    """Arguments and outcomes of each tool's calls, by their order."""
    sides = [[_index_calls(trial, only_changing=only_changing) for trial in side] for side in (baseline, current)]
    for place in sides[0][0]:
        pair = [[trial.get(place) for trial in side] for side in sides]
        before, now = (_find_common_values(side) for side in pair)
        were_texts, are_texts = _find_other_types(*pair)
        for kind, path in [key for key in before if key in now]:
            first, second = before[kind, path], now[kind, path]
            if kind == "argument" and path in were_texts and _SCALAR.fullmatch(second):
                first = f'"{first}"'
            elif kind == "argument" and path in are_texts and _SCALAR.fullmatch(first):
                second = f'"{second}"'
            if first != second and _WHOLE.sub(r"\1", first) != _WHOLE.sub(r"\1", second):
                yield kind, _name_argument(place, path), first, second
        yield from _compare_arguments(place, *pair)


def _find_other_types(*sides: Sequence[ComparedCall | None]) -> tuple[set[str], set[str]]:
    """The arguments that hold a number, a boolean or null as a text in all calls of one side only, of each side."""
    texts = [[set(call.texts) for call in side if call is not None and call.texts is not None] for side in sides]
    if any(len(known) < len(side) for known, side in zip(texts, sides, strict=True)):
        return set(), set()
    before, now = texts
    return set[str].intersection(*before).difference(*now), set[str].intersection(*now).difference(*before)


def _compare_arguments(
    place: tuple[str, int], before: Sequence[ComparedCall | None], now: Sequence[ComparedCall | None]
) -> Found:
    """Arguments that the call has in all trials of one side and in none of the other, with their value if it is one."""
    sides = [[_list_arguments(call) for call in side] for side in (before, now)]
    first, second = ([each for each in side if each is not None] for side in sides)
    if len(first) < len(before) or len(second) < len(now):
        return
    gone = set[str].intersection(*first).difference(*second)
    come = set[str].intersection(*second).difference(*first)
    for names, calls, is_new in ((gone, before, False), (come, now, True)) if gone or come else ():
        values = {path: value for (kind, path), value in _find_common_values(calls).items() if kind == "argument"}
        for name in sorted(names):
            path = next((each for each in values if _name_head(each) == name), name)
            value = values.get(path, UNSHOWN)
            yield "argument", _name_argument(place, path), *(("", value) if is_new else (value, ""))


def _list_arguments(call: ComparedCall | None) -> set[str] | None:
    """The names of a call's arguments that are not null; None if they, or the call, are not known."""
    if call is None or call.others is None:
        return None
    return {*call.others, *(_name_head(path) for path, value in call.values.items() if value != "null")}


def _name_argument(place: tuple[str, int], path: str) -> str:
    tool, number = place
    return f"{tool}{f' (call {number + 1} of it)' if number else ''}{f'.{path}' if path else ''}"


def _compare_sources(baseline: Sequence[Behaviour], current: Sequence[Behaviour]) -> Found:
    from evalgate.gate.trajectory.call_sources import compare_sources

    sides = [[_index_calls(trial, only_changing=True) for trial in side] for side in (baseline, current)]
    for place in sides[0][0]:  # both sides make the same calls that change something
        before, now = ([trial[place] for trial in side] for side in sides)
        for path, first, second in compare_sources(before, now):
            yield "source", _name_argument(place, path), first, second


def _index_calls(trial: Behaviour, *, only_changing: bool) -> dict[tuple[str, int], ComparedCall]:
    seen: Counter[str] = Counter()
    found = {}
    for call in _list_calls(trial, only_changing=only_changing):
        found[call.name, seen[call.name]] = call
        seen[call.name] += 1
    return found


def _find_common_values(calls: Sequence[ComparedCall | None]) -> dict[tuple[DifferenceKind, str], str]:
    """The arguments and the outcome that a call has in all trials; none if a trial lacks the call."""
    known = [call for call in calls if call is not None]
    if len(known) < len(calls):
        return {}
    return _find_common(known, _list_values)


def _find_common(calls: Iterable[ComparedCall], read: Callable[[ComparedCall], Mapping[Key, str]]) -> dict[Key, str]:
    first, *others = map(read, calls)
    return {key: value for key, value in first.items() if all(row.get(key) == value for row in others)}


def _list_values(call: ComparedCall) -> dict[tuple[DifferenceKind, str], str]:
    values: dict[tuple[DifferenceKind, str], str] = {("argument", path): value for path, value in call.values.items()}
    values |= {("outcome", f"result.{key}"): word for key, word in call.words.items()}
    return values | ({("outcome", ""): call.outcome} if call.outcome else {})


def _compare_left(baseline: Sequence[Behaviour], current: Sequence[Behaviour]) -> Found:
    """What the trials left behind, if all record it."""
    sides = [[each.left for each in side if each.left is not None] for side in (baseline, current)]
    if len(sides[0]) == len(baseline) and len(sides[1]) == len(current):
        from evalgate.gate.trajectory.left_state import compare_left_states

        yield from compare_left_states(*sides)


def _compare_answers(baseline: Sequence[Behaviour], current: Sequence[Behaviour], fewest: int) -> Found:
    """The whole answers if each side always gives the same, else the literals that all trials of a side share.

    Whole answers with the same literals, if there are any, differ only in their wording. Literals of one side alone
    count from three trials on where the same calls changed the same things: answers about something else have others.
    """
    answers = _find_constants(baseline, current, lambda each: each.answer)
    if answers is not None:
        if _read_words(answers[0]) != _read_words(answers[1]):
            literals = [find_literals(each) for each in answers]
            kind: DifferenceKind = "wording" if literals[0] and literals[0] == literals[1] else "answer"
            yield kind, "answer", *excerpt_texts(*answers, LONGEST_SIDE)
        return
    before, now = _list_literals(baseline), _list_literals(current)
    gone = set(before[0]).intersection(*before).difference(*now)
    come = set(now[0]).intersection(*now).difference(*before)
    if (gone and come) or ((gone or come) and fewest >= ENOUGH and _change_the_same(baseline, current)):
        first, second = (before[0][each] for each in gone), (now[0][each] for each in come)
        yield "literals", "answer", _join_literals(first), _join_literals(second)


def _read_words(answer: str) -> list[str]:
    """An answer without Markdown's emphasis, kinds of blanks and cents of whole amounts."""
    return [_CENTS.sub("", each) for each in remove_emphasis(answer).split()]


def _change_the_same(baseline: Sequence[Behaviour], current: Sequence[Behaviour]) -> bool:
    """Whether all trials of both sides make the same calls that change something, in the same order."""
    changing = _find_constants(baseline, current, lambda each: _list_names(each, only_changing=True))
    return changing is not None and changing[0] == changing[1]


def _join_literals(literals: Iterable[str]) -> str:
    return ", ".join(sorted(literals)[:MOST_LITERALS])


def _list_literals(side: Sequence[Behaviour]) -> list[dict[str, str]]:
    """The literals of each answer as they are compared, without cents of whole amounts, and as they are written."""
    return [{_CENTS.sub("", text): text for text in find_literals(each.answer or "")} for each in side]


def find_literals(answer: str) -> set[str]:
    """Numbers, ids, addresses, days and times in an answer, of three characters and more; amounts and shares of any."""
    literals = ((each[0].strip(".:/+-"), each) for each in _LITERAL.finditer(remove_emphasis(answer)))
    return {text for text, found in literals if len(text) >= ENOUGH or _is_amount(text, found)}


def _is_amount(text: str, found: re.Match[str]) -> bool:
    """Whether a sign or code of a currency, or a percent sign, is part of a number or beside it."""
    answer, start = found.string, found.start()
    end = start + len(found[0].rstrip(".:/+-"))
    before = answer[max(0, start - _LONGEST_CODE) : start]
    is_beside = _BEFORE_AMOUNT.search(before) or _AFTER_AMOUNT.match(answer, end)
    return (text.isdigit() and is_beside is not None) or re.search(f"[{CURRENCY_SIGNS}%]", text) is not None


def _find_example(kind: DifferenceKind, before: Behaviour, now: Behaviour) -> TextPair | UnsetType:
    """The answers of two trials, where a difference has only what all answers of a side share."""
    if kind != "literals":
        return UNSET
    shown = excerpt_texts(before.answer or "", now.answer or "", LONGEST_SIDE)
    return TextPair(shown[0] or None, shown[1] or None)
