"""Lookups of calls by arguments, which rule out only calls that can't match, without comparing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.sequences.repeats import json_key
from evalgate.measures.text.required_text import find_required_text

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

MAX_DEPTH = 32
"""Levels of lists and objects in the arguments that a suite demands."""
DEFAULT_TOLERANCE = 1e-6


class Lookup(NamedTuple):
    """What an argument must be: one of the values with `keys`, text with `part`, or in a range."""

    name: str
    keys: Sequence[Hashable] = ()
    part: str = ""
    low: float = 0.0
    high: float = 0.0


def build_lookups(args: Mapping[str, Any]) -> list[Lookup]:
    """Builds the lookups of the arguments; those that search every text come last."""
    found = [_build_lookup(name, value) for name, value in args.items()]
    return sorted((lookup for lookup in found if lookup is not None), key=lambda lookup: lookup.part != "")


def _build_lookup(name: str, value: Any) -> Lookup | None:
    if isinstance(value, dict) and "$approx" in value:
        return _build_range(name, value["$approx"], value.get("$tol", DEFAULT_TOLERANCE))
    if isinstance(value, dict) and "$regex" in value:
        part = find_required_text(value["$regex"])
        return Lookup(name, part=part) if part else None
    members = value["$in"] if isinstance(value, dict) and "$in" in value else [value]
    return Lookup(name, list(map(json_key, members))) if all(map(is_plain, members)) else None


def _build_range(name: str, centre: float, tolerance: float) -> Lookup | None:
    try:
        centre, tolerance = float(centre), float(tolerance)
    except OverflowError:
        return None
    reach = tolerance + 1e-8 + 1e-12 * (abs(centre) + tolerance)  # more than rounding errors
    return Lookup(name, low=centre - reach, high=centre + reach)


def is_plain(value: Any) -> bool:
    """Returns whether the value contains no matcher, so that only equal values match."""
    if not isinstance(value, dict | list):
        return True
    if isinstance(value, dict) and any(str(name).startswith("$") for name in value):
        return False
    return all(map(is_plain, value.values() if isinstance(value, dict) else value))
