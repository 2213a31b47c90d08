"""Whether one demand on a value implies another: what passes `stronger` then also passes `weaker`.

None is the absence of the demand. If the answer is uncertain it is no.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.operators import canonical, judge_for
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.patterns import PatternFailedError
from evalgate.measures.values.json_values import equal

if TYPE_CHECKING:
    from collections.abc import Sequence

Implies = Callable[[Any, Any], bool]
"""(weaker, stronger): whether what passes the stronger demand passes the weaker one."""

LONGEST = 1_000
"""Members of lists that are compared with one another."""


def at_most(old: float | None, new: float | None) -> bool:
    """Upper limits."""
    return old is None or (new is not None and new <= old)


def at_least(old: float | None, new: float | None) -> bool:
    """Lower limits."""
    return old is None or (new is not None and new >= old)


def same(old: Any, new: Any) -> bool:
    """Demands without an order."""
    return equal(old, new)


def or_nothing(old: Any, new: Any) -> bool:
    """Demands without an order, of which None demands nothing."""
    return old is None or equal(old, new)


def found_in(old: str | None, new: str | None) -> bool:
    """Texts that must be contained."""
    return old is None or (new is not None and old in new)


def found_in_any_case(old: str, new: str) -> bool:
    """Texts that must be contained, ignoring case."""
    return old.casefold() in new.casefold()


def at_the_start(old: str, new: str) -> bool:
    """Required prefixes."""
    return new.startswith(old)


def at_the_end(old: str, new: str) -> bool:
    """Required suffixes."""
    return new.endswith(old)


def all_found(old: Sequence[str], new: Sequence[str]) -> bool:
    """Texts that must all be contained."""
    return all(any(text in each for each in _first(new)) for text in _first(old))


def any_found(old: Sequence[str], new: Sequence[str]) -> bool:
    """Texts, one of which must be contained."""
    return all(any(text in each for text in _first(old)) for each in _first(new))


def forbidden(old: Sequence[str] | None, new: Sequence[str] | None) -> bool:
    """Globs that nothing may match."""
    return not old or (new is not None and all(_covered(each, new) for each in _first(old)))


def allowed(old: Sequence[str] | None, new: Sequence[str] | None) -> bool:
    """Globs, one of which everything must match."""
    return old is None or (new is not None and all(_covered(each, old) for each in _first(new)))


def _covered(pattern: str, by: Sequence[str]) -> bool:
    return any(each == pattern or matches_id(each, pattern) for each in _first(by))


def _first(values: Sequence[Any]) -> Sequence[Any]:
    """The members that are compared; a longer list is judged by these."""
    return values[:LONGEST]


def subsequence(whole: Sequence[Any], part: Sequence[Any]) -> bool:
    """Whether `part` is `whole` with some members left out, in the same order."""
    rest = iter(whole)
    return all(any(equal(member, each) for each in rest) for member in part)


def bag_within(whole: Sequence[Any], part: Sequence[Any]) -> bool:
    """Whether `whole` contains each member of `part`, at least as often."""
    left = list(_first(whole))
    for member in _first(part):
        place = next((index for index, each in enumerate(left) if equal(each, member)), None)
        if place is None:
            return False
        del left[place]
    return True


class Relation(NamedTuple):
    """An operator and the value that it compares with."""

    operator: str
    value: Any


class _Range(NamedTuple):
    low: float = -math.inf
    low_open: bool = False
    high: float = math.inf
    high_open: bool = False


def relation(old: Relation, new: Relation) -> bool:
    """Operators of queries and of steps' output."""
    if old.operator == new.operator and equal(old.value, new.value):
        return True
    if old == Relation("exists", True):
        return new.operator != "exists"
    if new.operator in ("eq", "in"):
        members = [new.value] if new.operator == "eq" else new.value
        return bool(members) and all(_fits(old, member) for member in _first(members))
    if old.operator in ("ne", "not_in") and new.operator in ("ne", "not_in"):
        return all(any(equal(each, other) for other in _barred(new)) for each in _first(_barred(old)))
    both = (isinstance(old.value, str), isinstance(new.value, str))
    if old.operator == new.operator == "contains" and all(both):
        return old.value in new.value
    sides = [_lengths(each.value) if each.operator == "length" else _range(each) for each in (old, new)]
    return (old.operator == "length") == (new.operator == "length") and _within(*sides)


def _barred(each: Relation) -> list[Any]:
    return [each.value] if each.operator == "ne" else list(each.value)


def _fits(old: Relation, value: Any) -> bool:
    """Whether a value that the stronger demand names meets the weaker one."""
    if value is None:
        return False
    try:
        return judge_for(old.operator, old.value)(value) is None
    except (FieldProblemError, PatternFailedError):
        return False


def _range(each: Relation) -> _Range | None:
    value = each.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    made: dict[str, Callable[[], _Range]] = {
        "gt": lambda: _Range(low=value, low_open=True),
        "gte": lambda: _Range(low=value),
        "lt": lambda: _Range(high=value, high_open=True),
        "lte": lambda: _Range(high=value),
        "eq": lambda: _Range(low=value, high=value),
    }
    return made[each.operator]() if each.operator in made else None


def _lengths(value: Any) -> _Range | None:
    """Bounds of a length as one range; None if `ne` is among them."""
    bounds = value.items() if isinstance(value, dict) else [("eq", value)]
    whole = _Range()
    for name, limit in bounds:
        part = _range(Relation(canonical(name), limit))
        if part is None:
            return None
        low, low_open = max((whole.low, whole.low_open), (part.low, part.low_open))
        high, negated = min((whole.high, not whole.high_open), (part.high, not part.high_open))
        whole = _Range(low, low_open, high, not negated)
    return whole


def _within(old: _Range | None, new: _Range | None) -> bool:
    if old is None or new is None:
        return False
    return (new.low, new.low_open) >= (old.low, old.low_open) and (new.high, not new.high_open) <= (
        old.high,
        not old.high_open,
    )
