"""Which of the calls that differ matters most, and a sentence about it: calls that change something before look-ups."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from evalgate.measures.text.tool_words import has_effect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.trajectory import CallStep, TextPair, ValueDifference


MOVED = "moved"
"""The kind of a step that both sides have with equal arguments, at different places."""
FEW_WORDS = 4
"""Words from which a changed value is prose, which an agent seldom writes twice alike."""


class SteppedCalls(NamedTuple):
    """Merged steps, how many more there are that were left out, and whether the scenario is better now."""

    steps: Sequence[CallStep]
    left: int = 0
    is_better: bool = False


def merge_moved_calls(steps: Sequence[CallStep]) -> list[CallStep]:
    """The steps, in which a call that is only made at another place is one step of the kind `moved`."""
    removed: dict[tuple[str, str], list[int]] = {}
    for at, step in enumerate(steps):
        if step.kind == "removed":
            removed.setdefault((step.name, step.arguments), []).append(at)
    merged: dict[int, CallStep] = {}
    dropped: set[int] = set()
    for at, step in enumerate(steps):
        if step.kind == "added" and (places := removed.get((step.name, step.arguments))):
            source = next((place for place in places if steps[place].baseline == step.baseline), places[0])
            places.remove(source)
            dropped.add(source)
            merged[at] = replace(step, kind=MOVED, baseline=steps[source].baseline)
    return [merged.get(at, step) for at, step in enumerate(steps) if at not in dropped]


def is_different(step: CallStep) -> bool:
    """Whether the call, its place or its outcome differs."""
    return step.kind != "same" or bool(step.outcome)


def find_leading_step(steps: Sequence[CallStep], *, is_better: bool = False) -> int | None:
    """The position of the difference that matters most, the first one of equal ones; None if no call differs.

    Of a scenario that is better now, a call that failed before the agent made it without an error comes last.
    """
    found = [at for at, step in enumerate(steps) if is_different(step)]
    return min(
        found,
        key=lambda at: (
            is_better and is_repeated(steps, at),
            not has_effect(steps[at].name),
            _weigh(steps[at]),
            at,
        ),
        default=None,
    )


def is_repeated(steps: Sequence[CallStep], at: int) -> bool:
    """Whether a new call ended with an error, and a later one of the same tool did not."""
    step = steps[at]
    is_failed = step.kind == "added" and bool(step.outcome)
    return is_failed and any(each.name == step.name and _is_ok(each) for each in steps[at + 1 :])


def _is_ok(step: CallStep) -> bool:
    """Whether this run's call is known to have ended without an error."""
    outcome = step.outcome
    return outcome.current == "ok" if outcome else step.kind == "added"


def list_calls_before(steps: Sequence[CallStep], at: int) -> list[int]:
    """The positions of calls with an effect that come before a moved one whose outcome changed, and came after it."""
    step = steps[at]
    if step.kind != MOVED or not step.outcome:
        return []
    return [
        place
        for place, each in enumerate(steps)
        if each.kind in ("same", MOVED) and has_effect(each.name) and _is_overtaken(step, each)
    ]


def _is_overtaken(step: CallStep, other: CallStep) -> bool:
    """Whether the other call comes before this one now, and came after it in the baseline."""
    if not (step.baseline and step.current and other.baseline and other.current):
        return False
    return other.current.call < step.current.call and other.baseline.call > step.baseline.call


def rank_leading_step(step: CallStep, *, is_unanswered: bool = False) -> int:
    """How plainly the difference that leads shows a fault, 0 for the plainest.

    A call with an effect and other arguments that did not begin to fail, one that fails now, a missing one, a missing
    one if the recording ends with a message that the agent did not answer, any other difference.
    """
    if not has_effect(step.name):
        return OTHER_RANK
    ranks = {OTHER_ARGUMENTS: 0, FAILS_NOW: 1}
    if step.kind == "removed":
        ranks[MADE_BY_ONE] = 3 if is_unanswered else 2
    return ranks.get(_weigh(step), OTHER_RANK)


OTHER_RANK = 4


def _weigh(step: CallStep) -> int:
    """The less, the more it matters."""
    kind, outcome = step.kind, step.outcome
    if outcome and has_turned_bad(outcome):
        return FAILS_NOW
    if kind == "changed":
        return MATTERS_LESS if all(map(is_prose, step.changes)) else OTHER_ARGUMENTS
    if kind in ("removed", "added"):
        return MATTERS_LESS if outcome else MADE_BY_ONE
    return MADE_BY_ONE if outcome else OTHER_PLACE


FAILS_NOW, OTHER_ARGUMENTS, MADE_BY_ONE, MATTERS_LESS, OTHER_PLACE = range(5)


def has_turned_bad(outcome: TextPair) -> bool:
    """Whether the call ended ok in the baseline, and with an error now."""
    return outcome.baseline == "ok" and outcome.current == "error"


def is_prose(change: ValueDifference) -> bool:
    """Whether a changed value is text of several words on both sides."""
    return all(side is None or len(side.split()) >= FEW_WORDS for side in (change.baseline, change.current))


def makes_no_further_call(steps: Sequence[CallStep], at: int) -> bool:
    """Whether this call and all later ones are missing."""
    return all(step.kind == "removed" for step in steps[at:])


def find_instead(calls: SteppedCalls, at: int) -> CallStep | None:
    """The new call in the place of a missing one, the first of those before the next call that both sides make.

    Of a scenario that is better now, no call that failed before the agent made it without an error.
    """
    near = list(takewhile(lambda place: calls.steps[place].kind in _ONE_SIDED, range(at, len(calls.steps))))
    added = [place for place in near if calls.steps[place].kind == "added"]
    added = [place for place in added if not (calls.is_better and is_repeated(calls.steps, place))]
    found = min(added, key=lambda place: not has_effect(calls.steps[place].name), default=None)
    return None if found is None else calls.steps[found]


_ONE_SIDED = ("removed", "added", MOVED)
