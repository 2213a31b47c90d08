"""Finds the name that a misspelt one may stand for, whatever its case and the signs between its words."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MIN_SIMILARITY = 0.85
MAX_COMPARED = 1_000
"""Names that one is compared with."""
MAX_LENGTH = 200
"""Characters of a name that are compared."""
_SIGNS = str.maketrans("", "", "_-. ")


def find_similar_name(name: str, known: Iterable[str]) -> str | None:
    """Returns the name that is most similar to a misspelt one; None if there is no similar one.

    >>> find_similar_name("ModifyCart", ["modify_cart", "get_cart"]), find_similar_name("refund", ["get_cart"])
    ('modify_cart', None)
    """
    return _find_similar_name(name, tuple(known)[:MAX_COMPARED])


@lru_cache(maxsize=1_000)
def _find_similar_name(name: str, known: tuple[str, ...]) -> str | None:
    from difflib import get_close_matches

    by_form: dict[str, str] = {}
    for each in sorted(known):
        by_form.setdefault(_normalize(each), each)
    found = get_close_matches(_normalize(name), by_form, 1, MIN_SIMILARITY)
    return by_form[found[0]] if found else None


def _normalize(name: str) -> str:
    return name.lower().translate(_SIGNS)[:MAX_LENGTH]
