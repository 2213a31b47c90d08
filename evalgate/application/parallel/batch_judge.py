"""What a worker does: judges the traces of one batch, independently of other batches."""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.application.evaluation.pricing import Pricer
from evalgate.application.evaluation.scenario_matcher import ScenarioMatcher
from evalgate.application.evaluation.trace_evaluation import (
    damaged_trial,
    judge_trace,
    ref_of,
    require_match,
    resolve_scenario_id,
)
from evalgate.application.evaluation.trace_warnings import WarningCollector
from evalgate.application.evaluation.trajectories import is_worse
from evalgate.application.evaluation.trial_batch import TrialBatchWriter
from evalgate.application.evaluation.trial_result_cache import TrialResultCache
from evalgate.application.parallel.worker_codec import WorkerEncoder
from evalgate.errors import InvalidInput
from evalgate.gate.trajectory.trial_pairs import trial_sort_key
from evalgate.measures.redaction.redact import add_project_secrets, get_project_secrets
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.run import TraceRef
from evalgate.models.run.trial_record import TrialEncoder, encode_summary
from evalgate.models.trace.trace import DamagedTrace, Trace
from evalgate.reporting.results.clean_values import clean_evidence, clean_name
from evalgate.reporting.results.trial_doc import encode_trial

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.application.evaluation.baseline_scenarios import BaselineScenario, BaselineScenarios
    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.application.evaluation.scenario_matcher import ScenarioCandidate
    from evalgate.models.run.run import TrialResult
    from evalgate.models.run.trial_record import TrialRecord
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports.batches import Batch, BatchSource, TracePart
    from evalgate.suite.models import Configuration, CustomMapping, Suite

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
        encode_line: Callable[[Trace], bytes],
        *,
        encodes: bool = True,
    ) -> None:
        crossed = {} if choice.cross_scorer is None else choice.cross_scorer.pairs
        self._source, self._encode_line = source, encode_line
        self._hidden = get_project_secrets()
        self._setups = [
            _JudgeSetup(
                Pricer(suite.prices, choice.prices),
                choice.resolve_for_suite(suite)[2],
                _SuiteJudge(suite, choice.baseline, encodes=encodes, is_watched=True),
                _SuiteJudge(crossed[suite.name].suite, choice.baseline, encodes=encodes)
                if suite.name in crossed
                else None,
            )
            for suite in configuration.suites
        ]

    def __call__(self, task: BatchTask) -> bytes:
        """The results, for `marshal`; a refusal is an answer too."""
        if self._hidden is not None:
            add_project_secrets(self._hidden)
        try:
            found = self._judge_batch(task)
        except InvalidInput as error:
            problems = [(each.message, _plain(each.location), each.hint) for each in error.problems]
            return marshal.dumps({"refused": error.code, "problems": problems})
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  (the waiting process reports the bug)
            return marshal.dumps({"bug": (type(error).__name__, [_error_location(error)])})
        return _dump_found(found)

    def _judge_batch(self, task: BatchTask) -> dict[str, Any]:
        setup = self._setups[task.suite]
        if not task.judges:
            parts = self._source.find_parts(task.batch, setup.form)
            return {"parts": list(map(_part_row, parts)), "judged": False}
        batch = self._source.open_batch(task.batch, setup.form)
        encoder, warnings = WorkerEncoder(), WarningCollector(most=None)
        records = _Records()
        lines: list[bytes] = []
        setup.judge.begin()
        for record in batch:
            setup.judge_one(record, encoder, records, task)
            if isinstance(record, Trace):
                if task.keeps:
                    lines.append(self._encode_line(record))
                warnings.add(record)
                warnings.add_pricing(record)
        counts, unpriced = warnings.count_messages()
        return {
            "records": records.rows(),
            "checks": encoder.checks,
            "calls": encoder.calls,
            "warnings": counts,
            "unpriced": unpriced,
            "parts": list(map(_part_row, batch.parts)),
            "lines": lines if task.keeps else None,
            "size": batch.size,
            "judged": True,
        }


class _JudgeSetup(NamedTuple):
    """Judges the traces of one suite; `crossed` by the rules of the baseline, if they differ."""

    pricer: Pricer
    form: str | CustomMapping
    judge: _SuiteJudge
    crossed: _SuiteJudge | None

    def judge_one(self, record: TraceRecord, encoder: WorkerEncoder, records: _Records, task: BatchTask) -> None:
        """Judges a record; its trial joins a batch of encoded trials if nothing else is to be reported."""
        if isinstance(record, Trace):
            self.pricer.price(record)
        is_alone, own_id = self.crossed is None and not task.keeps and not task.crosses, record.scenario_id
        if is_alone and isinstance(record, Trace) and self.judge.add_trial(record, records):
            return
        record.scenario_id = own_id
        records.add(self.row(record, encoder, crosses=task.crosses))

    def row(self, record: TraceRecord, encoder: WorkerEncoder, *, crosses: bool) -> Row:
        own_id = record.scenario_id
        judged, again = self.judge.judge(record, encoder), None
        if crosses and self.crossed is not None:
            given = record.scenario_id
            record.scenario_id = own_id
            again = self.crossed.judge(record, encoder)
            record.scenario_id = given
        if isinstance(record, Trace):
            return (encoder.ref(ref_of(record)), record.trial, record.started_at), judged, again
        source = record.source
        bare = TraceRef(None, source.path, source.format, source.sha256, source.line, source.record)
        return (encoder.ref(bare), record.trial, None), judged, again


