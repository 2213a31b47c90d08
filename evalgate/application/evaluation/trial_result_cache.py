"""Caches the results that the assertions of many trials have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalgate.models.run.run import SharedOutcome

    Key = tuple[float | int, ...]

MOST_ROWS = 10_000
"""Rows of results kept because trials may share them; a trial has one for each assertion."""


class TrialResultCache:
    """Results that trials share, by threshold and the identity of each row."""

    __slots__ = ("_results", "_rows")

    def __init__(self) -> None:
        self._results: dict[Key, SharedOutcome] = {}
        self._rows = 0

    def get(self, key: Key) -> SharedOutcome | None:
        """The results of a trial with the same rows; rows are kept, so their identities stay unique."""
        return self._results.get(key)

    def keep(self, key: Key, found: SharedOutcome) -> None:
        """Keeps results that others may share, up to the limit."""
        if self._rows < MOST_ROWS and all(row.is_shared for row in found.assertions):
            found.is_shared = True
            self._results[key] = found
            self._rows += len(found.assertions)
