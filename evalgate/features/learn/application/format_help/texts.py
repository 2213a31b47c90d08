"""Guesses where the text of a message is: a field, or the parts of a list."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evalgate.features.learn.application.format_help.places import (
    EACH,
    Place,
    follow,
    join_alternatives,
    walk_fields,
    write,
    write_literal,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXT_NAMES = ("content", "text", "message", "parts", "body", "value", "answer", "finalText", "output")
PART_NAMES = ("text", "content", "data", "value")
KIND_NAMES = ("type", "kind")
DEPTH = 3
MOST_PLACES = 3


def find_text(messages: Sequence[Any], type_places: Sequence[Place]) -> str | None:
    """The expression that finds the text of most messages; None without one."""
    left, expressions = list(messages), list[str]()
    while left and len(expressions) < MOST_PLACES:
        counts = Counter(place for entry in left for place in _list_texts(entry) if place not in type_places)
        if not counts:
            break
        best = min(counts, key=lambda place: (-counts[place], _rank(place), len(place)))
        expressions.append(_write_text([follow(entry, best) for entry in left], best))
        left = [entry for entry in left if best not in _list_texts(entry)]
    return join_alternatives(expressions) or None


def _rank(place: Place) -> int:
    return TEXT_NAMES.index(place[-1]) if place[-1] in TEXT_NAMES else len(TEXT_NAMES)


def _list_texts(entry: Any) -> set[Place]:
    """The places in an entry that have a text by their name, or a list of parts with texts."""
    return {
        place
        for place, value in walk_fields(entry, DEPTH)
        if place and place[-1] in TEXT_NAMES and ((isinstance(value, str) and value) or _find_part(value) is not None)
    }


def _find_part(value: Any) -> tuple[str, str | None, str] | None:
    """Of a list of parts: the field with the text, and the field and word that mark a part of text, if any."""
    for part in value if isinstance(value, list) else ():
        for name in PART_NAMES if isinstance(part, dict) else ():
            if isinstance(part.get(name), str):
                kind = next((key for key in KIND_NAMES if isinstance(part.get(key), str)), None)
                if kind is None or "text" in part[kind].lower():
                    return name, kind, "" if kind is None else part[kind]
    return None


def _write_text(values: Sequence[Any], place: Place) -> str:
    part = next((found for value in values if (found := _find_part(value)) is not None), None)
    where = write(place)
    if part is None:
        return where
    name, kind, word = part
    chosen = f"[?{kind} == {write_literal(word)}]" if kind is not None else EACH
    texts = f"{where}{chosen}.{write((name,))}"
    if any(isinstance(value, str) for value in values):
        return f"join('', not_null({texts}, [{where} || '']))"
    return f"join('', {texts} || [''])"
