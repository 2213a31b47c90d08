"""What changed rules mean for a run: the causes of its changes, and what the gate demands less."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.comparison.baseline_rules import earlier_rules
from evalgate.application.comparison.rules import sees_checks
from evalgate.records import dataclass

if TYPE_CHECKING:
    from evalgate.application.comparison.baseline import LoadedBaseline
    from evalgate.application.comparison.baseline_rules import BaselineRules
    from evalgate.application.comparison.policies import Policies
    from evalgate.application.evaluation.cross_scorer import CrossScorer
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.errors import Problem
    from evalgate.models.approvals.approval import Approvals
    from evalgate.models.comparison.baseline_run import BaselineRun
    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.comparison.weakening import Weakenings
    from evalgate.models.run.run import Run
    from evalgate.ports import BaselineFiles, PriceTable, TraceArchive
    from evalgate.suite.models import Configuration


class RuleSources(NamedTuple):
    """Reads baselines, and reads and prices the traces they keep."""

    files: BaselineFiles
    traces: TraceArchive
    prices: PriceTable | None


@dataclass(frozen=True, slots=True)
class ChangedRules:
    """The rules of the baseline and of today; no `cross_scorer` if one side's are unavailable."""

    configuration: Configuration
    shelf: RuleSources
    earlier: BaselineRules | None = None
    crossing: CrossScorer | None = None

    def tell_causes(
        self, run: Run, known: LoadedBaseline, comparison: Comparison | None, policies: Policies
    ) -> None:
        """Adds to each change whether it comes from the agent or from changed rules."""
        if comparison is None or self.crossing is None or known.results is None or known.info is None:
            return
        from evalgate.application.comparison.causes import Stored, add_causes

        if known.info.path is not None:
            stored = Stored(known.results, known.info.path, *self.shelf)
            add_causes(comparison, run, self.crossing, policies, stored)

    def weakenings(
        self,
        request: JudgeRequest,
        known: LoadedBaseline,
        comparison: Comparison | None,
        policies: Policies,
        approvals: Approvals,
    ) -> Weakenings | None:
        """What is demanded less than when the baseline was made; None without a baseline."""
        if self.earlier is None or comparison is None or known.results is None:
            return None
        from evalgate.application.comparison.weakening import WeakeningRules, added_approvals, judge_weakening

        rules = WeakeningRules(
            policies,
            self.earlier.configuration,
            on_weakening=request.on_weakening,
            has_words=request.fail_on is not None,
        )
        added = added_approvals(approvals, known.results)
        found = judge_weakening(rules, self.earlier, self.configuration, comparison, known.results, added)
        is_bare = self.earlier.configuration is None and known.has_same_suites is None
        if is_bare and not rules.is_fatal:
            return found._replace(unknown=None)  # a results.json never keeps suites; no policy needs them
        return found


def remarks(weakenings: Weakenings | None) -> list[Problem]:
    """Warnings to show next to the list of weakenings."""
    if weakenings is None:
        return []
    from evalgate.application.comparison.weakening import remarks_on

    return list(remarks_on(weakenings))


def _seen(before: BaselineRun, known: LoadedBaseline, by: Configuration, shelf: RuleSources) -> BaselineRun:
    """The baseline as its own rules need it, which may read more of it than today's."""
    path = None if known.info is None else known.info.path
    if before.document is not None or path is None or not sees_checks(by):
        return before
    return shelf.files.earlier(path, whole=True).run


def changed_rules(
    configuration: Configuration, known: LoadedBaseline, shelf: RuleSources, *, is_crossing: bool = True
) -> ChangedRules:
    """The rules on both sides, as far as the baseline keeps its own.

    Without `cross_scores`, because the baseline's rules decide, nothing is judged by both.
    """
    earlier = earlier_rules(known, configuration, shelf.files)
    crossing = None
    if is_crossing and earlier is not None and earlier.configuration is not None and not earlier.is_same:
        from evalgate.application.comparison.cross_scoring import make_cross_scorer

        if known.results is not None and known.has_same_versions:
            before = _seen(known.results, known, earlier.configuration, shelf)
            crossing = make_cross_scorer(earlier.configuration, configuration, before)
    return ChangedRules(configuration, shelf, earlier, crossing)
