"""The judge: turns a request into finished documents, without network, token or environment.

All untrusted input (suites, traces, baselines) is read here and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.approvals.approvals import approvals_of, rule
from evalgate.application.comparison.baseline import NAME, load_baseline, parts_of
from evalgate.application.comparison.changed_rules import RuleSources, changed_rules, remarks
from evalgate.application.comparison.freshness import judge_freshness, present_of
from evalgate.application.comparison.policies import policies_of
from evalgate.application.comparison.quarantine import check_quarantine, set_apart
from evalgate.application.comparison.rules import rules_of
from evalgate.application.evaluation.baseline_scenarios import BaselineScenarios
from evalgate.application.evaluation.distinct_ids import check_told_ids
from evalgate.application.evaluation.evaluate import TraceChoice
from evalgate.application.evaluation.trace_settings import check_traces
from evalgate.application.evaluation.trajectories import WorstTrialRecorder, add_behaviour
from evalgate.application.judge.report import Findings, incomplete, invalid, report
from evalgate.application.judge.run_evaluation import run_evaluation
from evalgate.application.messages.tools import Tools as Tools  # noqa: PLC0414, TC001  re-exported
from evalgate.errors import (
    InvalidInput,
    Problem,
    RulesMissing,
    RulesUnreachable,
    ShardMissing,
    StoreUnreachable,
)
from evalgate.gate.decision.decide import decide
from evalgate.records import replace

if TYPE_CHECKING:
    from datetime import datetime

    from evalgate.application.comparison.base_branch_rules import DecidingRules
    from evalgate.application.comparison.baseline import LoadedBaseline
    from evalgate.application.comparison.policies import Policies
    from evalgate.application.messages.request import Judgement, JudgeRequest
    from evalgate.models.comparison.baseline_run import BaselineRun
    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.run.run import Run
    from evalgate.ports import BaselineFiles
    from evalgate.suite.models import Configuration


def judge(request: JudgeRequest, tools: Tools) -> Judgement:
    """Evaluates, compares, decides and renders; invalid input gives the verdict `invalid`, exit code 2."""
    now = tools.clock.now()
    try:
        return _judge(request, tools, now)
    except InvalidInput as error:
        return invalid(request, error, now)
    except (RulesMissing, RulesUnreachable, ShardMissing, StoreUnreachable) as error:
        return incomplete(request, error, now)
    finally:
        tools.progress.finish()


def _judge(request: JudgeRequest, tools: Tools, now: datetime) -> Judgement:
    own = tools.suites.load(request.configs)
    base = _rules_of_base(request, own, tools, now)
    configuration = own if base is None else base.configuration
    check_traces(configuration, request, tools.traces)
    check_quarantine(configuration, now.date())
    policies = policies_of(configuration, request.fail_on)
    approvals, doubts = approvals_of(request, tools.suites)
    present = present_of(request, policies, tools.fingerprints, now)
    known = load_baseline(request, tools.baselines, rules_of(configuration), now)
    if tools.shards is not None:
        from evalgate.application.parallel.shard_merge import check_shards

        check_shards(tools.shards, configuration, known, keeps=request.make_baseline_zip)
    if known.results is not None:
        from evalgate.application.comparison.price_comparison import priced_alike

        known = replace(known, results=priced_alike(known.results, configuration, tools.prices))
    target = tools.output.path(NAME)  # fails before the work if the folder can't be written
    spool = tools.baselines.spool() if request.make_baseline_zip else None
    witness, seen = WorstTrialRecorder(), known if base is None else base.known
    rules = changed_rules(own, seen, _shelf(tools), is_crossing=base is None)
    try:
        earlier = BaselineScenarios(known.results)
        choice = TraceChoice(
            *(request.traces, request.form, earlier, tools.prices, witness),
            crossing=rules.crossing,
            shelf=tools.shelf(),
        )
        run = run_evaluation(configuration, tools, choice, spool)
        check_told_ids(run)
        known, comparison = _compared(run, known, policies)
        _settle(configuration, run, comparison, known, policies)
        known = _with_behaviour(run, known, comparison, witness, tools.baselines)
        rules.tell_causes(run, known, comparison, policies)
        weakenings = rules.weakenings(request, known, comparison, policies, approvals)
        judge_freshness(run, policies, present)
        quarantines = set_apart(run, comparison, configuration, now.date())
        rulings = rule(run, comparison, approvals, now.date())
        decision = decide(
            run,
            comparison,
            known.info,
            policies.suites,
            run_policy=policies.run,
            report_only=request.report_only,
            approved=rulings.approved,
            weakenings=weakenings,
        )
        warnings = [*configuration.warnings, *doubts, *known.warnings, *map(Problem, request.notes)]
        warnings += remarks(weakenings)
        findings = Findings(
            *(run, comparison, decision, known, warnings, rulings.told, weakenings),
            quarantines=quarantines,
            rules=base.told if base else None,
        )
        judgement = report(request, findings, now)
        if spool is None:
            return judgement
        content = judgement.files["results.json"]
        parts = parts_of(request, configuration, judgement.results, content, spool)
        said = tools.baselines.write(target, parts)
        return replace(judgement, baseline_zip=target, warnings=[*judgement.warnings, *map(str, said)])
    finally:
        if spool is not None:
            spool.close()


def _rules_of_base(
    request: JudgeRequest, own: Configuration, tools: Tools, now: datetime
) -> DecidingRules | None:
    """The baseline's suites and policy, if the request lets them decide."""
    if not request.by_rules_of_base:
        return None
    from evalgate.application.comparison.base_branch_rules import rules_of_base

    known = load_baseline(request, tools.baselines, rules_of(own), now)
    return rules_of_base(known, own, tools.baselines)


