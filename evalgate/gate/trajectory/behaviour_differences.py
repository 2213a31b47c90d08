"""Differences of behaviour between two sides of a scenario, also where its verdict stays the same.

A difference is only what is one and the same in all trials of each side, but for a call that was never made before, so
that chance rarely makes one: benchmarks/behaviour_noise.py measures how often.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from evalgate.gate.trajectory.answers import compare_answers, quote_answers
from evalgate.gate.trajectory.behaviour import SCALAR, split_path
from evalgate.measures.sequences.trajectory_metrics import OrderedCall, order_alike, order_like
from evalgate.measures.text.tool_words import is_of_conversation
from evalgate.measures.values.json_values import shorten
from evalgate.models.comparison.behaviour import Behaviour, BehaviourDifference, CallMaker, ComparedCall
from evalgate.models.trace.actors import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalgate.models.comparison.behaviour import DifferenceKind, FoundDifference, UnaskedArgument
    from evalgate.models.comparison.comparison import AgentChange

    Trials = Sequence[Behaviour]
    Calls = Sequence[ComparedCall | None]
    """One call in the trials of a side; None in one that does not make it."""
    Values = dict[tuple[DifferenceKind, str], str]
    Found = Iterator[FoundDifference]

Key = TypeVar("Key")
SEVERAL, ENOUGH = 2, 3
"""Trials of a side from which answers are compared, and from which calls are that change nothing."""
MOST_NAMES, MOST_DIFFERENCES = 12, 20
MOST_ARGUMENTS, LONGEST_ARGUMENT = 2, 40
"""Arguments that distinguish calls of one tool, and characters of one."""
UNSHOWN = "\u2026"
"""Stands for the value of an argument that is not one and the same, or too long."""
CALENDAR = "the calendar"
"""The source of a date: where the date itself differs, both dates are shown and the source is not."""
_WHOLE = re.compile(r"\A(-?\d+)\.0\Z")
"""A whole number as some write it in JSON."""


def find_differences(
    baseline: Trials,
    current: Trials,
    agent: AgentChange | None,
    *,
    passes: bool,
    unasked: Sequence[UnaskedArgument] = (),
) -> list[BehaviourDifference]:
    """The differences between the trials of a scenario; `unasked` are those of the baseline's arguments.

    With one trial on a side, calls, arguments and states are compared only if the scenario `passes` on both, and
    answers not. Literals of one side's answers alone count from three trials on where the same calls changed the same
    things: answers about something else have others.
    """
    fewest = min(len(baseline), len(current))
    if not fewest:
        return []
    baseline, current = _order_trials(baseline, current)
    found = [*_compare_ends(baseline, current, agent)]
    if fewest >= SEVERAL:
        found += _compare_calls(baseline, current, fewest)
        found += _compare_some_calls(baseline, current) if passes else ()
    elif passes:
        sides = [list(map(_leave_out_chance, side)) for side in (baseline, current)]
        found += _compare_calls(sides[0], sides[1], fewest)
    if fewest >= SEVERAL or passes:
        found += _compare_left(baseline, current)
    if fewest >= SEVERAL:
        counts_one_side = fewest >= ENOUGH and _change_the_same(baseline, current)
        found += compare_answers(baseline, current, counts_one_side=counts_one_side)
    return [_complete(each, baseline, current, unasked) for each in found[:MOST_DIFFERENCES]]


def _complete(
    found: FoundDifference, baseline: Trials, current: Trials, unasked: Sequence[UnaskedArgument]
) -> BehaviourDifference:
    """The difference with its trials, an example where it has only what answers share, and what was asked for."""
    example = quote_answers(baseline[0].answer, current[0].answer) if found[0] == "literals" else UNSET
    difference = BehaviourDifference(*found, len(baseline), len(current), example)
    if found[0] != "argument":
        return difference
    from evalgate.gate.trajectory.unasked_arguments import find_asked  # few scenarios differ in one

    return replace(difference, asked=find_asked(found, current, unasked))


def _order_trials(baseline: Trials, current: Trials) -> tuple[Trials, Trials]:
    """The trials, of which calls of one message, which have no order, are in that of the same calls in the first."""
    first, now = order_alike(*_list_alike(baseline[0], current[0]))
    return _order_like(baseline, first), _order_like(current, now)


def _list_alike(before: Behaviour, now: Behaviour) -> list[list[OrderedCall]]:
    """The calls of a trial of each side, with days instead of dates unless both have the same dates."""
    dates = [{call.values[path] for call in each.calls or () for path in call.days} for each in (before, now)]
    return [_list_ordered(each, by_day=dates[0] != dates[1]) for each in (before, now)]


def _order_like(trials: Trials, order: Sequence[int]) -> Trials:
    first = _reorder(trials[0], order)
    known = _list_ordered(first)
    return [first, *(_reorder(each, order_like(known, _list_ordered(each))) for each in trials[1:])]


def _reorder(trial: Behaviour, order: Sequence[int]) -> Behaviour:
    return trial if trial.calls is None else replace(trial, calls=[trial.calls[at] for at in order])


def _list_ordered(trial: Behaviour, *, by_day: bool = False) -> list[OrderedCall]:
    calls = trial.calls or ()
    return [OrderedCall(call.step, call.name, call.values | call.days if by_day else call.values) for call in calls]


def _leave_out_chance(trial: Behaviour) -> Behaviour:
    calls = None if trial.calls is None else [call for call in trial.calls if not is_of_conversation(call.name)]
    return replace(trial, calls=calls)


def _compare_ends(baseline: Trials, current: Trials, agent: AgentChange | None) -> Found:
    if agent is not None and agent.models is not None:
        before, _, now = agent.models.partition(" -> ")
        yield "model", "model", before, now
    else:
        yield from _compare_models(baseline, current)
    for name, before, now in agent.asked if agent is not None else ():
        yield "asked", name, before, now
    if agent is not None and agent.tools:  # which a framework may write into the prompt: one line for both
        yield "tools", f"tool definitions{' and system prompt' if agent.prompts else ''}", *agent.tool_sides
    elif agent is not None and agent.prompts:
        yield "prompt", "system prompt", "", ""
    if any(each.others for each in (*baseline, *current)):
        from evalgate.gate.trajectory.call_origins import compare_other_agents  # few recordings have any

        yield from compare_other_agents(baseline, current)
    statuses = _find_constants(baseline, current, lambda each: each.status)
    if statuses is not None and statuses[0] != statuses[1]:
        yield "status", "status", *statuses


def _compare_models(baseline: Trials, current: Trials) -> Found:
    """The models of all agents, if the trials of each side use the same ones; one that is gone needs more trials."""
    models, fewest = _find_constants(baseline, current, lambda each: each.models), min(len(baseline), len(current))
    if models is None or models[0] == models[1] or fewest < SEVERAL:
        return
    if fewest >= ENOUGH or not {*models[1]} <= {*models[0]}:
        yield "model", "model", _join_names(models[0]), _join_names(models[1])


def _find_constants(
    baseline: Iterable[Behaviour], current: Iterable[Behaviour], read: Callable[[Behaviour], Any]
) -> tuple[Any, Any] | None:
    """What is read of each side, if it is one and the same in all its trials and known."""
    sides = [[read(each) for each in side] for side in (baseline, current)]
    if any(each is None or each != side[0] for side in sides for each in side):
        return None
    return sides[0][0], sides[1][0]


def _compare_calls(baseline: Trials, current: Trials, fewest: int) -> Found:
    changing = _find_constants(baseline, current, _list_changing)
    if changing is None:
        return
    if changing[0] != changing[1]:
        yield "calls", "calls that change something", *_name_sequences(baseline, current, only_changing=True)
        return
    yield from _compare_makers(baseline, current)
    everything = _find_constants(baseline, current, lambda each: _list_names(each, only_changing=False))
    if fewest >= ENOUGH and everything is not None and everything[0] != everything[1]:
        yield "all_calls", "calls", *_name_sequences(baseline, current, only_changing=False)
    found = [*_compare_each(baseline, current, _compare_call, only_changing=fewest < ENOUGH)]
    yield from found
    if fewest >= ENOUGH and any(call.sources for call in current[0].calls or ()):
        from evalgate.gate.trajectory.call_origins import compare_sources

        named = {what for _, what, *_ in found}
        sources = _compare_each(baseline, current, compare_sources, only_changing=True)
        yield from (each for each in sources if each[1] not in named or CALENDAR not in f"{each[2]}, {each[3]}")


def _compare_some_calls(baseline: Trials, current: Trials) -> Found:
    """Tools that change something and that only one side calls, where its trials do not all make the same calls.

    Of a tool that all trials of a side call, two are enough. One that only some call now may have been missed before by
    chance: the baseline must have three trials, and as many as this run or half of the trials call it.
    """
    sides = _count_tools(baseline), _count_tools(current)
    if sides[0] is None or sides[1] is None or _find_constants(baseline, current, _list_changing) is not None:
        return
    before, now = len(baseline), len(current)
    for tool, count in sides[1].items():
        is_enough = before >= ENOUGH and count >= SEVERAL and (before >= now or 2 * count >= now)
        if tool not in sides[0] and (count == now or is_enough):
            yield "some_calls", tool, f"0 of {before}", f"{count} of {now}"
    for tool, count in sides[0].items():
        if tool not in sides[1] and count == before:
            yield "some_calls", tool, f"{count} of {before}", f"0 of {now}"


def _count_tools(trials: Trials) -> Counter[str] | None:
    """In how many trials each tool is called that changes something; None if calls of a trial are not known."""
    known = [trial.calls for trial in trials if trial.calls is not None]
    if len(known) < len(trials):
        return None
    acts = ([call.name for call in calls if call.changes and not is_of_conversation(call.name)] for calls in known)
    return Counter(name for names in acts for name in dict.fromkeys(names))


def _list_changing(trial: Behaviour) -> list[str] | None:
    return _list_names(trial, only_changing=True)


def _compare_makers(baseline: Trials, current: Trials) -> Found:
    """Who makes the calls that change something, if any other agent than an unnamed main one does."""
    makers = [call.maker for side in (baseline, current) for call in side[0].calls or () if call.maker is not None]
    if any(each != CallMaker(ROOT) for each in makers):
        from evalgate.gate.trajectory.call_origins import compare_makers  # few runs have several agents

        yield from compare_makers(baseline, current)


def _list_names(trial: Behaviour, *, only_changing: bool) -> list[str] | None:
    if trial.calls is None:
        return None
    return [call.name for call in _list_calls(trial, only_changing=only_changing)]


def _list_calls(trial: Behaviour, *, only_changing: bool) -> list[ComparedCall]:
    return [call for call in trial.calls or () if call.changes or not only_changing]


def _name_sequences(baseline: Trials, current: Trials, *, only_changing: bool) -> tuple[str, str]:
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


def _find_common(calls: Iterable[ComparedCall], read: Callable[[ComparedCall], Mapping[Key, str]]) -> dict[Key, str]:
    """What is read of a call, as far as it is the same in all trials."""
    first, *others = map(read, calls)
    return {key: value for key, value in first.items() if all(row.get(key) == value for row in others)}


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


def _compare_each(
    baseline: Trials, current: Trials, compare: Callable[[Calls, Calls], Found], *, only_changing: bool
) -> Found:
    """What `compare` finds between the calls of each tool, by their order, with the call in its place."""
    sides = [[_index_calls(trial, only_changing=only_changing) for trial in side] for side in (baseline, current)]
    for place in sides[0][0]:
        before, now = ([trial.get(place) for trial in side] for side in sides)
        for kind, path, first, second in compare(before, now):
            yield kind, _name_argument(place, path), first, second


def _index_calls(trial: Behaviour, *, only_changing: bool) -> dict[tuple[str, int], ComparedCall]:
    seen: Counter[str] = Counter()
    found = {}
    for call in _list_calls(trial, only_changing=only_changing):
        found[call.name, seen[call.name]] = call
        seen[call.name] += 1
    return found


def _name_argument(place: tuple[str, int], path: str) -> str:
    tool, number = place
    return f"{tool}{f' (call {number + 1} of it)' if number else ''}{f'.{path}' if path else ''}"


def _compare_call(before: Calls, now: Calls) -> Found:
    """The arguments and outcomes that both sides have, then the arguments that only one side has."""
    values = _find_common_values(before), _find_common_values(now)
    were_texts, are_texts = _find_one_sided(before, now, lambda call: call.texts)
    for kind, path in [key for key in values[0] if key in values[1]]:
        first, second = (side[kind, path] for side in values)
        if kind == "argument" and path in were_texts and SCALAR.fullmatch(second):
            first = f'"{first}"'
        elif kind == "argument" and path in are_texts and SCALAR.fullmatch(first):
            second = f'"{second}"'
        is_same = first == second or _WHOLE.sub(r"\1", first) == _WHOLE.sub(r"\1", second)
        if not is_same and not (kind == "argument" and _share_day(before, now, path)):
            yield kind, path, first, second
    yield from _compare_addresses(before, now)
    gone, come = _find_one_sided(before, now, _list_arguments)
    for path, value in _show_arguments(gone, values[0]):
        yield "argument", path, value, ""
    for path, value in _show_arguments(come, values[1]):
        yield "argument", path, "", value


def _compare_addresses(before: Calls, now: Calls) -> Found:
    """Addresses in all results that are new, and none that the call was given, with those that are gone.

    Of single results they may be ids of messages.
    """
    gone, come = _find_one_sided(before, now, lambda call: call.addresses)
    given = {value.lower() for call in now if call is not None for value in call.values.values()}
    if come - given and min(len(before), len(now)) >= SEVERAL:
        yield "outcome", "result", ", ".join(sorted(gone)), ", ".join(sorted(come - given))


def _find_common_values(calls: Calls) -> Values:
    """The arguments and the outcome that a call has in all trials; none if a trial lacks the call."""
    known = [call for call in calls if call is not None]
    if len(known) < len(calls):
        return {}
    days = _find_common(known, lambda call: call.days)
    return {("argument", path): known[0].values[path] for path in days} | _find_common(known, _list_values)


def _share_day(before: Calls, now: Calls, path: str) -> bool:
    """Whether some call of both sides has the same argument when its dates are counted from the day of the run."""
    sides = [{call.days.get(path) for call in side if call is not None} - {None} for side in (before, now)]
    return not sides[0].isdisjoint(sides[1])


def _list_values(call: ComparedCall) -> Values:
    values: Values = {("argument", path): value for path, value in call.values.items()}
    values |= {("outcome", f"result.{key}"): word for key, word in call.words.items()}
    return values | ({("outcome", ""): call.outcome} if call.outcome else {})


def _find_one_sided(
    before: Calls, now: Calls, read: Callable[[ComparedCall], Iterable[str] | None]
) -> tuple[set[str], set[str]]:
    """What all calls of one side have and none of the other, of each side; nothing if it is not known of all."""
    sides = [[None if call is None else read(call) for call in side] for side in (before, now)]
    first, second = ([set(each) for each in side if each is not None] for side in sides)
    if len(first) < len(before) or len(second) < len(now):
        return set(), set()
    return set[str].intersection(*first).difference(*second), set[str].intersection(*second).difference(*first)


def _list_arguments(call: ComparedCall) -> set[str] | None:
    """The names of a call's arguments that are not null; None if they are not known."""
    if call.others is None:
        return None
    return {*call.others, *(split_path(path, 1)[0] for path, value in call.values.items() if value != "null")}


def _show_arguments(names: Iterable[str], values: Values) -> Iterator[tuple[str, str]]:
    """The path and the value of each argument, if it has one that is the same in all trials."""
    for name in sorted(names):
        path = next((path for kind, path in values if kind == "argument" and split_path(path, 1)[0] == name), name)
        yield path, values.get(("argument", path), UNSHOWN)


def _compare_left(baseline: Trials, current: Trials) -> Found:
    """What the trials left behind, if all record it."""
    sides = [[each.left for each in side if each.left is not None] for side in (baseline, current)]
    if len(sides[0]) == len(baseline) and len(sides[1]) == len(current):
        from evalgate.gate.trajectory.left_state import compare_left_states

        yield from compare_left_states(*sides)


def _change_the_same(baseline: Trials, current: Trials) -> bool:
    """Whether all trials of both sides make the same calls that change something, in the same order."""
    changing = _find_constants(baseline, current, _list_changing)
    return changing is not None and changing[0] == changing[1]
