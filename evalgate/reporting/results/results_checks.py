"""Checks values against the fields of `evalgate.results/1`; errors name the field's path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.reporting.results import results_fields as fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalgate.reporting.results.results_fields import Shape, Types

LARGEST_AMOUNT = 1e15
LARGEST_SUM = 1e24
MOST_DAYS = 4_000_000

Place = tuple[Any, ...]
MOST_KINDS = 200
"""Most valid combinations of fields and types that are cached for one shape."""
_fit: dict[int, set[tuple[Any, ...]]] = {}  # by id of the shape: shapes live as long as their modules


class Mistake(Exception):
    """A value has the wrong shape; the text names the field's path and the problem."""

    def __init__(self, place: Place, what: str) -> None:
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
        super().__init__(f"{path.lstrip('.')} {what}".lstrip())


def bound(parent: Mapping[str, Any], name: str, most: float, place: Place, least: float = 0) -> None:
    """Requires a number in range, or null, so that later sums and tests can't fail."""
    if parent[name] is not None and not least <= parent[name] <= most:
        raise Mistake((*place, name), f"is not between {least:g} and {most:g}")


def amounts(parent: Mapping[str, Any], names: Iterable[str], place: Place) -> None:
    """Requires amounts of money, time or tokens in range, or null."""
    for name in names:
        value = parent[name]
        if value is not None and not 0 <= value <= LARGEST_AMOUNT:
            raise Mistake((*place, name), f"is not between 0 and {LARGEST_AMOUNT:g}")


def interval(parent: Mapping[str, Any], name: str, place: Place) -> None:
    """Requires a pair of numbers between -1 and 1, or null."""
    ends = parent[name]
    if ends is not None and [type(end) in fields.NUMBER for end in ends] != [True, True]:
        raise Mistake((*place, name), "is no pair of numbers")
    if ends is not None and not all(-1 <= end <= 1 for end in ends):
        raise Mistake((*place, name), "is not between -1 and 1")


def record(value: dict[str, Any], shape: Shape, place: Place) -> None:
    """Checks an object against a shape; fills in absent optional fields, in place.

    Most objects have the same fields and types as an earlier one, and are not checked field by field again.
    """
    fit = _fit.setdefault(id(shape), set())
    kind = (*value, *map(type, value.values()))
    if kind in fit:
        return
    size = len(value)
    _look(value, shape, place)
    if len(value) == size and len(fit) < MOST_KINDS:
        fit.add(kind)


def _look(value: dict[str, Any], shape: Shape, place: Place) -> None:
    for name, types, when_absent in shape:
        if name in value:
            if type(value[name]) not in types:
                raise Mistake((*place, name), f"is not {_wanted(types)}")
        elif when_absent == "refused":
            raise Mistake((*place, name), "is missing")
        elif when_absent == "filled in":
            value[name] = [] if types is fields.LIST else None


def _wanted(types: Types) -> str:
    narrower = {int} if float in types else set()
    return " or ".join(word for kind, word in fields.NAMES.items() if kind in types - narrower)


def records(
    parent: Mapping[str, Any], name: str, shape: Shape, place: Place
) -> Iterator[tuple[dict[str, Any], Place]]:
    """Checks the objects of a list against a shape; yields each with its path."""
    for index, value in enumerate(parent[name]):
        at = (*place, name, index)
        if type(value) is not dict:
            raise Mistake(at, "is not an object")
        record(value, shape, at)
        yield value, at


def maybe(parent: Mapping[str, Any], name: str, shape: Shape, place: Place) -> None:
    """Checks one object that may be absent or null."""
    if parent.get(name) is not None:
        record(parent[name], shape, (*place, name))


def texts(parent: Mapping[str, Any], name: str, place: Place) -> None:
    """Requires a list of texts."""
    if not fields.TEXT.issuperset(map(type, parent[name])):
        raise Mistake((*place, name), "holds something that is not text")
