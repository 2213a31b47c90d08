"""What changed rules mean for a run: the causes of its changes, and what the gate requires less."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from evalgate.application.comparison.baseline import needs_baseline_checks
from evalgate.application.comparison.baseline_rules import list_base_checks, list_checks, load_baseline_rules
from evalgate.application.evaluation.evaluate import TraceChoice
from evalgate.models.comparison.comparison import list_scenarios
from evalgate.models.run.run import RUN_FAILED
from evalgate.models.run.trials import filter_by_status, summarize

if TYPE_CHECKING:
    from evalgate.application.comparison.baseline import LoadedBaseline
    from evalgate.application.comparison.baseline_rules import BaselineRules
    from evalgate.application.comparison.hidden_failures import HiddenFailures
    from evalgate.application.comparison.policies import JudgedRun
    from evalgate.application.comparison.weakening import WeakeningRules
    from evalgate.application.evaluation.cross_scorer import CrossScorer
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.errors import Problem
    from evalgate.models.approvals.approval import Approvals
    from evalgate.models.comparison.comparison import Comparison, ScenarioKey
    from evalgate.models.comparison.weakening import WeakeningList
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.run.run import Run
    from evalgate.ports import BaselineFiles, PriceTable, TraceArchive
    from evalgate.suite.models import Configuration
    from evalgate.suite.policy import Policies


NO_FILES = "the run was put together from shards, which hold no raw files"


class RuleSources(NamedTuple):
    """Reads baselines, and reads and prices the traces in them."""

    files: BaselineFiles
    traces: TraceArchive
    prices: PriceTable | None


class ChangedRules(Struct, frozen=True):
    """The rules of the baseline and of today; no `cross_scorer` if nothing is judged by both.

    `results` are the baseline's, `choice` is which traces are read.
    """

    configuration: Configuration
    sources: RuleSources
    choice: TraceChoice
    results: BaselineRun | None = None
    baseline_rules: BaselineRules | None = None
    cross_scorer: CrossScorer | None = None

    def read_again(self, run: Run, *, has_files: bool) -> None:
        """Reads the files of suites whose reading changed as the baseline did, unless the run has none."""
        if self.cross_scorer is None:
            return
        self.cross_scorer.leave_out_prices(run)
        if not has_files:
            self.cross_scorer.give_up(NO_FILES)
        self.cross_scorer.read_again(self.choice.resolve_for_suite, self.sources.traces, self.sources.prices)

    def assign_causes(
        self, run: Run, baseline: LoadedBaseline, comparison: Comparison | None, policies: Policies
    ) -> None:
        """Adds to each change whether it comes from the agent, its model or tools, or changed rules."""
        if comparison is None or baseline.results is None or baseline.info is None:
            return
        from evalgate.gate.trajectory.cause import name_agent_causes

        failed = _list_failed_runs(run, comparison)
        if (failed or self.cross_scorer is not None) and baseline.info.path is not None:
            from evalgate.application.comparison.causes import StoredBaseline, add_causes, add_causes_of_errors

            stored = StoredBaseline(baseline.results, baseline.info.path, *self.sources)
            if self.cross_scorer is not None:
                add_causes(comparison, run, self.cross_scorer, policies, stored)
            add_causes_of_errors(comparison, failed, stored)
        name_agent_causes(comparison.changes.values())
        self._name_added_checks(run, comparison)

    def _name_added_checks(self, run: Run, comparison: Comparison) -> None:
        """Adds to each scenario that fails the names of its failed checks that the baseline's suite lacks."""
        if self.baseline_rules is None or self.baseline_rules.is_same:
            return
        for key, scenario in list_scenarios(run.suites):
            change = comparison.changes.get(key)
            if change is None or change.kind == "new" or scenario.verdict == "PASS":
                continue
            known = {each.digest for each in list_base_checks(self.baseline_rules, key) or ()}
            failed = {each.digest for trial in scenario.trials for each in summarize(trial).failed}
            checks = list_checks(self.configuration, key) or ()
            change.added_checks = [each.name for each in checks if known and each.digest in failed - known]

    def find_weakenings(
        self,
        request: JudgeRequest,
        baseline: LoadedBaseline,
        judged: JudgedRun,
        approvals: Approvals,
    ) -> WeakeningList | None:
        """What is required less than when the baseline was made; None without a baseline."""
        comparison = judged.comparison
        if self.baseline_rules is None or comparison is None or baseline.results is None:
            return None
        from evalgate.application.comparison.weakening import (
            WeakeningRules,
            added_approvals,
            find_other_traces,
            judge_weakening,
            list_milder_inputs,
        )

        rules = WeakeningRules(
            judged.policies,
            self.baseline_rules.configuration,
            on_weakening=request.rules.on_weakening,
            has_fail_on=request.rules.fail_on is not None,
        )
        hidden = self._find_hidden_failures(rules, judged)
        added = [*hidden.weakenings, *added_approvals(approvals, baseline.results)]
        notes = [*hidden.notes]
        before, now = baseline.results.inputs, request.inputs
        if before is not None and now is not None:
            added += find_other_traces(before, now)
            notes += list_milder_inputs(before, now, rules)
        found = judge_weakening(rules, self.baseline_rules, self.configuration, comparison, baseline.results, added)
        found = found._replace(notes=notes)
        is_bare = self.baseline_rules.configuration is None and baseline.has_same_suites is None
        if is_bare and not rules.is_fatal:
            return found._replace(unknown=None)  # a results.json never holds suites; no policy needs them
        return found

    def _find_hidden_failures(self, rules: WeakeningRules, judged: JudgedRun) -> HiddenFailures:
        """What fails by the baseline's rules only; without verdicts by both, every changed reading may hide it."""
        from evalgate.application.comparison.hidden_failures import (
            HiddenFailures,
            OldRules,
            find_hidden_failures,
            list_unchecked_readings,
        )

        known = self.baseline_rules
        if known is None or known.configuration is None or known.is_same or self.results is None:
            return HiddenFailures()
        if self.cross_scorer is None:
            return HiddenFailures(list_unchecked_readings(known.configuration, self.configuration, self.choice))
        words = {name: rules.fail_on_words(name) for name in judged.policies.suites}
        old = OldRules(known.configuration, self.results, self.sources.prices, self.cross_scorer, words)
        return find_hidden_failures(judged, old)


