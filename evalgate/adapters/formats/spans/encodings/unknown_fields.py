"""Finds the fields of a span that no encoding knows and that may hold what its attributes should hold."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from evalgate.adapters.formats.core.builder.known_shapes import holds_objects
from evalgate.adapters.formats.core.strict_json import make_printable

SEPARATORS = re.compile("[^a-z]")
SHOWN_CHARS = 60


def find_unknown_fields(fields: dict[str, Any], known: frozenset[str]) -> tuple[str, ...]:
    """The names of unknown fields that hold objects, or are known ones in an unknown spelling."""
    unknown = _list_unknown(tuple(fields), known)
    if not unknown:
        return ()
    spellings = _list_spellings(known)
    return tuple(
        make_printable(key[:SHOWN_CHARS])
        for key in unknown
        if holds_objects(fields[key]) or (_respell(key) in spellings and fields[key])
    )


@lru_cache(maxsize=1_024)
def _list_unknown(keys: tuple[str, ...], known: frozenset[str]) -> tuple[str, ...]:
    return tuple(key for key in keys if key not in known)


@lru_cache(maxsize=16)
def _list_spellings(known: frozenset[str]) -> frozenset[str]:
    return frozenset(map(_respell, known))


def _respell(key: str) -> str:
    return SEPARATORS.sub("", key[:100].lower())
