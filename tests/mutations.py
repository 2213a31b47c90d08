"""Every place of a document undefined in every way that a typo, a tool or an attacker would."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from damage import places

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_NUMBERS = ("NaN", "Infinity", "-Infinity", ".nan", ".inf", "1e999")


class Raw(str):
    """Text that is written into a document as it is."""

    __slots__ = ()


class Again(str):
    """A key that is written a second time."""

    __slots__ = ()


class Mutation(NamedTuple):
    """The place of a document, the change made there, and the changed document."""

    place: tuple[Any, ...]
    done: str
    document: Any


def mutations(document: Any) -> Iterator[Mutation]:
    """One mutation each: keys dropped, renamed and doubled, lists emptied, values of another type."""
    for place in places(document):
        if place:
            yield from _of_place(document, place)


def _of_place(document: Any, place: tuple[Any, ...]) -> Iterator[Mutation]:
    *way, last = place
    value = _at(document, place)
    gone = deepcopy(document)
    del _at(gone, way)[last]
    yield Mutation(place, "dropped", gone)
    if isinstance(last, str):
        renamed = deepcopy(document)
        parent = _at(renamed, way)
        pairs = [(f"{key}x" if key == last else key, each) for key, each in parent.items()]
        parent.clear()
        parent.update(pairs)
        yield Mutation(place, "renamed", renamed)
        for other in (value, 0, []):
            doubled = deepcopy(document)
            _at(doubled, way)[Again(last + "\0")] = other
            yield Mutation(place, f"doubled with {other!r}", doubled)
    for other in _others(value):
        replaced = deepcopy(document)
        _at(replaced, way)[last] = other
        yield Mutation(place, f"= {other!r}", replaced)


def _others(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return ("true", 1, 0, None, [], False)
    if isinstance(value, int | float):
        return (*map(Raw, NO_NUMBERS), str(value), True, False, None, "abc", [], {})
    if isinstance(value, str):
        return ("", None, 1, True, [], {}, [value])
    if isinstance(value, list):
        return ([], None, {}, "", 0)
    return ({}, None, [], "", [value])


def _at(document: Any, place: Any) -> Any:
    for key in place:
        document = document[key]
    return document


def write_document(value: Any) -> str:
    """The document as JSON, which is YAML too, with raw values as they are."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {write_document(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(write_document, value)) + "]"
    return json.dumps(value)


def _key(key: str) -> str:
    return json.dumps(key.removesuffix("\0") if isinstance(key, Again) else key)
