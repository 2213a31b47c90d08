"""What a worker does: judges the traces of one batch, independently of other batches."""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.application.evaluation.pricing import Pricer
from evalgate.application.evaluation.scenario_matcher import ScenarioMatcher
from evalgate.application.evaluation.trace_evaluation import damaged_trial, judge_trace, named, ref_of
from evalgate.application.evaluation.trace_warnings import Warnings
from evalgate.application.evaluation.trajectories import is_worse
from evalgate.application.evaluation.trial_batch import TrialBatchWriter
from evalgate.application.evaluation.trial_result_cache import TrialResultCache
from evalgate.application.parallel.worker_codec import WorkerEncoder
from evalgate.errors import InvalidInput
from evalgate.gate.trajectory.trial_pairs import rank
from evalgate.measures.redaction.redact import also_hidden, hide_too
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.run import TraceRef
from evalgate.models.run.trial_record import TrialEncoder, plain
from evalgate.models.trace.trace import DamagedTrace, Trace
from evalgate.reporting.results.bounded import bounded_evidence, bounded_name
from evalgate.reporting.results.trial_doc import trial_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.application.evaluation.baseline_scenarios import BaselineScenario, BaselineScenarios
    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.application.evaluation.scenario_matcher import ScenarioCandidate
    from evalgate.models.run.run import TrialResult
    from evalgate.models.run.trial_record import TrialRecord
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports.batches import Batch, BatchSource, PartOfTrace
    from evalgate.suite.custom_format import Custom
    from evalgate.suite.models import Configuration, Suite

    Row = tuple[Any, ...]


class BatchTask(NamedTuple):
    """One batch for one suite; whether to keep its traces for a baseline and judge them by its rules too."""

    suite: int
    batch: Batch
    keeps: bool = False
    crosses: bool = False
    judges: bool = True  # else only find the files that hold parts of traces


class BatchJudge:
    """Judges batches; built once per run, then sent or forked to the workers.

    `encode_line` encodes a trace for a baseline. With `encodes` the documents of trials are rendered here
    too; those of an untrusted worker would have to be checked field by field.
    """

    def __init__(
        self,
        configuration: Configuration,
        choice: TraceChoice,
        source: BatchSource,
        line_of: Callable[[Trace], bytes],
        *,
        tells: bool = True,
    ) -> None:
        crossed = {} if choice.crossing is None else choice.crossing.pairs
        self._source, self._line_of = source, line_of
        self._hidden = also_hidden()
        self._benches = [
            _Bench(
                Pricer(suite.prices, choice.prices),
                choice.of(suite)[2],
                _SuiteJudge(suite, choice.earlier, tells=tells, is_watched=True),
                _SuiteJudge(crossed[suite.name].suite, choice.earlier, tells=tells)
                if suite.name in crossed
                else None,
            )
            for suite in configuration.suites
        ]

    def __call__(self, task: BatchTask) -> bytes:
        """The results, for `marshal`; a refusal is an answer too."""
        if self._hidden is not None:
            hide_too(self._hidden)
        try:
            found = self._judged(task)
        except InvalidInput as error:
            problems = [(each.message, _plain(each.location), each.hint) for each in error.problems]
            return marshal.dumps({"refused": error.code, "problems": problems})
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  (the waiting process reports the bug)
            return marshal.dumps({"bug": (type(error).__name__, [_place(error)])})
        return _dumped(found)

    def _judged(self, task: BatchTask) -> dict[str, Any]:
        bench = self._benches[task.suite]
        if not task.judges:
            parts = self._source.parts(task.batch, bench.form)
            return {"parts": list(map(_part_row, parts)), "judged": False}
        batch = self._source.open_batch(task.batch, bench.form)
        packer, warnings = WorkerEncoder(), Warnings(most=None)
        records = _Records()
        lines: list[bytes] = []
        bench.judge.begin()
        for record in batch:
            bench.judge_one(record, packer, records, task)
            if isinstance(record, Trace):
                if task.keeps:
                    lines.append(self._line_of(record))
                warnings.add(record)
                warnings.add_pricing(record)
        told, unpriced = warnings.counted()
        return {
            "records": records.rows(),
            "checks": packer.checks,
            "calls": packer.calls,
            "warnings": told,
            "unpriced": unpriced,
            "parts": list(map(_part_row, batch.parts)),
            "lines": lines if task.keeps else None,
            "size": batch.size,
            "judged": True,
        }


class _Bench(NamedTuple):
    """Judges the traces of one suite; `crossed` by the rules of the baseline, if they differ."""

    pricer: Pricer
    form: str | Custom
    judge: _SuiteJudge
    crossed: _SuiteJudge | None

    def judge_one(
        self, record: TraceRecord, packer: WorkerEncoder, records: _Records, task: BatchTask
    ) -> None:
        """Judges a record; its trial joins a batch of encoded trials if nothing else is to be reported."""
        if isinstance(record, Trace):
            self.pricer.price(record)
        is_alone, own_id = self.crossed is None and not task.keeps and not task.crosses, record.scenario_id
        if is_alone and isinstance(record, Trace) and self.judge.tell(record, records):
            return
        record.scenario_id = own_id
        records.add(self.row(record, packer, crosses=task.crosses))

    def row(self, record: TraceRecord, packer: WorkerEncoder, *, crosses: bool) -> Row:
        own_id = record.scenario_id
        judged, again = self.judge.judged(record, packer), None
        if crosses and self.crossed is not None:
            given = record.scenario_id
            record.scenario_id = own_id
            again = self.crossed.judged(record, packer)
            record.scenario_id = given
        if isinstance(record, Trace):
            return (packer.ref(ref_of(record)), record.trial, record.started_at), judged, again
        source = record.source
        bare = TraceRef(None, source.path, source.format, source.sha256, source.line, source.record)
        return (packer.ref(bare), record.trial, None), judged, again


