"""The judge: turns a request into finished documents, without network, token or environment.

All untrusted input (suites, traces, baselines) is read here and nowhere else.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from evalgate.application.approvals.approvals import approvals_of, rule_on_approvals
from evalgate.application.comparison.baseline import (
    NAME,
    build_baseline_parts,
    identify_rules,
    list_files,
    load_baseline,
    rules_of,
)
from evalgate.application.comparison.baseline_rules import name_changed_files
from evalgate.application.comparison.changed_rules import RuleSources, find_changed_rules, list_weakening_problems
from evalgate.application.comparison.policies import (
    JudgedRun,
    apply_quarantine,
    check_quarantine,
    compare_variants,
    judge_freshness,
    list_empty_globs,
    policies_of,
    present_of,
    refuse_duplicates,
)
from evalgate.application.documents.report_files import render_outputs
from evalgate.application.documents.trial_store import TrialStore
from evalgate.application.evaluation.behaviours import (
    BehaviourRecorder,
    add_differences,
    add_prompt_changes,
    describe_left_out,
    describe_unrecorded,
    iterate_read,
    keep_unasked_arguments,
)
from evalgate.application.evaluation.evaluate import TraceChoice, evaluate, note_empty_globs
from evalgate.application.evaluation.run_checks import check_ids, check_traces
from evalgate.application.evaluation.scenario_selection import narrow_baseline, narrow_run, resolve_patterns
from evalgate.application.evaluation.trajectories import (
    BaselineScenarios,
    StoredTraces,
    WorstTrialRecorder,
    add_behaviour,
    add_examples,
    iterate_stored,
)
from evalgate.application.judge.report import DecidedRun, render_incomplete, render_invalid, render_judgement
from evalgate.application.messages.request import BaselinePlan
from evalgate.application.messages.request import Tools as Tools  # noqa: PLC0414  re-exported
from evalgate.errors import (
    BaselineUnreadable,
    InvalidInput,
    Problem,
    RulesMissing,
    RulesUnreachable,
    ShardMissing,
    StoreUnreachable,
)
from evalgate.gate.decision.decide import decide, no_traces
from evalgate.gate.decision.failures import count_excused
from evalgate.gate.reach import find_harmless_suites
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.comparison.decision import NOT_KEPT
from evalgate.ports.outputs import KeptTraces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from evalgate.application.comparison.baseline import LoadedBaseline
    from evalgate.application.comparison.baseline_rules import DecidingRules
    from evalgate.application.comparison.changed_rules import ChangedRules
    from evalgate.application.comparison.price_comparison import ComparableCosts
    from evalgate.application.evaluation.behaviours import FindTraces
    from evalgate.application.messages.request import Judgement, JudgeRequest, Tools
    from evalgate.models.approvals.approval import Approvals
    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.mutation import SuiteMutations
    from evalgate.models.results.results import SelectionDoc
    from evalgate.models.run.run import Run
    from evalgate.ports import TraceSpool
    from evalgate.ports.outputs import OutputSource
    from evalgate.suite.models import Configuration
    from evalgate.suite.policy import Policies


def judge(request: JudgeRequest, tools: Tools) -> Judgement:
    """Evaluates, compares, decides and renders; invalid input gives the verdict `invalid`, exit code 2."""
    now = tools.clock.now()
    try:
        return _judge(request, tools, now)
    except InvalidInput as error:
        return render_invalid(request, error, now)
    except BaselineUnreadable as error:
        refused = BaselinePlan(BaselineInfo("refused"), refused=request.baseline.refused)
        request = replace(request, baseline=refused)
        return render_incomplete(request, error, now, tools.load_output)
    except (RulesMissing, RulesUnreachable, ShardMissing, StoreUnreachable) as error:
        return render_incomplete(request, error, now, tools.load_output)
    finally:
        tools.progress.finish()


def _judge(request: JudgeRequest, tools: Tools, now: datetime) -> Judgement:
    own = tools.suites.load(request.sources.configs)
    base = _load_base_rules(request, own, tools, now)
    configuration = own if base is None else base.configuration
    check_traces(configuration, request.sources, tools.traces)
    check_quarantine(configuration, now.date())
    policies = policies_of(configuration, request.rules.fail_on)
    approvals, approval_warnings = approvals_of(request, tools.suites)
    present = present_of(request, policies, tools.fingerprints, now)
    files = list_files(own, request.folder)
    baseline, approvals = _load_baseline(request, approvals, configuration, files, tools, now)
    if tools.shards is not None:
        from evalgate.application.parallel.shard_merge import check_shards

        check_shards(tools.shards, configuration, baseline, request)
    tools.output.require_writable()  # fails before the work
    spool = _open_spool(request, tools)
    worst_trials, rules_baseline = WorstTrialRecorder(), baseline if base is None else base.baseline
    rules = find_changed_rules(own, rules_baseline, _rule_sources(tools), request, cross_scores=base is None)
    baseline = replace(baseline, info=name_changed_files(baseline.info, rules.baseline_rules, own))
    try:
        baseline_scenarios, behaviours = BaselineScenarios(baseline.results), BehaviourRecorder()
        choice = TraceChoice(
            *(request.sources.traces, request.sources.form, baseline_scenarios, tools.prices, worst_trials),
            behaviours=behaviours,
            cross_scorer=rules.cross_scorer,
            keep_trial=TrialStore(tools.make_trial_spool()).keep,
            scenarios=request.sources.scenarios,
        )
        run = run_evaluation(configuration, tools, choice, spool)
        rules.read_again(run, has_files=tools.shards is None)
        baseline, selection = _select_scenarios(run, baseline, request)
        run.warnings += [*list_empty_globs(run, policies), *check_ids(run)]
        refuse_duplicates(run, policies)
        baseline, comparison = _compare_with_baseline(run, baseline, policies)
        _settle_goldens(configuration, run, comparison, baseline, policies)
        baseline = _compare_behaviour(run, baseline, comparison, (worst_trials, behaviours), tools, policies)
        baseline = _compare_prompts(run, baseline, comparison, _find_traces(configuration, choice, spool, tools), tools)
        rules.assign_causes(run, baseline, comparison, policies)
        judge_freshness(run, policies, present)
        judged = JudgedRun(run, comparison, policies, present)
        weakenings = None if selection else rules.find_weakenings(request, baseline, judged, approvals)
        quarantines = apply_quarantine(run, comparison, configuration, now.date(), baseline.results)
        rulings = rule_on_approvals(run, comparison, approvals, now.date(), rules.baseline_rules)
        decision = decide(
            compare_variants(run, policies, rulings.approved),
            comparison,
            baseline.info,
            policies,
            approved=rulings.approved,
            weakenings=weakenings,
        ).for_report_only(request.rules.report_only)
        warnings = [*configuration.warnings, *approval_warnings, *baseline.warnings, *request.warnings]
        if not request.rules.report_only and selection is None:
            warnings = [*find_harmless_suites(configuration.suites, policies.suites, now.date()), *warnings]
        warnings += list_weakening_problems(weakenings)
        findings = DecidedRun(
            *(run, comparison, decision, baseline, warnings, rulings.rulings, weakenings),
            quarantines=quarantines,
            selection=selection,
            rules=base.document if base else None,
            mutations=_compare_mutations(request, tools, rules),
            watched=present.watched,
            **_calibrate(request, tools, configuration, policies, run),
        )
        excused = count_excused(run.suites, policies.suites, rulings.approved)
        judgement, source = render_judgement(request, findings, now, tools.load_output)
        judgement = replace(judgement, excused=excused)
        if spool is None:
            return judgement
        return _use_traces(judgement, source, request, _KeptRun(configuration, baseline, spool), tools)
    finally:
        if spool is not None:
            spool.close()


def _load_baseline(
    request: JudgeRequest,
    approvals: Approvals,
    configuration: Configuration,
    files: Mapping[str, str],
    tools: Tools,
    now: datetime,
) -> tuple[LoadedBaseline, Approvals]:
    """The baseline at today's prices, and both with today's names of suites that had another one.

    `files` are those of the run's own suites.
    """
    baseline = load_baseline(request.baseline, tools.baselines, rules_of(configuration), now)
    results = baseline.results
    if results is not None and results.suite_files != files:
        from evalgate.application.comparison.renamed_suites import follow_renames, rename_approvals

        baseline = follow_renames(baseline, configuration, files, request.folder, tools)
        results, approvals = baseline.results, rename_approvals(approvals, baseline.renames, configuration)
    if results is not None:
        from evalgate.application.comparison.price_comparison import reprice_baseline

        baseline = replace(baseline, results=reprice_baseline(results, configuration, tools.prices))
    if request.approvals.of_baseline:
        from evalgate.application.comparison.weakening import propose_added

        approvals = propose_added(approvals, baseline.results)
    return baseline, approvals


class _KeptRun(NamedTuple):
    """What a run has besides its results."""

    configuration: Configuration
    baseline: LoadedBaseline
    spool: TraceSpool


def _open_spool(request: JudgeRequest, tools: Tools) -> TraceSpool | None:
    """Where the traces are kept, if anything that was asked for is made from them."""
    needs_traces = any(tools.load_output(name).needs_traces for name in request.outputs)
    return tools.baselines.open_spool(tools.traces.encode_trace) if needs_traces or _writes_baseline(request) else None


def _writes_baseline(request: JudgeRequest) -> bool:
    return request.baseline.makes_zip and request.baseline.kept != NAME


def _use_traces(
    judgement: Judgement, source: OutputSource, request: JudgeRequest, run: _KeptRun, tools: Tools
) -> Judgement:
    """Makes what holds traces, as far as it was requested: the baseline, and outputs that need them."""
    if _writes_baseline(request):
        judgement = _write_baseline(judgement, request, run.configuration, tools, run.spool)
    load = tools.load_output
    asked = {name: options for name, options in request.outputs.items() if load(name).needs_traces}
    if not asked:
        return judgement
    restore, baseline = tools.traces.restore_trace, run.baseline
    path = baseline.info.path if baseline.info else None
    if baseline.results is not None and path is not None:
        traces = KeptTraces(partial(tools.baselines.read_traces, path), restore)
        source = replace(source, baseline=baseline.results, baseline_traces=traces)
    source = replace(source, suites=run.configuration.suites, traces=KeptTraces(run.spool.lines, restore))
    files, warnings = render_outputs(asked, source, load)
    return replace(judgement, files={**judgement.files, **files}, warnings=[*judgement.warnings, *warnings])


def _write_baseline(
    judgement: Judgement, request: JudgeRequest, configuration: Configuration, tools: Tools, spool: TraceSpool
) -> Judgement:
    """Writes the baseline of the run, unless what it should have judged is missing."""
    codes = [reason["code"] for reason in judgement.results["reasons"] if reason["code"] in NOT_KEPT]
    if codes:
        return replace(judgement, warnings=[*judgement.warnings, f"{NAME} was not written: {NOT_KEPT[codes[0]]}"])
    content = judgement.files["results.json"]
    parts = build_baseline_parts(request.subject, configuration, judgement.results, content, spool)
    target = tools.output.path(NAME)
    problems = tools.baselines.write(target, parts)
    return replace(judgement, baseline_zip=target, warnings=[*judgement.warnings, *map(str, problems)])


def _load_base_rules(request: JudgeRequest, own: Configuration, tools: Tools, now: datetime) -> DecidingRules | None:
    """The baseline's suites and policy, if the request lets them decide."""
    if not request.rules.by_rules_of_base:
        return None
    from evalgate.application.comparison.baseline_rules import rules_of_base

    baseline = load_baseline(request.baseline, tools.baselines, rules_of(own), now)
    return rules_of_base(baseline, own, tools.baselines)


