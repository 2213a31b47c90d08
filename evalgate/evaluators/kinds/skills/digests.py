"""Which skills differ between recordings that name the digests of their texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DIGITS = 12
"""Hexadecimal digits of a digest that are recorded."""
MOST_LISTED = 60
"""Skills that a recording lists; where it lists so many, there may be more."""
MOST_NAMED = 3
"""Skills of one kind of change that are named."""
ENTRY = re.compile(rf"(\S{{1,128}})=([0-9a-f]{{{DIGITS}}})(?:\s|\Z)")


def compare_skills(before: Iterable[str], now: Iterable[str]) -> tuple[str, ...]:
    """What of the skills differs, in words; nothing if a side records none.

    >>> compare_skills(["docx=0123456789ab pdf=0123456789ab"], ["pdf=ba9876543210 xlsx=0123456789ab"])
    ('the added skill xlsx', 'the changed text of skill pdf', 'the removed skill docx')
    """
    old, new = _read(before), _read(now)
    if not old or not new:
        return ()
    changed = [name for name in new if name in old and not new[name] <= old[name]]
    return (
        *_describe("the added skill", [name for name in new if name not in old]),
        *_describe("the changed text of skill", changed),
        *_describe("the removed skill", [name for name in old if name not in new]),
    )


def _read(texts: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for text in texts:
        for name, digest in ENTRY.findall(text):
            found.setdefault(name, set()).add(digest)
    return dict(sorted(found.items()))


def _describe(what: str, names: list[str]) -> list[str]:
    more = len(names) - MOST_NAMED
    return [f"{what} {name}" for name in names[:MOST_NAMED]] + ([f"{what} of {more} more"] if more > 0 else [])
