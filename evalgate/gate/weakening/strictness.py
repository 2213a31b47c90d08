"""Whether one demand on a value implies another: what passes `stronger` then also passes `weaker`.

None is the absence of the demand. If the answer is uncertain it is no.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.operators import build_value_check, resolve_alias
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.patterns import PatternFailedError
from evalgate.measures.values.json_values import json_equal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.evaluators.core.evaluator import Order

Implies = Callable[[Any, Any], bool]
"""(weaker, stronger): whether what passes the stronger demand passes the weaker one."""

MAX_COMPARED = 1_000
"""Members of lists that are compared with one another."""

ORDERS: dict[Order, Implies] = {
    "at_most": lambda weaker, stronger: weaker is None or (stronger is not None and stronger <= weaker),
    "at_least": lambda weaker, stronger: weaker is None or (stronger is not None and stronger >= weaker),
    "unordered": json_equal,
    "equal_if_given": lambda weaker, stronger: weaker is None or json_equal(weaker, stronger),
    "part": lambda weaker, stronger: weaker is None or (stronger is not None and weaker in stronger),
    "part_in_any_case": lambda weaker, stronger: weaker.casefold() in stronger.casefold(),
    "beginning": lambda weaker, stronger: stronger.startswith(weaker),
    "end": lambda weaker, stronger: stronger.endswith(weaker),
    "all_parts": lambda weaker, stronger: all(
        any(text in each for each in _compared_members(stronger)) for text in _compared_members(weaker)
    ),
    "any_part": lambda weaker, stronger: all(
        any(text in each for text in _compared_members(weaker)) for each in _compared_members(stronger)
    ),
    "forbidden": lambda weaker, stronger: (
        not weaker or (stronger is not None and all(_is_covered(each, stronger) for each in _compared_members(weaker)))
    ),
    "allowed": lambda weaker, stronger: (
        weaker is None
        or (stronger is not None and all(_is_covered(each, weaker) for each in _compared_members(stronger)))
    ),
    "forbidden_paths": lambda weaker, stronger: set(weaker or ()) <= set(stronger or ()),
    "allowed_paths": lambda weaker, stronger: weaker is None or (stronger is not None and {*stronger} <= {*weaker}),
    "same_or_forbidden": lambda weaker, stronger: (
        weaker == stronger
        if isinstance(weaker, str) or isinstance(stronger, str)
        else ORDERS["forbidden"](weaker, stronger)
    ),
    "excepted": lambda weaker, stronger: (
        not stronger or all(_is_covered(each, weaker or ()) for each in _compared_members(stronger))
    ),
}
"""What the orders mean that evaluators declare for their fields."""


def _is_covered(pattern: str, globs: Sequence[str]) -> bool:
    return any(each == pattern or matches_id(each, pattern) for each in _compared_members(globs))


def _compared_members(values: Sequence[Any]) -> Sequence[Any]:
    return values[:MAX_COMPARED]


def is_subsequence(whole: Sequence[Any], part: Sequence[Any]) -> bool:
    """Whether `part` is `whole` with some members left out, in the same order."""
    rest = iter(whole)
    return all(any(json_equal(member, each) for each in rest) for member in part)


def contains_bag(whole: Sequence[Any], part: Sequence[Any]) -> bool:
    """Whether `whole` contains each member of `part`, at least as often."""
    remaining = list(_compared_members(whole))
    for member in _compared_members(part):
        position = next((index for index, each in enumerate(remaining) if json_equal(each, member)), None)
        if position is None:
            return False
        del remaining[position]
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


def implies_relation(weaker: Relation, stronger: Relation) -> bool:
    """Operators of queries and of steps' output."""
    if weaker.operator == stronger.operator and json_equal(weaker.value, stronger.value):
        return True
    if weaker == Relation("exists", True):
        return stronger.operator != "exists"
    if stronger.operator in ("eq", "in"):
        members = [stronger.value] if stronger.operator == "eq" else stronger.value
        return bool(members) and all(_is_satisfied(weaker, member) for member in _compared_members(members))
    if weaker.operator in ("ne", "not_in") and stronger.operator in ("ne", "not_in"):
        return all(
            any(json_equal(each, other) for other in _excluded_values(stronger))
            for each in _compared_members(_excluded_values(weaker))
        )
    are_texts = (isinstance(weaker.value, str), isinstance(stronger.value, str))
    if weaker.operator == stronger.operator == "contains" and all(are_texts):
        return weaker.value in stronger.value
    ranges = [
        _length_range(each.value) if each.operator == "length" else _relation_range(each) for each in (weaker, stronger)
    ]
    return (weaker.operator == "length") == (stronger.operator == "length") and _is_within(*ranges)


def _excluded_values(each: Relation) -> list[Any]:
    return [each.value] if each.operator == "ne" else list(each.value)


def _is_satisfied(weaker: Relation, value: Any) -> bool:
    """Whether a value that the stronger demand names meets the weaker one."""
    if value is None:
        return False
    try:
        return build_value_check(weaker.operator, weaker.value)(value) is None
    except (FieldProblemError, PatternFailedError):
        return False


def _relation_range(each: Relation) -> _Range | None:
    value = each.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    range_builders: dict[str, Callable[[], _Range]] = {
        "gt": lambda: _Range(low=value, low_open=True),
        "gte": lambda: _Range(low=value),
        "lt": lambda: _Range(high=value, high_open=True),
        "lte": lambda: _Range(high=value),
        "eq": lambda: _Range(low=value, high=value),
    }
    return range_builders[each.operator]() if each.operator in range_builders else None


def _length_range(value: Any) -> _Range | None:
    """Bounds of a length as one range; None if `ne` is among them."""
    bounds = value.items() if isinstance(value, dict) else [("eq", value)]
    whole = _Range()
    for name, limit in bounds:
        part = _relation_range(Relation(resolve_alias(name), limit))
        if part is None:
            return None
        low, low_open = max((whole.low, whole.low_open), (part.low, part.low_open))
        high, is_closed = min((whole.high, not whole.high_open), (part.high, not part.high_open))
        whole = _Range(low, low_open, high, not is_closed)
    return whole


def _is_within(weaker: _Range | None, stronger: _Range | None) -> bool:
    if weaker is None or stronger is None:
        return False
    return (stronger.low, stronger.low_open) >= (weaker.low, weaker.low_open) and (
        stronger.high,
        not stronger.high_open,
    ) <= (weaker.high, not weaker.high_open)
