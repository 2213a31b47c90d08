"""Judges traces batch by batch: what a worker does with one, and how the results become a run."""

from __future__ import annotations

from collections import deque
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from msgspec import Struct

from evalgate.application.evaluation.evaluate import RecordJudge, RunCollector
from evalgate.application.evaluation.trace_warnings import WarningCollector
from evalgate.application.evaluation.trajectories import WorstTrialRecorder
from evalgate.errors import InvalidInput, JudgeCrashed, OverLimit, Problem, RefusedPath, SettingError
from evalgate.measures.redaction.redact import add_project_secrets, get_project_secrets
from evalgate.models.trace.trace import Trace, TraceLocation
from evalgate.ports.batches import WorkerLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.application.evaluation.suite_judge import JudgedRecord
    from evalgate.models.run.run import Run
    from evalgate.models.trace.trace import Warning_
    from evalgate.ports import Progress, TraceSpool
    from evalgate.ports.batches import Batch, BatchSource, Engine, PendingResult, TracePart
    from evalgate.suite.models import Configuration

    Judged = tuple["NumberedBatch", "JudgedBatch"]


REFUSALS: Mapping[str, type[InvalidInput]] = {
    each.code: each for each in (InvalidInput, SettingError, RefusedPath, OverLimit)
}


class BatchTask(NamedTuple):
    """One batch for one suite; whether to keep its traces for a baseline and judge them by its rules too."""

    suite: int
    batch: Batch
    keeps: bool = False
    crosses: bool = False
    judges: bool = True  # else only find the files that hold parts of traces


class JudgedBatch(Struct):
    """What was found in one batch: `lines` are its traces for a baseline (None: not kept), `size` their bytes.

    `warnings` come with the number of traces, `unpriced` counts traces by model; `parts` wait for other files.
    """

    parts: Sequence[TracePart] = ()
    is_judged: bool = False
    records: list[JudgedRecord] = []
    warnings: list[tuple[Warning_, int]] = []
    unpriced: dict[str, int] = {}
    lines: list[bytes] | None = None
    size: int = 0


class BatchRefusal(Struct):
    """Invalid input that ended a batch, or a bug: the class of an exception and where it was raised."""

    code: str = ""
    problems: Sequence[Problem] = ()
    bug: tuple[str, str] | None = None


class BatchJudge:
    """Judges batches; built once per run, then sent or forked to the workers.

    `encode_line` encodes a trace for a baseline.
    """

    def __init__(
        self,
        configuration: Configuration,
        choice: TraceChoice,
        source: BatchSource,
        encode_line: Callable[[Trace], bytes],
    ) -> None:
        self._source, self._encode_line = source, encode_line
        self._hidden = get_project_secrets()
        self._forms = [choice.resolve_for_suite(suite)[2] for suite in configuration.suites]
        self._judges = [RecordJudge(suite, choice) for suite in configuration.suites]

    def __call__(self, task: BatchTask) -> JudgedBatch | BatchRefusal:
        """The results, or why the batch has no results."""
        if self._hidden is not None:
            add_project_secrets(self._hidden)
        try:
            return self._judge_batch(task)
        except InvalidInput as error:
            return BatchRefusal(error.code, error.problems)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  (the waiting process reports the bug)
            return BatchRefusal(bug=(type(error).__name__, _error_location(error)))

    def _judge_batch(self, task: BatchTask) -> JudgedBatch:
        form, judge = self._forms[task.suite], self._judges[task.suite]
        if not task.judges:
            return JudgedBatch(self._source.find_parts(task.batch, form))
        batch, warnings = self._source.open_batch(task.batch, form), WarningCollector(most=None)
        records, lines = [], []
        judge.begin(WorstTrialRecorder())
        for record in batch:
            records.append(judge.judge(record, crosses=task.crosses))
            if isinstance(record, Trace):
                if task.keeps:
                    lines.append(self._encode_line(record))
                warnings.add(record)
                warnings.add_pricing(record)
        counts, unpriced = warnings.count_messages()
        return JudgedBatch(
            batch.parts,
            is_judged=True,
            records=records,
            warnings=counts,
            unpriced=unpriced,
            lines=lines if task.keeps else None,
            size=batch.size,
        )


def require_judged(answer: JudgedBatch | BatchRefusal) -> JudgedBatch:
    """The results of a batch; raises the refusal of a batch without results."""
    if isinstance(answer, JudgedBatch):
        return answer
    if answer.bug is not None:
        kind, place = answer.bug
        raise JudgeCrashed(kind, [place])
    raise REFUSALS.get(answer.code, InvalidInput)(*answer.problems)


def _error_location(error: BaseException) -> str:
    """Where in EvalGate's code the error was raised; without its message, which may quote untrusted text."""
    where, place = "unknown", error.__traceback__
    while place is not None:
        name = str(place.tb_frame.f_globals.get("__name__", ""))
        if name.startswith("evalgate"):
            where = f"{name}:{place.tb_lineno}"
        place = place.tb_next
    return where


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

    def digest_files(self) -> Iterator[tuple[str, str]]:
        """The paths and digests of all files, in the order of the paths."""
        files = {file.path: file for files in self._files for file in files}
        return ((path, self.source.digest(files[path])) for path in sorted(files))

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