def _calibrate(
    request: JudgeRequest, tools: Tools, configuration: Configuration, policies: Policies, run: Run
) -> dict[str, Any]:
    """What a store gets to know of the rules, and how often they are red by chance if it knows enough of them."""
    if request.history is None:
        return {}
    rules, past = identify_rules(configuration), request.history.trials
    if past is None or past.rules != rules or tools.calibrate is None:
        return {"rules_id": rules}
    return {"rules_id": rules, "calibration": tools.calibrate(configuration, policies, past, run)}


def _compare_mutations(request: JudgeRequest, tools: Tools, rules: ChangedRules) -> Sequence[SuiteMutations]:
    """How many small changes the suites notice that differ from the baseline's, if that was requested."""
    known = rules.baseline_rules
    if not request.mutation_score or tools.shards is not None or known is None:
        return ()
    if known.configuration is None or known.is_same:
        return ()
    choice = TraceChoice(request.sources.traces, request.sources.form, prices=tools.prices)
    comparer = tools.make_mutation_comparer(tools.traces, choice, tools.progress)
    return comparer.compare(rules.configuration, known.configuration)


def _rule_sources(tools: Tools) -> RuleSources:
    return RuleSources(tools.baselines, tools.traces, tools.prices)


def _select_scenarios(
    run: Run, baseline: LoadedBaseline, request: JudgeRequest
) -> tuple[LoadedBaseline, SelectionDoc | None]:
    """Leaves the scenarios that the request selects, in the run and in the baseline; None if it selects none."""
    patterns = resolve_patterns(run, request.sources.scenarios)
    selection = narrow_run(run, patterns)
    if selection is None or baseline.results is None:
        return baseline, selection
    return replace(baseline, results=narrow_baseline(baseline.results, patterns)), selection


