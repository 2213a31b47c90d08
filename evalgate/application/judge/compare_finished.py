"""Compares two finished runs without reading a trace."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from evalgate.application.comparison.policies import Policies, fail_on_words
from evalgate.application.comparison.price_comparison import drop_incomparable_costs
from evalgate.application.comparison.quarantine import flag_changes
from evalgate.application.comparison.weakening import weakening_between, weakening_problems
from evalgate.application.documents.run_documents import run_of
from evalgate.application.judge.report import warning_of
from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.golden_changes import add_golden_changes
from evalgate.gate.comparison.run_statistics import compute_run_statistics
from evalgate.gate.comparison.scenario_outcome import outcomes_from_baseline, outcomes_from_run
from evalgate.gate.decision.decide import decide, no_traces
from evalgate.gate.trajectory.agent_changes import add_agent_changes, name_agent_causes, parts_of_baseline
from evalgate.gate.trajectory.trial_pairs import add_tool_calls
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.reporting.results.results_json import build_results_document
from evalgate.suite.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc
    from evalgate.ports import BaselineFiles


def compare_finished(files: BaselineFiles, base: str, head: str, fail_on: Sequence[str] | None) -> ResultsDoc:
    """The later run with its changes since the earlier; without `fail_on` it only reports."""
    words = fail_on_words(fail_on)
    policy = Policy() if words is None else Policy(fail_on=words)
    baseline = files.load_run(base, whole=False).run
    run = run_of(head_results := files.load(head).results)
    if any(each.golden is not None for suite in run.suites for each in suite.scenarios):
        baseline = files.load_run(base, whole=True).run
    baseline, warnings = drop_incomparable_costs(baseline, run)
    policies = Policies({suite.name: policy for suite in run.suites}, policy)
    rules = {name: each.regression for name, each in policies.suites.items()}
    comparison = compare(outcomes_from_run(run), outcomes_from_baseline(baseline), rules)
    comparison.unrecorded = frozenset(suite.name for suite in run.suites if no_traces(suite) is not None)
    add_tool_calls(comparison, run, baseline)
    add_agent_changes(comparison, run, parts_of_baseline(baseline))
    name_agent_causes(comparison.changes.values())
    add_golden_changes(run, comparison, baseline.document, policies.suites)
    flag_changes(run, comparison)
    info = BaselineInfo("given", baseline.commit, None, base)
    weakenings = weakening_between(files, (base, head), comparison, baseline, policies)
    decision = decide(
        run, comparison, info, policies.suites, run_policy=policy, report_only=words is None, weakenings=weakenings
    )
    document = build_results_document(
        run,
        comparison,
        decision,
        baseline=info,
        baseline_summary=baseline.summary,
        commit=head_results["commit"],
        created_at=datetime.fromisoformat(head_results["created_at"]),
        warnings=[*warnings, *map(warning_of, weakening_problems(weakenings))],
        weakenings=weakenings,
        statistics=compute_run_statistics(run, comparison),
    )
    if "quarantines" in head_results:
        document["quarantines"] = head_results["quarantines"]
    return document
