"""Ids of scenarios as people see and write them: cut in the middle, found by their beginning, misspelt."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

ELLIPSIS = "\u2026"
MOST_NAMED = 5
ALIKE = 3
"""Characters with which two ids begin alike."""
MAX_COMPARED, LEAST_SIMILARITY = 200, 0.6
_COUNT = re.compile(r" ?\((?:\+[\d,]+|[\d,]+ more characters?)\)")
"""What ends a cut id, as reports of earlier versions wrote it too."""


def cut_middle(text: str, limit: int) -> str:
    """Cuts a text to `limit` characters, of which it keeps the beginning and the end.

    >>> cut_middle("the-first-and-the-last", 12), cut_middle("short", 12)
    ('the-fi…-last', 'short')
    """
    if len(text) <= limit:
        return text
    end = (limit - 1) // 2
    return f"{text[: limit - 1 - end]}{ELLIPSIS}{text[len(text) - end :]}"


def find_ids(given: str, known: Iterable[str]) -> list[str]:
    """The ids that a person may mean: this one, else those that begin with it, or of which it is a cut form.

    >>> find_ids("refund", ["refund", "refund-late"]), find_ids("ref…te", ["refund", "refund-late"])
    (['refund'], ['refund-late'])
    """
    ids = sorted(set(known))
    if given in ids:
        return [given]
    head, _, tail = given.partition(ELLIPSIS)
    tail = "" if _COUNT.fullmatch(tail) else tail
    if not head and not tail:
        return []
    least = len(head) + len(tail)
    return [each for each in ids if len(each) >= least and each.startswith(head) and each.endswith(tail)]


def list_ids(ids: Collection[str]) -> str:
    """Names the first ids, each in code, and counts the others."""
    named = ", ".join(f"`{each}`" for each in list(ids)[:MOST_NAMED])
    left = len(ids) - MOST_NAMED
    return f"{named} and {left:,} more" if left > 0 else named


def suggest_id(given: str, known: Iterable[str]) -> str | None:
    """Names the ids that contain it, else the nearest of those that begin alike, else all ids if they are few."""
    import difflib

    ids = sorted(set(known))
    wanted = given.partition(ELLIPSIS)[0] or given
    holding = [each for each in ids if wanted in each]
    if len(holding) > 1:
        return f"ids with it: {list_ids(holding)}"
    if holding:
        return f"did you mean `{holding[0]}`?"
    shared = [_count_shared(wanted, each) for each in ids]
    longest = max(shared, default=0)
    is_alike = longest >= min(ALIKE, len(wanted))
    pool = [each for each, length in zip(ids, shared, strict=True) if length == longest] if is_alike else ids
    near = {each[:MAX_COMPARED]: each for each in pool}
    found = difflib.get_close_matches(wanted[:MAX_COMPARED], near, 1, 0.0 if is_alike else LEAST_SIMILARITY)
    if found:
        return f"did you mean `{near[found[0]]}`?"
    return f"known: {', '.join(ids)}" if len(ids) <= 2 * MOST_NAMED else None


def _count_shared(first: str, second: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
