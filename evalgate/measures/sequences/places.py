"""The places where two JSON values differ, and those that a run changed in its state."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.values.json_values import json_equal, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.models.trace.trace import RunState

MAX_DEPTH = 64
MAX_NAME = 200
"""Characters of a name that are shown."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Absent:
    """What a side has that has no value at a place, which null would be."""


ABSENT = Absent()


class PlaceChange(NamedTuple):
    """A place where two JSON values differ, by the names and indices that lead to it, and both sides of it."""

    path: tuple[str | int, ...]
    before: Any
    after: Any


def find_changes(before: Any, after: Any, path: tuple[str | int, ...] = ()) -> Iterator[PlaceChange]:
    """Yields the places in the order of the values; entries at the end of a list go last first, so that each is there.

    >>> [(each.path, each.after) for each in find_changes({"a": [1, 2]}, {"a": [1, 3], "b": None})]
    [(('a', 1), 3), (('b',), None)]
    """
    if json_equal(before, after):
        return
    if len(path) < MAX_DEPTH and isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _compare_at((*path, str(key)), before.get(key, ABSENT), after.get(key, ABSENT))
    elif len(path) < MAX_DEPTH and isinstance(before, list) and isinstance(after, list):
        shorter = min(len(before), len(after))
        for index in range(shorter):
            yield from find_changes(before[index], after[index], (*path, index))
        yield from (
            PlaceChange((*path, index), before[index], ABSENT) for index in reversed(range(shorter, len(before)))
        )
        yield from (PlaceChange((*path, index), ABSENT, after[index]) for index in range(shorter, len(after)))
    else:
        yield PlaceChange(path, before, after)


def _compare_at(path: tuple[str | int, ...], before: Any, after: Any) -> Iterator[PlaceChange]:
    if before is ABSENT or after is ABSENT:
        yield PlaceChange(path, before, after)
    else:
        yield from find_changes(before, after, path)


def format_path(path: Sequence[str | int]) -> str:
    """Returns the path as a JMESPath.

    >>> format_path(("orders", "A-7", "rows", 0))
    'orders."A-7".rows[0]'
    """
    names = (f"[{key}]" if isinstance(key, int) else f".{_quote(key)}" for key in path)
    return "".join(names).removeprefix(".")


def _quote(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else show(key, MAX_NAME)


def list_changes(state: RunState | None) -> Sequence[PlaceChange] | None:
    """What changed, by the difference as recorded and by both states; None if neither is known.

    The recorded one knows of changes that masks hide in the states.
    """
    if state is None or not ("diff" in state or ("before" in state and "after" in state)):
        return None
    before, after = state.get("before", ABSENT), state.get("after", ABSENT)
    has_both = ABSENT not in (before, after)
    changes = {format_path(each.path): each for each in (find_changes(before, after) if has_both else ())}
    for operation in state.get("diff", ()):
        change = _read_operation(operation, before, after)
        changes.setdefault(format_path(change.path), change)
    return [changes[path] for path in sorted(changes)]


def _read_operation(operation: Mapping[str, Any], before: Any, after: Any) -> PlaceChange:
    """The change that an operation of RFC 6902 describes; which names are indices, the states say."""
    path: list[str | int] = []
    for name in operation["path"].split("/")[1:]:
        is_index = isinstance(before, list) or isinstance(after, list)
        path.append(int(name) if is_index and name.isdecimal() else name.replace("~1", "/").replace("~0", "~"))
        before, after = _get(before, path[-1]), _get(after, path[-1])
    return PlaceChange(tuple(path), before, ABSENT if operation["op"] == "remove" else operation.get("value"))


def _get(value: Any, key: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(key, ABSENT)
    is_there = isinstance(value, list) and isinstance(key, int) and key < len(value)
    return value[key] if is_there else ABSENT