def _list_failed_runs(run: Run, comparison: Comparison) -> list[ScenarioKey]:
    """The scenarios that got worse and have a trial that failed because its run ended in an error."""
    return [
        key
        for key, scenario in list_scenarios(run.suites)
        if key in comparison.changes
        and comparison.changes[key].kind in ("broken", "regressed")
        and any(
            each.type == RUN_FAILED
            for trial in filter_by_status(scenario.trials, "hard_fail")
            for each in summarize(trial).failed
        )
    ]


def list_weakening_problems(weakenings: WeakeningList | None) -> list[Problem]:
    """Warnings to show next to the list of weakenings."""
    if weakenings is None:
        return []
    from evalgate.application.comparison.weakening import weakening_problems

    return list(weakening_problems(weakenings))


def _load_for_rules(
    run: BaselineRun, baseline: LoadedBaseline, configuration: Configuration, sources: RuleSources
) -> BaselineRun:
    """The baseline as its own rules need it, which may read more of it than today's."""
    path = None if baseline.info is None else baseline.info.path
    if run.document is not None or path is None or not needs_baseline_checks(configuration):
        return run
    return sources.files.load_run(path, whole=True).run


def find_changed_rules(
    configuration: Configuration,
    baseline: LoadedBaseline,
    sources: RuleSources,
    request: JudgeRequest,
    *,
    cross_scores: bool = True,
) -> ChangedRules:
    """The rules on both sides, as far as the baseline holds its own.

    Without `cross_scores`, because the baseline's rules decide, nothing is judged by both.
    """
    choice = TraceChoice(request.sources.traces, request.sources.form)
    baseline_rules = load_baseline_rules(baseline, configuration, sources.files)
    cross_scorer = None
    if (
        cross_scores
        and baseline_rules is not None
        and baseline_rules.configuration is not None
        and not baseline_rules.is_same
    ):
        from evalgate.application.comparison.cross_scoring import make_cross_scorer

        if baseline.results is not None and baseline.has_same_versions:
            baseline_run = _load_for_rules(baseline.results, baseline, baseline_rules.configuration, sources)
            cross_scorer = make_cross_scorer(baseline_rules.configuration, configuration, baseline_run, choice)
    return ChangedRules(configuration, sources, choice, baseline.results, baseline_rules, cross_scorer)
