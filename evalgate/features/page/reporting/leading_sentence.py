"""A sentence about the call that matters most of those that differ, and the same in a few words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.features.page.reporting.leading_call import (
    MOVED,
    find_instead,
    has_turned_bad,
    is_prose,
    list_calls_before,
    makes_no_further_call,
)
from evalgate.measures.text.tool_words import has_effect
from evalgate.measures.values.json_values import shorten
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import clean_page_text
from evalgate.reporting.text.trajectory_lines import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.features.page.reporting.leading_call import SteppedCalls
    from evalgate.models.comparison.trajectory import CallStep

MAX_NAME, MAX_SHORT_NAME, MAX_ARGUMENTS, MAX_VALUE, MAX_CHANGES = 200, 60, 160, 80, 2


def describe_step(calls: SteppedCalls, at: int) -> list[str]:
    """A sentence about one step, every second part of which is code."""
    step = calls.steps[at]
    return _DESCRIBERS.get(step.kind, _describe_outcome)(calls, at)


def _describe_outcome(calls: SteppedCalls, at: int) -> list[str]:
    step = calls.steps[at]
    outcome = step.outcome
    if not outcome:
        return ["The call of ", _clean_name(step), f" differs ({_describe_place(step)})."]
    place = f" ({_describe_place(step)})"
    if has_turned_bad(outcome):
        name = ["The call of ", _clean_name(step)]
        after = _describe_calls_before(calls, at)
        return _join([*name, f"{place} ended with an error"], after, ["; in the baseline it ended ok."])
    sides = [_clean(side or NOTHING) for side in (outcome.baseline, outcome.current)]
    return ["The call of ", _clean_name(step), f"{place} ended otherwise: ", f"{sides[0]} \u2192 {sides[1]}", "."]


def _describe_calls_before(calls: SteppedCalls, at: int) -> list[str]:
    """`, after` the calls that the baseline made later, or nothing."""
    places = list_calls_before(calls.steps, at)
    parts = [""]
    for number, place in enumerate(places[:MAX_CHANGES]):
        step = calls.steps[place]
        parts = _join(parts, [" and " if number else ", after ", _clean_name(step), f" ({_describe_now(step)})"])
    left = len(places) - MAX_CHANGES
    more = f" and {wording.pluralize(left, 'more call')}" if left > 0 else ""
    return _join(parts, [f"{more}, which the baseline called later"]) if places else parts


def _join(*sentences: Sequence[str]) -> list[str]:
    """Parts of sentences as those of one, in which every second part stays code."""
    joined = [""]
    for parts in sentences:
        joined = [*joined[:-1], joined[-1] + parts[0], *parts[1:]]
    return joined


def _describe_now(step: CallStep) -> str:
    return f"call {step.current.call}" if step.current else ""


def _describe_moved(calls: SteppedCalls, at: int) -> list[str]:
    step = calls.steps[at]
    if step.outcome:
        return _describe_outcome(calls, at)
    place = _describe_place(step)
    return ["The order of the calls changed: the agent calls ", _clean_name(step), f" at another place ({place})."]


def _describe_changed(calls: SteppedCalls, at: int) -> list[str]:
    """The call with the first changed values, those that are no prose before others."""
    step = calls.steps[at]
    shown = sorted(step.changes, key=is_prose)[:MAX_CHANGES]
    parts = ["The agent calls ", _clean_name(step), " with other arguments"]
    for number, change in enumerate(shown):
        sides = [shorten(NOTHING if side is None else side, MAX_VALUE) for side in (change.baseline, change.current)]
        path = change.path or "arguments"
        parts = [
            *parts[:-1],
            parts[-1] + (", " if number else ": "),
            _clean(f"{path}: {sides[0]} \u2192 {sides[1]}"),
            "",
        ]
    left = len(step.changes) - len(shown) + step.changes_left
    more = f" and at {wording.pluralize(left, 'more place')}" if left else ""
    outcome = step.outcome
    end = " It ended with an error; in the baseline it ended ok." if outcome and has_turned_bad(outcome) else ""
    return [*parts[:-1], f"{parts[-1]}{more} ({_describe_place(step)}).{end}"]


def _describe_added(calls: SteppedCalls, at: int) -> list[str]:
    step = calls.steps[at]
    failed = ", and it ended with an error" if step.outcome else ""
    others = [each for each in calls.steps if each.name == step.name and each.kind != "added"]
    place = f"({_describe_place(step)})"
    if not others and not calls.left:
        end = f" {place}, which it did not do in the baseline{failed}."
        return ["The agent calls ", _clean_name(step), end]
    if calls.left or any(each.arguments == step.arguments for each in others):
        call = ["A call of ", _clean_name(step), " with ", _clean_arguments(step)]
        return [*call, f" is new {place}{failed}."]
    call = ["The agent calls ", _clean_name(step), " with ", _clean_arguments(step)]
    return [*call, f" {place}, which it did not do in the baseline{failed}."]


def _describe_removed(calls: SteppedCalls, at: int) -> list[str]:
    step = calls.steps[at]
    others = [each for each in calls.steps if each.name == step.name and each.kind != "removed"]
    place = f"({_describe_place(step)})"
    if calls.left or any(each.arguments == step.arguments for each in others):
        return ["A call of ", _clean_name(step), " with ", _clean_arguments(step), f" is missing {place}."]
    parts = ["The agent no longer calls ", _clean_name(step)]
    parts = [*parts, " with ", _clean_arguments(step), f" {place}"] if others else [*parts, f" {place}"]
    if makes_no_further_call(calls.steps, at):
        return [*parts[:-1], f"{parts[-1]} and makes no further call."]
    instead = find_instead(calls, at)
    if instead is None:
        return [*parts[:-1], f"{parts[-1]}."]
    failed = ", which ended with an error" if instead.outcome else ""
    parts = [*parts[:-1], f"{parts[-1]}, but calls ", _clean_name(instead)]
    return [*parts, f" ({_describe_place(instead)}){failed}."]


_DESCRIBERS: dict[str, Callable[[SteppedCalls, int], list[str]]] = {
    "added": _describe_added,
    "removed": _describe_removed,
    "changed": _describe_changed,
    MOVED: _describe_moved,
}


def describe_first(step: CallStep) -> list[str]:
    """The first difference, if another one leads; every second part is code."""
    word = {"added": "is new", "removed": "is missing", "changed": "has other arguments"}.get(step.kind)
    word = word or ("ended otherwise" if step.outcome else "is at another place")
    return ["First difference: ", _clean_name(step), f" {word} ({_describe_place(step)})."]


def name_finding(steps: Sequence[CallStep], at: int) -> str:
    """One step in a few words, for a list."""
    step = steps[at]
    outcome, kind = step.outcome, step.kind
    name = clean_page_text(shorten(step.name, MAX_SHORT_NAME), MAX_NAME)
    if kind in ("added", "removed"):
        is_known = any(each.name == step.name and each.kind != kind for each in steps)
        word = f"{'one call ' if is_known else ''}{'new' if kind == 'added' else 'missing'}"
        return f"{name}: {word}, ended with an error" if outcome and kind == "added" else f"{name}: {word}"
    if outcome and (kind != "changed" or has_turned_bad(outcome)):
        return f"{name}: {_clean(outcome.baseline or NOTHING)} \u2192 {_clean(outcome.current or NOTHING)}"
    return f"{name}: {'other arguments' if kind == 'changed' else 'at another place'}"


def name_other_calls(baseline: Sequence[str], current: Sequence[str]) -> str:
    """What differs between the names of calls, in a few words; empty if nothing does."""
    before, now = Counter(baseline), Counter(current)
    moves = [(name, now[name] - before[name]) for name in dict.fromkeys([*baseline, *current])]
    changed = [move for move in moves if move[1]]
    if not changed:
        return "" if list(baseline) == list(current) else "the order of the calls"
    name, move = min(changed, key=lambda each: not has_effect(each[0]))
    words = ("new", "more calls") if move > 0 else ("missing", "fewer calls")
    return f"{clean_page_text(shorten(name, MAX_SHORT_NAME), MAX_NAME)}: {words[bool(before[name] and now[name])]}"


def _describe_place(step: CallStep) -> str:
    before, now = step.baseline, step.current
    if before and now and step.kind == MOVED:
        return f"call {before.call} of the baseline, now call {now.call}, turn {now.turn}"
    place, side = (now, "") if now else (before, " of the baseline")
    return f"call {place.call}{side}, turn {place.turn}" if place else "at an unknown place"


def _clean_name(step: CallStep) -> str:
    return clean_page_text(step.name, MAX_NAME)


def _clean_arguments(step: CallStep) -> str:
    return _clean(shorten(step.arguments, MAX_ARGUMENTS))


def _clean(text: str) -> str:
    return clean_page_text(text, 2 * MAX_ARGUMENTS + MAX_NAME)