def _compare_with_baseline(
    run: Run, baseline: LoadedBaseline, policies: Policies
) -> tuple[LoadedBaseline, Comparison | None]:
    """The baseline as it was compared, and the comparison."""
    if baseline.results is None:
        return baseline, None
    from evalgate.application.comparison.price_comparison import drop_incomparable_costs

    costs = drop_incomparable_costs(baseline.results, run)
    run.warnings += costs.warnings
    return replace(baseline, results=costs.baseline), compare_runs(run, costs, policies)


def _settle_goldens(
    configuration: Configuration, run: Run, comparison: Comparison | None, baseline: LoadedBaseline, policies: Policies
) -> None:
    """Sets the regression status of goldens, if there are any."""
    if any(each.golden is not None for suite in configuration.suites for each in suite.scenarios):
        from evalgate.gate.comparison.golden_changes import add_golden_changes

        document = None if baseline.results is None else baseline.results.document
        add_golden_changes(run, comparison, document, policies.suites)


def _compare_behaviour(
    run: Run,
    baseline: LoadedBaseline,
    comparison: Comparison | None,
    recorded: tuple[WorstTrialRecorder, BehaviourRecorder],
    tools: Tools,
    policies: Policies,
) -> LoadedBaseline:
    """Adds differences of behaviour and trajectory diffs to changes; returns the baseline with warnings about them."""
    if baseline.results is None or comparison is None or baseline.info is None or baseline.info.path is None:
        return baseline
    worst_trials, behaviours = recorded
    add_examples(comparison, run, worst_trials)
    path, restore = baseline.info.path, tools.traces.restore_trace
    unasked = keep_unasked_arguments(comparison, run, baseline.results, behaviours)
    problems = add_behaviour(
        comparison, run, baseline.results, worst_trials, StoredTraces(tools.baselines.read_traces(path), restore)
    )
    if not problems:
        stored = StoredTraces(tools.baselines.read_traces(path), restore)
        add_differences(comparison, run, baseline.results, behaviours, stored, unasked)
        is_asked = any("behaviour_changed" in policy.fail_on for policy in policies.suites.values())
        problems = [*describe_left_out(behaviours, is_asked=is_asked), *describe_unrecorded(comparison)]
    return replace(baseline, warnings=[*baseline.warnings, *problems])


