"""What a run compares traces with to find stale ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class FreshnessContext(NamedTuple):
    """The time of judging, the commits that count as the judged one, and fingerprints of watched files.

    `commits` is empty if the commit is unknown. `fingerprints` are by suite, for suites that watch files.
    """

    now: datetime
    commits: frozenset[str] = frozenset()
    fingerprints: Mapping[str, str] = {}
