"""What a run knows of itself that tells a fresh recording from a stale one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class Present(NamedTuple):
    """The moment of judging, the commits that count as the one judged, and fingerprints of watched files.

    `commits` is empty where the commit is not known. `fingerprints` go by suite, for those that watch files.
    """

    now: datetime
    commits: frozenset[str] = frozenset()
    fingerprints: Mapping[str, str] = {}
