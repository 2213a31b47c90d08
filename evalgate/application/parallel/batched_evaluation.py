"""Judges traces by workers, batch by batch."""

from __future__ import annotations

import marshal
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from evalgate.application.parallel.batch_judge import BatchTask
from evalgate.application.parallel.batch_merger import BatchMerger
from evalgate.errors import InvalidInput, JudgeCrashed, Location, OverLimit, Problem, RefusedPath, SettingError
from evalgate.ports import FoundFile
from evalgate.ports.batches import TracePart
from evalgate.ports.engines import WorkerLostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.models.run.run import Run
    from evalgate.ports import Progress, TraceSpool
    from evalgate.ports.batches import Batch, BatchSource
    from evalgate.ports.engines import Engine, PendingResult
    from evalgate.suite.models import Configuration

    Found = Mapping[str, Any]

LARGEST, SMALLEST = 4_000_000, 16_000
"""Bytes of a batch: large enough to be worth sending, small enough to spread evenly."""
EACH = 8
"""The least number of batches for each worker, if there is enough to read."""
AHEAD = 3
"""How many batches a worker may be ahead of the merge."""
LOST_HINT = "the traces may need more memory than there is: judge them in one process (--jobs 1) or in shards"
NOT_JUDGED: Found = {"judged": False, "parts": ()}
REFUSALS: Mapping[str, type[InvalidInput]] = {
    each.code: each for each in (InvalidInput, SettingError, RefusedPath, OverLimit)
}


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

    def judge_batches(self, receiver: BatchReceiver) -> Iterator[tuple[NumberedBatch, Found]]:
        """The results of each batch, suite by suite; grouped parts come last in their suite."""
        suite, count = 0, 0
        parts: list[TracePart] = []
        for batch, found in self._judge_in_order(self._plan.batches(), receiver):
            if batch.suite != suite:
                yield from self._judge_grouped(suite, parts, count, receiver)
                suite, count, parts = batch.suite, 0, []
            count += 1
            parts += map(_decode_part, found["parts"])
            if found["judged"]:
                yield batch, found
        yield from self._judge_grouped(suite, parts, count, receiver)

    def _judge_grouped(
        self, suite: int, parts: list[TracePart], first: int, receiver: BatchReceiver
    ) -> Iterator[tuple[NumberedBatch, Found]]:
        """The results for grouped parts, once all files of a suite were read."""
        for batch, found in self._judge_in_order(self._plan.group_batches(suite, parts, first), receiver):
            if found["judged"]:
                yield batch, found

    def _judge_in_order(
        self, batches: Iterable[NumberedBatch], receiver: BatchReceiver
    ) -> Iterator[tuple[NumberedBatch, Found]]:
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

    def _next_result(
        self, waiting: deque[tuple[NumberedBatch, PendingResult | None]]
    ) -> Iterator[tuple[NumberedBatch, Found]]:
        batch, ticket = waiting.popleft()
        if ticket is None:
            yield batch, NOT_JUDGED
            return
        yield batch, decode_answer(ticket.result())


def decode_answer(answer: bytes) -> Found:
    """Decodes a worker's answer; raises its refusal."""
    found: dict[str, Any] = marshal.loads(answer)  # noqa: S302  (a worker process of EvalGate wrote it)
    if "bug" in found:
        raise JudgeCrashed(*found["bug"])
    if "refused" in found:
        problems = [
            Problem(message, None if place is None else Location(*place), hint)
            for message, place, hint in found["problems"]
        ]
        raise REFUSALS.get(found["refused"], InvalidInput)(*problems)
    return found


def _decode_part(row: tuple[Any, ...]) -> TracePart:
    file, form, keys, *rest = row
    return TracePart(FoundFile(*file), form, frozenset(keys), *rest)
