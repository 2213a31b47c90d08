"""The ports the judge works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.run.chunks import Spool
    from evalgate.ports import (
        BaselineFiles,
        Clock,
        Fingerprints,
        OutputFolder,
        PriceTable,
        Progress,
        SuiteSource,
        TraceArchive,
    )
    from evalgate.ports.batches import EvaluationPools
    from evalgate.ports.shards import OpenShard


class Tools(Struct, frozen=True):
    """Everything outside that the judge can reach."""

    suites: SuiteSource
    traces: TraceArchive
    baselines: BaselineFiles
    output: OutputFolder
    clock: Clock
    progress: Progress
    make_trial_spool: Callable[[], Spool]  # temporary storage for trials until results are written
    prices: PriceTable | None = None
    fingerprints: Fingerprints | None = None
    pools: EvaluationPools | None = None
    shards: Sequence[OpenShard] | None = None  # merges these shards instead of reading traces