def _find_traces(
    configuration: Configuration, choice: TraceChoice, spool: TraceSpool | None, tools: Tools
) -> FindTraces | None:
    """What finds single traces of the run: in what it keeps, else in its files; None if it has neither."""
    if spool is not None:
        return partial(iterate_stored, StoredTraces(spool.lines(), tools.traces.restore_trace))
    if tools.shards is not None:
        return None
    return partial(iterate_read, tools.traces, [choice.resolve_for_suite(suite) for suite in configuration.suites])


def _compare_prompts(
    run: Run, baseline: LoadedBaseline, comparison: Comparison | None, now: FindTraces | None, tools: Tools
) -> LoadedBaseline:
    """Adds how system prompts differ, where both sides have traces; returns the baseline with warnings about them."""
    path = baseline.info.path if baseline.info else None
    if comparison is None or baseline.results is None or path is None or now is None:
        return baseline
    before = partial(iterate_stored, StoredTraces(tools.baselines.read_traces(path), tools.traces.restore_trace))
    try:
        add_prompt_changes(comparison, run, baseline.results, before, now)
    except InvalidInput as error:
        problems = [Problem(f"{each.message}: changed system prompts are not shown") for each in error.problems]
        return replace(baseline, warnings=[*baseline.warnings, *problems])
    return baseline


