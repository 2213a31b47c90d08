"""Compares two finished runs without reading a trace."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from evalgate.application.comparison.policies import Policies, fail_on_words
from evalgate.application.comparison.price_comparison import comparable
from evalgate.application.comparison.quarantine import flag_changes
from evalgate.application.comparison.weakening import remarks_on, weakening_between
from evalgate.application.documents.run_documents import run_of
from evalgate.application.judge.report import warning_of
from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.golden_changes import settle_goldens
from evalgate.gate.comparison.run_statistics import figures_of_run
from evalgate.gate.comparison.scenario_outcome import outcomes_of_baseline, outcomes_of_run
from evalgate.gate.decision.decide import decide
from evalgate.gate.trajectory.trial_pairs import add_calls
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.reporting.results.results_json import results_document
from evalgate.suite.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc
    from evalgate.ports import BaselineFiles


def compare_finished(files: BaselineFiles, base: str, head: str, fail_on: Sequence[str] | None) -> ResultsDoc:
    """The later run with its changes since the earlier; without `fail_on` it only reports."""
    words = fail_on_words(fail_on)
    policy = Policy() if words is None else Policy(fail_on=words)
    before = files.earlier(base, whole=False).run
    run = run_of(now := files.load(head).results)
    if any(each.golden is not None for suite in run.suites for each in suite.scenarios):
        before = files.earlier(base, whole=True).run
    before, warnings = comparable(before, run)
    policies = Policies({suite.name: policy for suite in run.suites}, policy)
    rules = {name: each.regression for name, each in policies.suites.items()}
    comparison = compare(outcomes_of_run(run), outcomes_of_baseline(before), rules)
    add_calls(comparison, run, before)
    settle_goldens(run, comparison, before.document, policies.suites)
    flag_changes(run, comparison)
    info = BaselineInfo("given", before.commit, None, base)
    weakenings = weakening_between(files, (base, head), comparison, before, policies)
    decision = decide(
        run,
        comparison,
        info,
        policies.suites,
        run_policy=policy,
        report_only=words is None,
        weakenings=weakenings,
    )
    document = results_document(
        run,
        comparison,
        decision,
        baseline=info,
        previous=before.summary,
        commit=now["commit"],
        created_at=datetime.fromisoformat(now["created_at"]),
        warnings=[*warnings, *map(warning_of, remarks_on(weakenings))],
        weakenings=weakenings,
        figures=figures_of_run(run, comparison),
    )
    if "quarantines" in now:
        document["quarantines"] = now["quarantines"]
    return document
