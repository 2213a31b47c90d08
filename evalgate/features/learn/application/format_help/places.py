"""Places in plain JSON: the names that lead to a value, and the expressions that find it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Place = tuple[str, ...]
EACH = "[]"
"""Each entry of a list."""
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_DEPTH = 7
MOST_VALUES = 2_000
"""Values that are looked at in one entry."""
DEFINITIONS = frozenset({"tools", "tool_definitions", "functions", "schema", "input_schema", "parameters_schema"})
"""Fields that describe tools: nothing in them was called."""


def walk(value: Any) -> Iterator[tuple[Place, Any]]:
    """Every value in a value with its place, from the outside in and in order; entries of a list share a place."""
    queue: list[tuple[Place, Any]] = [((), value)]
    for place, found in queue:
        yield place, found
        if len(place) >= MAX_DEPTH or len(queue) > MOST_VALUES:
            continue
        if isinstance(found, dict):
            queue += [((*place, key), each) for key, each in found.items() if key not in DEFINITIONS]
        elif isinstance(found, list):
            queue += [((*place, EACH), each) for each in found]


def walk_fields(entry: Any, depth: int) -> Iterator[tuple[Place, Any]]:
    """The values of an entry that no list is around, at most so many objects deep."""
    return ((place, each) for place, each in walk(entry) if len(place) <= depth and EACH not in place)


def follow(value: Any, place: Place) -> Any:
    """The value at a place without lists; None if it has no value."""
    for name in place:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def write(place: Place) -> str:
    """The expression that finds a place: `a.b[].c`."""
    text = ""
    for name in place:
        if name == EACH:
            text += EACH
        else:
            text += f"{'.' if text else ''}{name if PLAIN.fullmatch(name) else json.dumps(name)}"
    return text or "@"


def join_alternatives(expressions: Iterable[str]) -> str:
    """An expression that finds what the first of several does that finds something."""
    return " || ".join(dict.fromkeys(expressions))


def write_literal(text: str) -> str:
    """A text inside an expression."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