def compare_runs(run: Run, costs: ComparableCosts, policies: Policies) -> Comparison:
    """Compares a run with the results of a baseline."""
    from evalgate.application.comparison.price_comparison import compare_costs_alike
    from evalgate.gate.comparison.known_failures import mark_known_failures
    from evalgate.gate.trajectory.cause import add_agent_changes, join_digests, parts_of_baseline
    from evalgate.gate.trajectory.trial_pairs import add_explaining_figures, add_tool_calls

    comparison, baseline = compare_costs_alike(run, costs, policies), costs.baseline
    comparison.unrecorded = frozenset(suite.name for suite in run.suites if no_traces(suite) is not None)
    mark_known_failures(comparison, run, baseline)
    add_tool_calls(comparison, run, baseline)
    add_explaining_figures(comparison, run, baseline)
    add_agent_changes(comparison, run, parts_of_baseline(baseline), join_digests(run, baseline.tool_digests))
    return comparison


def run_evaluation(configuration: Configuration, tools: Tools, choice: TraceChoice, spool: TraceSpool | None) -> Run:
    """Returns the run; it is the same whichever process judged it."""
    if tools.shards is not None:
        from evalgate.application.parallel.shard_merge import merge_shards

        return merge_shards(configuration, tools, choice, spool, tools.shards)
    run = _evaluate(configuration, tools, choice, spool)
    note_empty_globs(run, configuration, choice, tools.traces)
    return run


def _evaluate(configuration: Configuration, tools: Tools, choice: TraceChoice, spool: TraceSpool | None) -> Run:
    chosen = [choice.resolve_for_suite(suite)[:2] for suite in configuration.suites]
    pool = None if tools.pools is None else tools.pools.open(chosen)
    if pool is None:
        return evaluate(configuration, tools.traces, choice, tools.progress, None if spool is None else spool.add)
    from evalgate.application.parallel.batched_evaluation import BatchJudge, evaluate_in_batches

    source, engine, line_of = pool
    try:
        engine.begin(BatchJudge(configuration, choice, source, line_of))
        return evaluate_in_batches(configuration, source, choice, tools.progress, engine, spool)
    finally:
        engine.close()
