"""Chooses what judges the traces of a shell run: this process, worker processes or a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.adapters.archives.shard_zip import ShardWriter, ZippedShard
    from evalgate.adapters.formats.core.format import TraceLimits
    from evalgate.ports import Files
    from evalgate.ports.batches import Engine, EvaluationPool

BREAK_EVEN = 200_000_000
"""Bytes, about 25,000 traces; for less, workers cost more than they save."""
SHARD = "shard.zip"
URL = "://"


class ParallelOptions(Struct, frozen=True):
    """Number of worker processes (None: chosen by size), whether to use a Dask cluster, and its address.

    `plugins` are modules to send to remote workers; `traces` are the command line's patterns or URLs.
    """

    jobs: int | None = None
    dask: bool = False
    scheduler: str | None = None
    plugins: Sequence[str] = ()
    traces: Sequence[str] = ()

    @property
    def has_urls(self) -> bool:
        """Whether traces are read from elsewhere."""
        return any(URL in pattern for pattern in self.traces)


class ConfiguredPools(Struct, frozen=True):
    """Creates pools according to the options; implements `EvaluationPools`.

    Without a given number, there are no local workers for less than `BREAK_EVEN` bytes.
    """

    files: Files
    limits: TraceLimits
    options: ParallelOptions

    def open(self, traces: Sequence[tuple[Sequence[str], str]]) -> EvaluationPool | None:
        """A pool of workers, None if this process is faster."""
        options = self.options
        if options.dask:
            from evalgate.adapters.engines.dask_cluster import DaskCluster

            return self._make_pool(DaskCluster(options.scheduler, options.jobs, options.plugins))
        if options.jobs is None and self._count_bytes(traces) < BREAK_EVEN:
            return None
        from evalgate.adapters.engines.process_pool import ProcessPool, usable_cores

        count = options.jobs or usable_cores()
        if count == 1:
            return None
        from evalgate.adapters.sandbox.kernel import forbid_connections

        may_connect = options.has_urls or bool(options.plugins)
        return self._make_pool(ProcessPool(count, None if may_connect else forbid_connections))

    def open_in_process(self) -> EvaluationPool:
        """A pool without workers: this process judges batch by batch."""
        from evalgate.adapters.engines.process_pool import InProcessEngine

        return self._make_pool(InProcessEngine())

    def _make_pool(self, engine: Engine) -> EvaluationPool:
        from evalgate.adapters.formats.open.batches import BatchedTraces
        from evalgate.adapters.formats.open.stored_traces import encode_stored_trace
        from evalgate.ports.batches import EvaluationPool

        return EvaluationPool(BatchedTraces(self.files, self.limits), engine, encode_stored_trace)

    def _count_bytes(self, traces: Sequence[tuple[Sequence[str], str]]) -> int:
        """Adds up the bytes of the traces until the break-even is reached."""
        size, seen = 0, set[str]()
        for patterns, folder in traces:
            for pattern in patterns:
                for file in self.files.expand(pattern, folder):
                    if file.real not in seen:
                        seen.add(file.real)
                        size += self.files.size(file)
                    if size >= BREAK_EVEN:
                        return size
        return size


def choose_files(local_files: Files, options: ParallelOptions | None) -> Files:
    """The local files, or local and remote ones if a pattern of the command line is a URL."""
    if options is None or not options.has_urls:
        return local_files
    from evalgate.adapters.files.wrapped_files import RemoteFiles

    return RemoteFiles(local_files)


def create_shard(make_path: Callable[[], str]) -> ShardWriter:
    """Creates a writer for a shard; `make_path` makes its folder and gives its path."""
    from evalgate.adapters.archives.shard_zip import ShardWriter

    return ShardWriter(make_path)


def open_shards(patterns: Sequence[str], cwd: str) -> Sequence[ZippedShard]:
    """Opens the shards that the user named."""
    from evalgate.adapters.archives.shard_zip import ShardReader
    from evalgate.bootstrap.sources import build_workspace

    return ShardReader(build_workspace(cwd)).open(patterns)