class _SuiteJudge:
    """Judges records by one suite, each under every candidate scenario."""

    def __init__(self, suite: Suite, baseline: BaselineScenarios, *, encodes: bool, is_watched: bool = False) -> None:
        self._suite, self._baseline, self._is_watched = suite, baseline, is_watched
        self._matcher = ScenarioMatcher(suite)
        self._encoder = TrialEncoder(encode_trial, clean_name) if encodes else None
        self._cache = TrialResultCache()
        self._worst: dict[ScenarioKey, tuple[bool, float]] = {}

    def begin(self) -> None:
        """Forgets earlier batches."""
        self._worst = {}

    def add_trial(self, trace: Trace, records: _Records) -> bool:
        """Adds the trial of a trace to the batch of trials; False if the trace needs a separate row."""
        if self._encoder is None or not self._matcher.ids_decide:
            return False
        seen, scenario_id = resolve_scenario_id(self._suite, trace)
        claim = None if isinstance(seen, DamagedTrace) else self._matcher.claim(seen, scenario_id)
        if claim is None or claim.scenario.golden is not None:
            return False
        if claim.group is None:
            key = ScenarioKey(self._suite.name, claim.id, claim.variant)
            claim.group = key, self._baseline.find_scenario(key)
        key, trace.baseline = claim.group
        trial = judge_trace(trace, claim, self._cache)
        if self._may_be_worst(key, trial, trace.baseline):
            return False
        trace.kept_view = None
        records.add_trial((claim.index, scenario_id), self._encoder(trial), trace)
        return True

    def judge(self, record: TraceRecord, encoder: WorkerEncoder) -> Row:
        """The record's scenario id in this suite, its damage, and its candidate results."""
        seen, scenario_id = resolve_scenario_id(self._suite, record)
        seen = require_match(self._matcher, seen, scenario_id)
        candidates = self._matcher.candidates(seen, scenario_id)
        if isinstance(seen, DamagedTrace):
            if isinstance(record, Trace):
                record.kept_view = None
            damage = seen.fallback_id, seen.trial, encoder.trial(damaged_trial(seen))
            return scenario_id, damage, [(tuple(each), None, None) for each in candidates]
        is_sure = len(candidates) == 1
        options = [self._judge_candidate(seen, each, scenario_id, encoder, is_sure=is_sure) for each in candidates]
        seen.kept_view = None
        return scenario_id, None, options

    def _judge_candidate(
        self,
        trace: Trace,
        candidate: ScenarioCandidate,
        scenario_id: str | None,
        encoder: WorkerEncoder,
        *,
        is_sure: bool,
    ) -> Row:
        if candidate.scenario is None:
            return tuple(candidate), None, None
        claim = self._matcher.make_claim(candidate.scenario, scenario_id)
        key = ScenarioKey(self._suite.name, claim.id, claim.variant)
        trace.baseline = self._baseline.find_scenario(key)
        trial = judge_trace(trace, claim, self._cache)
        trajectory = None
        if self._may_be_worst(key, trial, trace.baseline):
            from evalgate.gate.trajectory.trajectory_diff import trajectory_from_trace

            trajectory = encoder.trajectory(trajectory_from_trace(trace))
            if is_sure:
                self._worst[key] = trial_sort_key(trial.status, trial.score)
        if self._encoder is None or claim.scenario.golden is not None:
            return tuple(candidate), encoder.trial(trial), trajectory
        return tuple(candidate), _plain_row(self._encoder(trial)), trajectory

    def _may_be_worst(self, key: ScenarioKey, trial: TrialResult, baseline: BaselineScenario | None) -> bool:
        """Whether the trial did worse than the baseline and may be the worst in this batch."""
        if not self._is_watched or baseline is None or not is_worse(trial, baseline):
            return False
        return key not in self._worst or trial_sort_key(trial.status, trial.score) < self._worst[key]


class _Records:
    """The results of a batch, in order: batches of encoded trials, and records with separate rows."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._batch: TrialBatchWriter | None = None

    def add(self, row: Row) -> None:
        self._end()
        self._rows.append(row)

    def add_trial(self, scenario: tuple[int, str | None], trial: TrialRecord, trace: Trace) -> None:
        """Adds a trial to the current batch of trials."""
        if self._batch is None:
            self._batch = TrialBatchWriter()
        self._batch.add(scenario, trial, trace.trial, trace.started_at)

    def rows(self) -> list[Row]:
        self._end()
        return self._rows

    def _end(self) -> None:
        if self._batch is not None:
            self._rows.append(self._batch.row())
            self._batch = None


def _plain_row(trial: TrialRecord) -> Row:
    """The trial as `marshal` accepts it."""
    return trial.document, encode_summary(trial.summary), *trial[2:]


def _part_row(part: TracePart) -> Row:
    return tuple(part.file), part.format, sorted(part.keys), part.size, part.sha256, part.is_heading


def _plain(location: Sequence[Any] | None) -> Row | None:
    return None if location is None else tuple(location)


def _error_location(error: BaseException) -> str:
    """Where in EvalGate's code the error was raised; without its message, which may quote untrusted text."""
    where, place = "unknown", error.__traceback__
    while place is not None:
        name = str(place.tb_frame.f_globals.get("__name__", ""))
        if name.startswith("evalgate"):
            where = f"{name}:{place.tb_lineno}"
        place = place.tb_next
    return where


def _dump_found(found: dict[str, Any]) -> bytes:
    try:
        return marshal.dumps(found)
    except ValueError:  # evidence of a plugin evaluator that is no plain value: kept as text
        found["checks"] = [_with_plain_evidence(row) for row in found["checks"]]
        return marshal.dumps(found)


def _with_plain_evidence(row: list[Any]) -> list[Any]:
    return [clean_evidence(value) if isinstance(value, dict) else value for value in row]
