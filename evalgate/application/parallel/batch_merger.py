"""Merges the results of batches into a run, in the order one process would have read them."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

from evalgate.application.evaluation.evaluate import check_scenario_count, note_if_nothing_found
from evalgate.application.evaluation.suite_evaluation import SuiteEvaluation
from evalgate.application.evaluation.trace_warnings import WarningCollector
from evalgate.application.evaluation.trial_batch import TrialBatch, is_trial_batch
from evalgate.application.parallel.worker_codec import WorkerDecoder
from evalgate.errors import OverLimit, Problem
from evalgate.models.run.run import MAX_SCENARIOS, Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.models.run.run import AssertionResult
    from evalgate.ports import Progress, TraceSpool
    from evalgate.suite.models import Configuration

    Found = Mapping[str, Any]


class BatchMerger:
    """Adds the results of batches, suite by suite. The run is byte for byte that of `evaluate`.

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
        self._suites, self._choice = configuration.suites, choice
        self._progress, self._spool = progress, spool
        self._left = most_bytes
        self._most_bytes = most_bytes
        self._warnings = WarningCollector()
        self._run = Run([])
        self._number = -1
        self._shared: dict[bytes, AssertionResult] = {}
        self._evaluation: SuiteEvaluation | None = None

    @property
    def is_full(self) -> bool:
        """Whether no more traces are kept for a baseline."""
        return self._spool is None or self._spool.is_full

    def wants_crossed(self, suite: int) -> bool:
        """Whether traces of a suite are still judged by the baseline's rules as well."""
        cross_scorer = self._choice.cross_scorer
        return cross_scorer is not None and cross_scorer.wants(self._suites[suite])

    def has(self, batch: object) -> bool:  # noqa: ARG002  see batched_evaluation.BatchReceiver
        """Every batch is judged."""
        return True

    def take(self, suite: int, found: Found) -> None:
        """Adds one batch of a suite; batches of earlier suites must not follow."""
        self._advance(suite)
        self._count(found["size"])
        decoder = WorkerDecoder(found["checks"], found["calls"], self._shared)
        kept = _lines(found)
        cross_scorer, evaluation = self._choice.cross_scorer, self._evaluation
        if evaluation is None:
            return
        count = 0
        for each in found["records"]:
            if is_trial_batch(each):
                count += evaluation.take_all(TrialBatch._make(each))
                continue
            count += 1
            row, judged, again = each
            record = decoder.record(row, judged)
            evaluation.take(record)
            if cross_scorer is not None:
                cross_scorer.take(self._suites[suite], None if again is None else decoder.record(row, again))
            if self._spool is not None and row[0][0] is not None:
                self._spool.add_line(record.source, next(kept))
        self._progress.advance("traces", count)
        self._warnings.add_counts(found["warnings"], found["unpriced"])

    def finish_run(self) -> Run:
        """The run, once all batches were added."""
        self._advance(len(self._suites))
        self._run.warnings = self._warnings.list_warnings()
        return self._run

    def _count(self, size: int) -> None:
        if self._left is not None:
            self._left -= size
            if self._left < 0:
                message = f"the traces are larger than {self._most_bytes:,} bytes in total"
                raise OverLimit(Problem(message, None, "raise limit `traces`"))

    def _advance(self, number: int) -> None:
        while self._number < number:
            if self._evaluation is not None:
                self._finish(self._evaluation)
            self._number += 1
            self._evaluation = None
            if self._number < len(self._suites):
                suite = self._suites[self._number]
                self._evaluation = SuiteEvaluation(
                    suite, self._choice.baseline, self._choice.worst_trials, self._choice.trial_spool
                )

    def _finish(self, evaluation: SuiteEvaluation) -> None:
        suite, run = self._suites[self._number], self._run
        if evaluation.overlap is not None:
            self._warnings.add_overlap(evaluation.overlap, suite)
        check_scenario_count(evaluation.count() + sum(len(each.scenarios) for each in run.suites), MAX_SCENARIOS)
        run.suites.append(evaluation.result())
        note_if_nothing_found(run.suites[-1], *self._choice.resolve_for_suite(suite)[:2], self._warnings)
        self._warnings.add_duplicates(run.suites[-1])
        run.unclaimed += evaluation.unclaimed


def _lines(found: Found) -> Iterator[bytes | None]:
    """The lines of the traces for a baseline; None for each if they were not encoded."""
    lines = found["lines"]
    return repeat(None) if lines is None else iter(lines)
