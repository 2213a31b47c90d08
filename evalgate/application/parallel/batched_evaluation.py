"""Judges traces by workers, batch by batch."""

from __future__ import annotations

from collections import deque
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from evalgate.application.evaluation.evaluate import RunCollector
from evalgate.application.parallel.batch_judge import BatchTask, JudgedBatch, require_judged
from evalgate.errors import OverLimit, Problem
from evalgate.models.trace.trace import TraceLocation
from evalgate.ports.batches import WorkerLostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.models.run.run import Run
    from evalgate.ports import Progress, TraceSpool
    from evalgate.ports.batches import Batch, BatchSource, Engine, PendingResult, TracePart
    from evalgate.suite.models import Configuration

    Judged = tuple["NumberedBatch", JudgedBatch]

LARGEST, SMALLEST = 4_000_000, 16_000
"""Bytes of a batch: large enough to be worth sending, small enough to spread evenly."""
EACH = 8
"""The least number of batches for each worker, if there is enough to read."""
AHEAD = 3
"""How many batches a worker may be ahead of the merge."""
LOST_HINT = "the traces may need more memory than there is: judge them in one process (--jobs 1) or in shards"


class NumberedBatch(NamedTuple):
    """A batch, the suite it is judged by, and its number within the suite."""

    suite: int
    number: int
    batch: Batch


def evaluate_in_batches(
    configuration: Configuration,
    source: BatchSource,
    choice: TraceChoice,
    progress: Progress,
    engine: Engine,
    spool: TraceSpool | None = None,
) -> Run:
    """The run that `evaluate` would return, judged by the engine's workers, which must be started."""
    merger = BatchMerger(configuration, choice, progress, spool, source.max_bytes)
    plan = BatchPlan(configuration, source, choice, engine.workers)
    dispatcher = BatchDispatcher(plan, engine)
    try:
        for batch, found in dispatcher.judge_batches(merger):
            merger.take(batch.suite, found)
    except WorkerLostError as error:
        raise OverLimit(Problem(f"a worker process {error}", None, LOST_HINT)) from None
    return merger.finish_run()


class BatchMerger:
    """Adds the results of batches to a run, in the order one process would have read them.

    `spool` keeps traces for a new baseline; `most_bytes` limits the size of all traces together.
    """

    def __init__(
        self,
        configuration: Configuration,
        choice: TraceChoice,
        progress: Progress,
        spool: TraceSpool | None,
        most_bytes: int | None = None,
    ) -> None:
        self._collector, self._progress, self._spool = RunCollector(configuration, choice), progress, spool
        self._size, self._most_bytes = 0, most_bytes
        self.wants_crossed, self.finish_run = self._collector.wants_crossed, self._collector.finish_run

    @property
    def is_full(self) -> bool:
        """Whether no more traces are kept for a baseline."""
        return self._spool is None or self._spool.is_full

    def has(self, batch: object) -> bool:  # noqa: ARG002  see BatchReceiver
        """Every batch is judged."""
        return True

    def take(self, suite: int, found: JudgedBatch) -> None:
        """Adds one batch of a suite; batches of earlier suites must not follow."""
        self._size += found.size
        if self._most_bytes is not None and self._size > self._most_bytes:
            message = f"the traces are larger than {self._most_bytes:,} bytes in total"
            raise OverLimit(Problem(message, None, "raise limit `traces`"))
        lines: Iterator[bytes | None] = repeat(None) if found.lines is None else iter(found.lines)
        for record in found.records:
            self._collector.take(suite, record)
            ref = record.ref
            if self._spool is not None and ref.id is not None:
                self._spool.add_line(TraceLocation(ref.path, ref.format, ref.line, ref.record), next(lines))
        self._progress.advance("traces", len(found.records))
        self._collector.warnings.add_counts(found.warnings, found.unpriced)


