"""Texts that name tools or skills with the digest of each, as NAME=DIGEST, and what differs between two sides."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.values.compact import LONGEST_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable

DIGITS = 12
"""Hexadecimal digits of a digest."""
MOST_NAMED = 3
"""Things of one kind of change that are named."""
ENTRY = re.compile(rf"(\S{{1,{LONGEST_NAME}}})=([0-9a-f]{{{DIGITS}}})(?:\s|\Z)")
MOST_LISTED = 60
"""Skills that a recording lists; where it lists so many, there may be more."""


class DigestChanges(NamedTuple):
    """The names that only this side has, those whose digest is another one, and those that only the other side has."""

    added: list[str]
    changed: list[str]
    removed: list[str]


@lru_cache(maxsize=32)
def compare_digests(before: frozenset[str], now: frozenset[str]) -> DigestChanges | None:
    """What differs, by name; None if a side names nothing. Many scenarios have the same two sides.

    >>> compare_digests(frozenset(["a=0123456789ab b=0123456789ab"]), frozenset(["b=ba9876543210 c=0123456789ab"]))
    DigestChanges(added=['c'], changed=['b'], removed=['a'])
    """
    old, new = _read(before), _read(now)
    if not old or not new:
        return None
    return DigestChanges(
        [name for name in new if name not in old],
        [name for name in new if name in old and not new[name] <= old[name]],
        [name for name in old if name not in new],
    )


def describe_digests(found: DigestChanges, added: str, changed: str, removed: str) -> tuple[str, ...]:
    """What differs in words, each of which follows `added`, `changed` or `removed`."""
    pairs = ((added, found.added), (changed, found.changed), (removed, found.removed))
    return tuple(line for what, names in pairs for line in _describe(what, names))


def _describe(what: str, names: list[str]) -> list[str]:
    more = len(names) - MOST_NAMED
    return [f"{what} {name}" for name in names[:MOST_NAMED]] + ([f"{what} of {more} more"] if more > 0 else [])


def _read(texts: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for text in texts:
        for name, digest in ENTRY.findall(text):
            found.setdefault(name, set()).add(digest)
    return dict(sorted(found.items()))


def compare_skills(before: Iterable[str], now: Iterable[str]) -> tuple[str, ...]:
    """What of the skills differs, in words; nothing if a side records none.

    >>> compare_skills(["docx=0123456789ab pdf=0123456789ab"], ["pdf=ba9876543210 xlsx=0123456789ab"])
    ('the added skill xlsx', 'the changed text of skill pdf', 'the removed skill docx')
    """
    found = compare_digests(frozenset(before), frozenset(now))
    if found is None:
        return ()
    return describe_digests(found, "the added skill", "the changed text of skill", "the removed skill")
