"""Checks values against the fields of `evalgate.results/1`; errors name the field's path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.reporting.results import results_fields as fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalgate.reporting.results.results_fields import Shape, Types

MAX_AMOUNT = 1e15
MAX_SUM = 1e24
MAX_DAYS = 4_000_000

FieldPath = tuple[Any, ...]
MAX_CACHED_KINDS = 200
"""Most valid combinations of fields and types that are cached for one shape."""
_valid_kinds: dict[int, set[tuple[Any, ...]]] = {}  # by id of the shape: shapes live as long as their modules


class ShapeError(Exception):
    """A value has the wrong shape; the text names the field's path and the problem."""

    def __init__(self, field_path: FieldPath, problem: str) -> None:
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in field_path)
        super().__init__(f"{path.lstrip('.')} {problem}".lstrip())


def check_range(parent: Mapping[str, Any], name: str, maximum: float, path: FieldPath, minimum: float = 0) -> None:
    """Requires a number in range, or null, so that later sums and tests can't fail."""
    if parent[name] is not None and not minimum <= parent[name] <= maximum:
        raise ShapeError((*path, name), f"is not between {minimum:g} and {maximum:g}")


def check_amounts(parent: Mapping[str, Any], names: Iterable[str], path: FieldPath) -> None:
    """Requires amounts of money, time or tokens in range, or null."""
    for name in names:
        value = parent[name]
        if value is not None and not 0 <= value <= MAX_AMOUNT:
            raise ShapeError((*path, name), f"is not between 0 and {MAX_AMOUNT:g}")


def check_interval(parent: Mapping[str, Any], name: str, path: FieldPath) -> None:
    """Requires a pair of numbers between -1 and 1, or null."""
    ends = parent[name]
    if ends is not None and [type(end) in fields.NUMBER for end in ends] != [True, True]:
        raise ShapeError((*path, name), "is not a pair of numbers")
    if ends is not None and not all(-1 <= end <= 1 for end in ends):
        raise ShapeError((*path, name), "is not between -1 and 1")


def check_record(value: dict[str, Any], shape: Shape, path: FieldPath) -> None:
    """Checks an object against a shape; fills in absent optional fields, in place.

    Most objects have the same fields and types as an earlier one, and are not checked field by field again.
    """
    valid_kinds = _valid_kinds.setdefault(id(shape), set())
    kind = (*value, *map(type, value.values()))
    if kind in valid_kinds:
        return
    size = len(value)
    _check_fields(value, shape, path)
    if len(value) == size and len(valid_kinds) < MAX_CACHED_KINDS:
        valid_kinds.add(kind)


def _check_fields(value: dict[str, Any], shape: Shape, path: FieldPath) -> None:
    for name, types, when_absent in shape:
        if name in value:
            if type(value[name]) not in types:
                raise ShapeError((*path, name), f"is not {_describe_types(types)}")
        elif when_absent == "refused":
            raise ShapeError((*path, name), "is missing")
        elif when_absent == "filled in":
            value[name] = [] if types is fields.LIST else None


def _describe_types(types: Types) -> str:
    narrower = {int} if float in types else set()
    return " or ".join(word for kind, word in fields.TYPE_NAMES.items() if kind in types - narrower)


def check_records(
    parent: Mapping[str, Any], name: str, shape: Shape, path: FieldPath
) -> Iterator[tuple[dict[str, Any], FieldPath]]:
    """Checks the objects of a list against a shape; yields each with its path."""
    for index, value in enumerate(parent[name]):
        at = (*path, name, index)
        if type(value) is not dict:
            raise ShapeError(at, "is not an object")
        check_record(value, shape, at)
        yield value, at


def check_optional(parent: Mapping[str, Any], name: str, shape: Shape, path: FieldPath) -> None:
    """Checks one object that may be absent or null."""
    if parent.get(name) is not None:
        check_record(parent[name], shape, (*path, name))


def check_texts(parent: Mapping[str, Any], name: str, path: FieldPath) -> None:
    """Requires a list of texts."""
    if not fields.TEXT.issuperset(map(type, parent[name])):
        raise ShapeError((*path, name), "holds something that is not text")
