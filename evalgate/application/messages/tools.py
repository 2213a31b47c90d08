"""What the judge works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.run.spool import MemorySpool
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.run.spool import Spool
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
    from evalgate.ports.engines import EvaluationPools
    from evalgate.ports.shards import OpenShard


@dataclass(frozen=True, slots=True)
class Tools:
    """The world as the judge may see it."""

    suites: SuiteSource
    traces: TraceArchive
    baselines: BaselineFiles
    output: OutputFolder
    clock: Clock
    progress: Progress
    prices: PriceTable | None = None
    fingerprints: Fingerprints | None = None
    workshops: EvaluationPools | None = None
    shelf: Callable[[], Spool] = MemorySpool  # where trials are kept until their results are written
    shards: Sequence[OpenShard] | None = None  # what was judged before is put together, and nothing read
