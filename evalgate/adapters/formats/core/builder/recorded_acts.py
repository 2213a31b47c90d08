"""Finds what says that something was done, in fields that recorders may add freely and no reader reads.

Such fields are attributes of spans and resources, and those beside a conversation. Most are data, and a text beside
an object is no call there: what is one has a key or a type that names an act, and a name, with arguments beside it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.possible_calls import (
    ENVELOPE,
    ID_WORDS,
    KIND_KEYS,
    PARTS_OF_WORDS,
    iterate_held,
    split_words,
)
from evalgate.adapters.formats.core.content import may_hold
from evalgate.adapters.formats.core.format import words

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

ACTS = words("function action call called command exec execute executed invoked do act op operation")
"""Last words of a key whose text names what was done."""
PATCHES = frozenset({"add", "remove", "replace", "move", "copy", "test"})
"""Operations of JSON Patch, which change a document and call nothing."""
MAX_NAME = 128
MOST_KEYS = 60
"""Of an object whose keys are remembered: records repeat few sets of keys."""


def find_act(value: Any, known: AbstractSet[str]) -> str | None:
    """The name of what an object says to have done, with its arguments beside it; None without one.

    >>> find_act({"audit": [{"do": "delete_user", "with": {"id": 1}}]}, set())
    'delete_user'
    >>> find_act([{"do": "delete_user", "with": {"id": 1}}], {"delete_user"})
    >>> find_act({"name": "Ann", "address": {"city": "Bern"}, "runs": [{"run": "nightly", "config": {"x": 1}}]}, set())
    """
    objects = (each for each in iterate_held(value) if each.__class__ is dict)
    names = filter(None, map(_name_of_act, objects))
    return next((name for name in names if name not in known), None)


def _name_of_act(value: dict[str, Any]) -> str | None:
    lay_out = _lay_out if len(value) <= MOST_KEYS else _lay_out.__wrapped__
    kinds, naming, naming_in_act = lay_out(tuple(value))
    is_act = any(value[key].__class__ is str and _names_act(value[key]) for key in kinds)
    for key in naming_in_act if is_act else naming:
        name = value[key]
        if name.__class__ is str and _is_name(name):
            has_arguments = any(inner and may_hold(inner) for inner in value.values())
            return name if has_arguments and not (name in PATCHES and "path" in value) else None
    return None


Keys = tuple[str, ...]


@lru_cache(maxsize=4_096)
def _lay_out(keys: Keys) -> tuple[Keys, Keys, Keys]:
    """Of the keys of an object: those of its type, those that may name what was done, and those that may in an act."""
    kinds = tuple([key for key in keys if key in KIND_KEYS])
    others = [key for key in keys if key not in KIND_KEYS]
    named = tuple([key for key in others if _names_act(key)])
    return kinds, named, tuple([key for key in others if key in named or _may_name_in_act(key)])


def _is_name(text: str) -> bool:
    """Whether a text could be the name of a tool."""
    plain = text.translate(_SIGNS)
    return len(text) <= MAX_NAME and (plain.isidentifier() or text.isidentifier())


_SIGNS = str.maketrans(".:/-", "____")


def _may_name_in_act(key: str) -> bool:
    return key not in ENVELOPE and split_words(key)[-1:] not in _OF_IDS


_OF_IDS = tuple([word] for word in ID_WORDS)


@lru_cache(maxsize=4_096)
def _names_act(name: str) -> bool:
    parts = split_words(name)
    if not parts or parts[-1] in ID_WORDS:
        return False
    return parts[-1] in ACTS or any(part in "".join(parts) for part in PARTS_OF_WORDS)