class _SuiteJudge:
    """Judges records by one suite, each under every candidate scenario."""

    def __init__(
        self, suite: Suite, earlier: BaselineScenarios, *, tells: bool, is_watched: bool = False
    ) -> None:
        self._suite, self._earlier, self._is_watched = suite, earlier, is_watched
        self._claims = ScenarioMatcher(suite)
        self._tell = TrialEncoder(trial_line, bounded_name) if tells else None
        self._known = TrialResultCache()
        self._worst: dict[ScenarioKey, tuple[bool, float]] = {}

    def begin(self) -> None:
        """Forgets earlier batches."""
        self._worst = {}

    def tell(self, trace: Trace, records: _Records) -> bool:
        """Adds the trial of a trace to the batch of trials; False if the trace needs a separate row."""
        if self._tell is None or not self._claims.ids_decide:
            return False
        seen, scenario_id = named(self._suite, trace)
        claim = None if isinstance(seen, DamagedTrace) else self._claims.claim(seen, scenario_id)
        if claim is None or claim.scenario.golden is not None:
            return False
        if claim.group is None:
            key = ScenarioKey(self._suite.name, claim.id, claim.variant)
            claim.group = key, self._earlier.of(key)
        key, trace.baseline = claim.group
        trial = judge_trace(trace, claim, self._known)
        if self._may_be_worst(key, trial, trace.baseline):
            return False
        trace.kept_view = None
        records.tell((claim.place, scenario_id), self._tell(trial), trace)
        return True

    def judged(self, record: TraceRecord, packer: WorkerEncoder) -> Row:
        """The record's scenario id in this suite, its damage, and its candidate results."""
        seen, scenario_id = named(self._suite, record)
        candidates = self._claims.candidates(seen, scenario_id)
        if isinstance(seen, DamagedTrace):
            if isinstance(record, Trace):
                record.kept_view = None
            damage = seen.fallback_id, seen.trial, packer.trial(damaged_trial(seen))
            return scenario_id, damage, [(tuple(each), None, None) for each in candidates]
        is_sure = len(candidates) == 1
        options = [self._option(seen, each, scenario_id, packer, is_sure=is_sure) for each in candidates]
        seen.kept_view = None
        return scenario_id, None, options

    def _option(
        self,
        trace: Trace,
        candidate: ScenarioCandidate,
        scenario_id: str | None,
        packer: WorkerEncoder,
        *,
        is_sure: bool,
    ) -> Row:
        if candidate.scenario is None:
            return tuple(candidate), None, None
        claim = self._claims.made(candidate.scenario, scenario_id)
        key = ScenarioKey(self._suite.name, claim.id, claim.variant)
        trace.baseline = self._earlier.of(key)
        trial = judge_trace(trace, claim, self._known)
        course = None
        if self._may_be_worst(key, trial, trace.baseline):
            from evalgate.gate.trajectory.trajectories import course_of

            course = packer.course(course_of(trace))
            if is_sure:
                self._worst[key] = rank(trial.status, trial.score)
        if self._tell is None or trial.golden is not None:
            return tuple(candidate), packer.trial(trial), course
        return tuple(candidate), _plain_row(self._tell(trial)), course

    def _may_be_worst(self, key: ScenarioKey, trial: TrialResult, before: BaselineScenario | None) -> bool:
        """Whether the trial did worse than the baseline and may be the worst in this batch."""
        if not self._is_watched or before is None or not is_worse(trial, before):
            return False
        return key not in self._worst or rank(trial.status, trial.score) < self._worst[key]


class _Records:
    """The results of a batch, in order: batches of encoded trials, and records with separate rows."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._block: TrialBatchWriter | None = None

    def add(self, row: Row) -> None:
        self._end()
        self._rows.append(row)

    def tell(self, scenario: tuple[int, str | None], told: TrialRecord, trace: Trace) -> None:
        """Adds a trial to the current batch of trials."""
        if self._block is None:
            self._block = TrialBatchWriter()
        self._block.add(scenario, told, trace.trial, trace.started_at)

    def rows(self) -> list[Row]:
        self._end()
        return self._rows

    def _end(self) -> None:
        if self._block is not None:
            self._rows.append(self._block.row())
            self._block = None


def _plain_row(told: TrialRecord) -> Row:
    """The trial as `marshal` accepts it."""
    return told.document, plain(told.checked), *told[2:]


def _part_row(part: PartOfTrace) -> Row:
    return tuple(part.file), part.format, sorted(part.keys), part.size, part.sha256, part.is_heading


def _plain(location: Sequence[Any] | None) -> Row | None:
    return None if location is None else tuple(location)


def _place(error: BaseException) -> str:
    """Where in EvalGate's code the error was raised; without its message, which may quote untrusted text."""
    where, place = "unknown", error.__traceback__
    while place is not None:
        name = str(place.tb_frame.f_globals.get("__name__", ""))
        if name.startswith("evalgate"):
            where = f"{name}:{place.tb_lineno}"
        place = place.tb_next
    return where


def _dumped(found: dict[str, Any]) -> bytes:
    try:
        return marshal.dumps(found)
    except ValueError:  # evidence of a plugin evaluator that is no plain value: kept as text
        found["checks"] = [_with_plain_evidence(row) for row in found["checks"]]
        return marshal.dumps(found)


def _with_plain_evidence(row: list[Any]) -> list[Any]:
    return [bounded_evidence(value) if isinstance(value, dict) else value for value in row]
