"""Compares how many small changes the suites of a run notice with how many those of its baseline do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.features.learn.application.mutation.score import MutationRun
from evalgate.models.mutation import SuiteMutations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.models.mutation import Tally
    from evalgate.ports import Progress, TraceSource
    from evalgate.suite.models import Configuration, Suite

MAX_SUITES = 20
MAX_CHANGES = 2_000
"""Changes tried with one suite: the judge has a minute for the whole run."""


class SuiteComparer:
    """Tries small changes on the run's traces, by suites that differ from the baseline's and by those."""

    def __init__(self, traces: TraceSource, choice: TraceChoice, progress: Progress) -> None:
        self._traces, self._choice, self._progress = traces, choice, progress

    def compare(self, configuration: Configuration, baseline: Configuration) -> Sequence[SuiteMutations]:
        """The scores of each suite that changed, at most MAX_SUITES; one that is new has none in the baseline."""
        suites = {suite.name: suite for suite in baseline.suites}
        changed = [suite for suite in configuration.suites if _differs(suite, suites.get(suite.name))]
        return [self._compare_suite(suite, suites.get(suite.name)) for suite in changed[:MAX_SUITES]]

    def _compare_suite(self, suite: Suite, other: Suite | None) -> SuiteMutations:
        return SuiteMutations(suite.name, self._try(suite, suite), None if other is None else self._try(other, suite))

    def _try(self, suite: Suite, reader: Suite) -> Tally:
        """The changes that a suite notices in the traces that another one finds."""
        run = MutationRun([suite], self._choice.prices)
        run.add_traces(0, self._traces.read(*self._choice.resolve_for_suite(reader)), self._progress)
        run.choose(MAX_CHANGES)
        return run.try_changes(None, self._progress).total


def _differs(suite: Suite, other: Suite | None) -> bool:
    return other is None or suite.content != other.content