def _shelf(tools: Tools) -> RuleSources:
    return RuleSources(tools.baselines, tools.traces, tools.prices)


def _compared(
    run: Run, known: LoadedBaseline, policies: Policies
) -> tuple[LoadedBaseline, Comparison | None]:
    """The baseline as it was compared, and the comparison."""
    if known.results is None:
        return known, None
    from evalgate.application.comparison.price_comparison import comparable

    results, warnings = comparable(known.results, run)
    run.warnings += warnings
    return replace(known, results=results), compare_runs(run, results, policies)


def _settle(
    configuration: Configuration,
    run: Run,
    comparison: Comparison | None,
    known: LoadedBaseline,
    policies: Policies,
) -> None:
    """Sets the regression status of goldens, if there are any."""
    if any(each.golden is not None for suite in configuration.suites for each in suite.scenarios):
        from evalgate.gate.comparison.golden_changes import settle_goldens

        before = None if known.results is None else known.results.document
        settle_goldens(run, comparison, before, policies.suites)


def _with_behaviour(
    run: Run,
    known: LoadedBaseline,
    comparison: Comparison | None,
    witness: WorstTrialRecorder,
    baselines: BaselineFiles,
) -> LoadedBaseline:
    """Adds trajectory diffs to changes; returns the baseline with warnings about them."""
    if known.results is None or comparison is None or known.info is None or known.info.path is None:
        return known
    lines = baselines.traces(known.info.path)
    said = add_behaviour(comparison, run, known.results, witness, lines)
    return replace(known, warnings=[*known.warnings, *said])


def compare_runs(run: Run, before: BaselineRun, policies: Policies) -> Comparison:
    """Compares a run with the results of a baseline."""
    from evalgate.gate.comparison.compare import compare
    from evalgate.gate.comparison.scenario_outcome import outcomes_of_baseline, outcomes_of_run
    from evalgate.gate.trajectory.trial_pairs import add_calls

    rules = {name: policy.regression for name, policy in policies.suites.items()}
    comparison = compare(outcomes_of_run(run), outcomes_of_baseline(before), rules)
    add_calls(comparison, run, before)
    return comparison
