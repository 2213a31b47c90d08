"""Compares the checks of a scenario: pairs each check of the baseline with what became of it."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from evalgate.gate.weakening.implication import is_kept, losses
from evalgate.gate.weakening.requirements import Requirement, demand_of
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.values.json_values import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.comparison.weakening import WeakeningKind

SHOWN = 120
MOST_COMPARED = 200
"""Checks of a scenario that are compared with one another; the rest only by their text as written."""


class WeakenedCheck(NamedTuple):
    """One way in which a scenario's checks demand less; `current` is the check now, if it still exists."""

    kind: WeakeningKind
    was: Assertion
    now: Assertion | None
    before: str
    after: str | None


class _Check(NamedTuple):
    assertion: Assertion
    demand: Requirement


class _Pair(NamedTuple):
    old: _Check
    new: _Check


def lost_checks(old: Sequence[Assertion], new: Sequence[Assertion]) -> Iterator[WeakenedCheck]:
    """What the current checks demand less than the baseline's, in the order of the baseline."""
    if _all_written(old, new):
        return
    before, now = _checks(old), _checks(new)
    pairs, alone = _paired(before, now)
    for check in before:
        if check in alone:
            if check.demand.counts and not _stands_elsewhere(check, now):
                yield WeakenedCheck("check_removed", check.assertion, None, _said(check), None)
        else:
            yield from _of_pair(next(pair for pair in pairs if pair.old is check))
    yield from _lighter(pairs)


def _all_written(old: Sequence[Assertion], new: Sequence[Assertion]) -> bool:
    """Whether every check is still there unchanged, the common case."""
    return len(old) <= len(new) and all(
        was is now or was.written == now.written for was, now in zip(old, new, strict=False)
    )


def _checks(assertions: Sequence[Assertion]) -> list[_Check]:
    return [_Check(each, demand) for each in assertions if (demand := demand_of(each.written)) is not None]


def _paired(old: Sequence[_Check], new: Sequence[_Check]) -> tuple[list[_Pair], list[_Check]]:
    """Pairs, the most similar first, and the baseline's checks that are left over."""
    pairs, left = list[_Pair](), list(new)
    alone = list(old)
    for likeness in (_is_equal, _is_kept_as_it_was, _has_its_name, _is_near, _is_of_its_type):
        rest = []
        for check in alone:
            mate = next((each for each in left[:MOST_COMPARED] if likeness(check.demand, each.demand)), None)
            if mate is None:
                rest.append(check)
            else:
                left.remove(mate)
                pairs.append(_Pair(check, mate))
        alone = rest
    return pairs, alone


def _is_equal(old: Requirement, new: Requirement) -> bool:
    return old == new


def _is_kept_as_it_was(old: Requirement, new: Requirement) -> bool:
    return is_kept(old, new) and new.required >= old.required and new.weight >= old.weight


def _has_its_name(old: Requirement, new: Requirement) -> bool:
    return old.type == new.type and old.name is not None and old.name == new.name


def _is_near(old: Requirement, new: Requirement) -> bool:
    """The same check with a number or a list changed."""
    return old.type == new.type and all(not loss.is_other for loss in losses(old, new))


def _is_of_its_type(old: Requirement, new: Requirement) -> bool:
    return old.type == new.type


def _stands_elsewhere(check: _Check, now: Sequence[_Check]) -> bool:
    """Whether another check demands the same, so that only a repetition is lost."""
    old = check.demand
    return any(
        is_kept(old, each.demand) and each.demand.required >= old.required and each.demand.counts
        for each in now[:MOST_COMPARED]
    )


def _of_pair(pair: _Pair) -> Iterator[WeakenedCheck]:
    old, new = pair.old.demand, pair.new.demand
    was, now = pair.old.assertion, pair.new.assertion
    if not old.counts:
        return
    found = losses(old, new)
    if any(loss.is_other for loss in found):
        yield WeakenedCheck("check_replaced", was, now, _said(pair.old), _said(pair.new))
    else:
        for loss in found:
            before, after = (f"{loss.field}: {show(value, SHOWN)}" for value in (loss.before, loss.after))
            yield WeakenedCheck("check_loosened", was, now, before, after)
    if old.required and not new.required:
        yield WeakenedCheck("check_optional", was, now, "required: true", "required: false")
    if new.is_skippable and not old.is_skippable:
        yield WeakenedCheck("check_skippable", was, now, "on_missing: fail", "on_missing: skip")


def _lighter(pairs: Sequence[_Pair]) -> Iterator[WeakenedCheck]:
    """Weights that fell, also relative to the other checks: halving all of them is no change."""
    before = fsum(pair.old.demand.weight for pair in pairs)
    now = fsum(pair.new.demand.weight for pair in pairs)
    for pair in pairs:
        old, new = pair.old.demand.weight, pair.new.demand.weight
        if new < old and round(_share(new, now), DIGITS) < round(_share(old, before), DIGITS):
            texts = f"weight: {old:g}", f"weight: {new:g}"
            yield WeakenedCheck("weight_lowered", pair.old.assertion, pair.new.assertion, *texts)


def _share(weight: float, total: float) -> float:
    return weight / total if total else 0.0


def _said(check: _Check) -> str:
    return show(check.assertion.written, SHOWN)
