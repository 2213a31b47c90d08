"""Finds names that look alike but are not equal: in other alphabets, with characters that no one sees."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.text.plain_text import mark_unseen, remove_invisible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class LookAlike(NamedTuple):
    """A name, the position of it and of an earlier one that looks the same, and the character that differs."""

    position: int
    earlier: int
    character: str


def find_look_alikes(names: Iterable[str]) -> Iterator[LookAlike]:
    """Yields names that look like an earlier one, if one of the two has a character that is not ASCII.

    Names of ASCII only, such as `test-1` and `test-l`, can be told apart in code. Equal names are not yielded.
    """
    listed = [unicodedata.normalize("NFC", name) for name in names]
    if all(map(str.isascii, listed)):
        return
    seen: dict[str, int] = {}
    for position, name in enumerate(listed):
        earlier = seen.setdefault(build_skeleton(name), position)
        other = listed[earlier]
        if name != other and not (name.isascii() and other.isascii()):
            yield LookAlike(position, earlier, _find_strange(name, other))


def build_skeleton(name: str) -> str:
    """What a name looks like: equal for names that look alike (skeleton of UTS 39).

    >>> build_skeleton("\u0440\u0430\u0443") == build_skeleton("pay")
    True
    """
    plain = unicodedata.normalize("NFD", remove_invisible(name))
    return unicodedata.normalize("NFD", plain.translate(_load_table()))


def describe_look_alike(names: Sequence[str], found: LookAlike) -> str:
    """Both names, and the number and name of a character that differs."""
    character = f"U+{ord(found.character):04X} {unicodedata.name(found.character, '')}".rstrip()
    name, earlier = mark_unseen(names[found.position]), mark_unseen(names[found.earlier])
    return f"`{name}` looks like `{earlier}`: one of them has {character}"


def _find_strange(name: str, other: str) -> str:
    """The first character of one name that is not ASCII and not in the other."""
    for text, against in ((name, other), (other, name)):
        for character in text:
            if not character.isascii() and character not in against:
                return character
    return next(character for character in name + other if not character.isascii())


@cache
def _load_table() -> dict[int, str]:
    from evalgate.measures.text.confusables import CONFUSABLES

    table: dict[int, str] = {}
    for group in CONFUSABLES.split():
        prototype, _, characters = group.partition(":")
        looks = "".join(chr(int(code, 16)) for code in prototype.split("."))
        table |= dict.fromkeys((int(code, 16) for code in characters.split(",")), looks)
    return table
