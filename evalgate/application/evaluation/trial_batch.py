"""Encoded trials from a worker, sent as columns so that the receiver decodes none of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.application.documents.run_documents import trial_of
from evalgate.models.run.spool import MemorySpool
from evalgate.models.run.trial_store import TrialStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.run.trial_record import TrialRecord
    from evalgate.models.run.trial_store import Packed


class TrialBatch(NamedTuple):
    """Trials, in the order their records were read.

    Their owners are indexes in `scenarios`: positions in the suite, with the id of the records.
    """

    scenarios: Sequence[tuple[int, str | None]]
    trials: Packed


class TrialBatchWriter:
    """Collects the trials of a batch."""

    def __init__(self) -> None:
        self._scenarios: dict[tuple[int, str | None], int] = {}
        self._store = TrialStore(MemorySpool(), trial_of, sys.maxsize)

    def add(
        self, scenario: tuple[int, str | None], trial: TrialRecord, recorded: int | None, started_at: str | None
    ) -> None:
        """Adds one trial."""
        owner = self._scenarios.setdefault(scenario, len(self._scenarios))
        self._store.take(trial, owner, recorded, started_at)

    def row(self) -> tuple[Any, ...]:
        """The batch as a tuple for `marshal`; `TrialBatch._make` restores it."""
        return tuple(TrialBatch(tuple(self._scenarios), self._store.pack()))


def is_trial_batch(row: Sequence[Any]) -> bool:
    """Whether a worker's row is a batch of trials; a single record has three parts."""
    return len(row) == len(TrialBatch._fields)