class BatchPlan:
    """Splits the traces into batches for a number of workers."""

    def __init__(self, configuration: Configuration, source: BatchSource, choice: TraceChoice, workers: int) -> None:
        self.source = source
        self._chosen = [choice.resolve_for_suite(suite) for suite in configuration.suites]
        self._files = [source.find_files(patterns, folder) for patterns, folder, _ in self._chosen]
        self.size = sum(map(source.size, self._files))
        self._batch_size = max(SMALLEST, min(LARGEST, self.size // (workers * EACH)))

    def form(self, suite: int) -> Any:
        """The format of a suite's traces."""
        return self._chosen[suite][2]

    def batches(self) -> Iterator[NumberedBatch]:
        """Every batch that can be read alone, or turns out to hold parts of traces."""
        for suite, files in enumerate(self._files):
            batches = self.source.batches(files, self.form(suite), self._batch_size)
            yield from (NumberedBatch(suite, number, batch) for number, batch in enumerate(batches))

    def group_batches(self, suite: int, parts: list[TracePart], first: int) -> Iterator[NumberedBatch]:
        """Batches of grouped parts, once all files of a suite were read."""
        batches = self.source.group_parts(parts, self._batch_size)
        yield from (NumberedBatch(suite, number, batch) for number, batch in enumerate(batches, first))


class BatchReceiver(Protocol):
    """Receives the results of batches, and decides how much of them is needed."""

    @property
    def is_full(self) -> bool:
        """Whether no more traces are kept for a baseline."""

    def wants_crossed(self, suite: int) -> bool:
        """Whether traces of a suite are judged by the baseline's rules as well."""

    def has(self, batch: NumberedBatch) -> bool:
        """Whether to judge the batch at all. Called for every batch, within a suite in order."""


class BatchDispatcher:
    """Submits batches and yields their results in order."""

    def __init__(self, plan: BatchPlan, engine: Engine) -> None:
        self._plan, self._engine = plan, engine
        self._window = max(2, engine.workers * AHEAD)

    def judge_batches(self, receiver: BatchReceiver) -> Iterator[Judged]:
        """The results of each batch, suite by suite; grouped parts come last in their suite."""
        suite, count = 0, 0
        parts: list[TracePart] = []
        for batch, found in self._judge_in_order(self._plan.batches(), receiver):
            if batch.suite != suite:
                yield from self._judge_grouped(suite, parts, count, receiver)
                suite, count, parts = batch.suite, 0, []
            count += 1
            parts += found.parts
            if found.is_judged:
                yield batch, found
        yield from self._judge_grouped(suite, parts, count, receiver)

    def _judge_grouped(
        self, suite: int, parts: list[TracePart], first: int, receiver: BatchReceiver
    ) -> Iterator[Judged]:
        """The results for grouped parts, once all files of a suite were read."""
        for batch, found in self._judge_in_order(self._plan.group_batches(suite, parts, first), receiver):
            if found.is_judged:
                yield batch, found

    def _judge_in_order(self, batches: Iterable[NumberedBatch], receiver: BatchReceiver) -> Iterator[Judged]:
        waiting: deque[tuple[NumberedBatch, PendingResult | None]] = deque()
        for batch in batches:
            judges, files = receiver.has(batch), batch.batch
            crosses = judges and receiver.wants_crossed(batch.suite)
            task = BatchTask(batch.suite, files, judges and not receiver.is_full, crosses, judges)
            may_have_parts = files.line_range is None and not files.groups
            ticket = self._engine.submit(task) if judges or may_have_parts else None
            waiting.append((batch, ticket))
            if len(waiting) >= self._window:
                yield from self._next_result(waiting)
        while waiting:
            yield from self._next_result(waiting)

    def _next_result(self, waiting: deque[tuple[NumberedBatch, PendingResult | None]]) -> Iterator[Judged]:
        batch, ticket = waiting.popleft()
        if ticket is None:
            yield batch, JudgedBatch()
        else:
            yield batch, require_judged(ticket())
