"""Finds fields and types that a reader does not know, so that none of them is skipped silently.

Each reader lists the shapes of its format: where its messages, parts and events are in a record, which types
they may have, and which of their fields may hold objects or lists. Anything else may be a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.unread_calls import RESULT_FIELDS, format_path, is_result
from evalgate.adapters.formats.core.format import EACH, Shape
from evalgate.adapters.formats.core.strict_json import make_printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHOWN_CHARS = 60


def find_unknown(record: Any, shapes: Sequence[Shape]) -> str | None:
    """Describes the first field or type of the record that no shape lists; None if all are known."""
    for shape in shapes:
        if record.__class__ is list and shape.path[0] != shapes[0].path[0]:
            continue
        for value, path in _list_objects(record, shape.path):
            if shape.kinds is not None:
                kind = value.get(shape.kind_key)
                if kind.__class__ is str and kind not in shape.kinds:
                    return f"{describe_place(path)} has the unknown {shape.kind_key} `{shorten(kind)}`"
            if shape.fields is not None and not shape.fields.issuperset(value):
                for key in value.keys() - shape.fields:
                    if holds_objects(value[key]):
                        return f"`{format_path((path, key))}` is an unknown field"
    return None


def describe_place(path: Any) -> str:
    """A path as the subject of a sentence."""
    shown = format_path(path)
    return f"`{shown}`" if shown else "the record"


def shorten(name: str) -> str:
    """A recorded name, safe to show."""
    return make_printable(name[:SHOWN_CHARS])


def holds_objects(value: Any) -> bool:
    """True for an object, or a list that has more than numbers, unless it is empty."""
    if value.__class__ is list:
        return any(each.__class__ in HOLDERS and each for each in value)
    return value.__class__ is dict and bool(value)


HOLDERS = (dict, list, str)


def _list_objects(record: Any, steps: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], Any]]:
    """The objects at a path, each with its path; the content of tool results is left out."""
    if record.__class__ is list and steps and steps[0] != EACH:
        steps = steps[1:]
    stack: list[tuple[Any, Any, int]] = [(record, (), 0)]
    while stack:
        value, path, position = stack.pop()
        if position == len(steps):
            if value.__class__ is dict:
                yield value, path
            continue
        step = steps[position]
        if step != EACH:
            inner = value.get(step) if value.__class__ is dict else None
            if inner.__class__ in (dict, list) and not (step in RESULT_FIELDS and path and is_result(value)):
                stack.append((inner, (path, step), position + 1))
        elif value.__class__ is list:
            stack.extend((value[index], (path, index), position + 1) for index in range(len(value) - 1, -1, -1))
