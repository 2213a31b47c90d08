"""A finished run as stored: rows for the run, its suites and scenarios, and its whole results.

Everything is taken from the results document, whose texts are redacted and bounded.
"""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from evalgate.application.documents.golden_documents import issues_in
from evalgate.application.documents.run_identity import run_identity
from evalgate.gate.comparison.outcomes import VERDICTS
from evalgate.measures.numeric.means import DIGITS, mean_amount
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.history.stored_run import (
    RunFacts,
    RunIssues,
    RunTotals,
    StoredRun,
    StoredScenarioRow,
    StoredSuiteRow,
)
from evalgate.models.run.golden import SEVERITIES
from evalgate.models.run.run import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from evalgate.models.comparison.comparison import ChangeKind
    from evalgate.models.comparison.decision import GateVerdict
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, SuiteDoc, SummaryDoc
    from evalgate.models.run.run import Verdict

KINDS = frozenset({"unchanged", "improved", "regressed", "broken", "fixed", "new", "removed", "inconclusive"})
MOST_ISSUES = 10
"""How many of the gravest golden issues are stored next to their counts."""


class RunContext(Struct, frozen=True):
    """Facts about a run that its results lack.

    `history_branch` is the branch whose history it reports, None for all; `is_approved_by_store`: whether
    approvals in the store count.
    """

    branch: str | None = None
    run_id: str | None = None  # id of the workflow run
    pull_request: int | None = None
    url: str | None = None
    history_branch: str | None = None
    is_approved_by_store: bool = True
    repository: str | None = None


def build_stored_run(
    results: ResultsDoc, content: bytes, context: RunContext, started: datetime, completed: datetime
) -> StoredRun:
    """Builds the stored run; `content` is its document as written."""
    summary = results["summary"]
    suites = results["suites"]
    facts = RunFacts(
        run_identity(results, context.run_id),
        tuple(suite["suite"] for suite in suites),
        results["verdict"],
        results["exit_code"],
        started,
        completed,
        max(0, round((completed - started).total_seconds() * 1000)),
        branch=context.branch,
        commit=results["commit"],
        pull_request=context.pull_request,
        url=context.url,
        repository=context.repository,
        report_only=results["report_only"],
        totals=_totals(suites, summary),
        score=summary and summary["score"],
        pass_rate=summary and summary["pass_rate"],
        cost_usd=summary and summary["cost_usd"],
        total_tokens=summary and summary["total_tokens"],
        latency_p50_s=summary and summary["latency_p50_s"],
        latency_p95_s=summary and summary["latency_p95_s"],
        issues=_issues(suites),
        not_measured=summary.get("not_measured", 0) if summary else 0,
    )
    scenarios = [_scenario_row(suite["suite"], each) for suite in suites for each in suite["scenarios"]]
    return StoredRun(facts, tuple(map(_suite_row, suites)), tuple(scenarios), content)


def _totals(suites: Iterable[SuiteDoc], summary: SummaryDoc | None) -> RunTotals:
    verdicts = [each["verdict"] for suite in suites for each in suite["scenarios"]]
    evaluated = sum(verdict not in NOT_EVALUATED for verdict in verdicts)
    passed = verdicts.count("PASS")
    if summary is None:
        return RunTotals(evaluated, passed, evaluated - passed)
    worse = summary["regressions"]
    return RunTotals(
        *(evaluated, passed, evaluated - passed, summary["score"]), *(worse, summary["improvements"], worse)
    )


def _issues(suites: Iterable[SuiteDoc]) -> RunIssues:
    """Counts of golden issues, and the gravest ones."""
    found = [
        issue
        for suite in suites
        for each in suite["scenarios"]
        if (golden := each.get("golden")) is not None
        for issue in issues_in(golden["issues"])
    ]
    if not found:
        return RunIssues()
    worst = sorted(found, key=lambda issue: -SEVERITIES.index(issue.severity))
    return RunIssues(
        Counter(issue.category for issue in found),
        Counter(issue.severity for issue in found),
        tuple(worst[:MOST_ISSUES]),
    )


def _suite_row(suite: SuiteDoc) -> StoredSuiteRow:
    figures: Mapping[str, Any] = suite.get("figures") or {}
    tokens = figures.get("total_tokens")
    return StoredSuiteRow(
        suite["suite"],
        cast("GateVerdict", suite["verdict"]),
        suite["score"],
        figures.get("pass_rate"),
        figures.get("cost_usd"),
        None if tokens is None else int(tokens),
        figures.get("latency_p50_s"),
        figures.get("latency_p95_s"),
        _means([_dimensions(each) for each in suite["scenarios"]]),
        sum(each.get("not_measured", 0) for each in suite["scenarios"]),
    )


def _scenario_row(suite: str, scenario: ScenarioDoc) -> StoredScenarioRow:
    change, verdict = scenario["change"], scenario["verdict"]
    trials = [trial for trial in scenario["trials"] if trial.status != "not_measured"]
    return StoredScenarioRow(
        ScenarioKey(suite, scenario["id"], scenario["variant"]),
        cast("Verdict", verdict) if verdict in VERDICTS else "NOT_EVALUABLE",
        scenario["score"],
        len(trials),
        sum(trial.status == "passed" for trial in trials),
        scenario["pass_rate"],
        _dimensions(scenario),
        mean_amount([trial.cost_usd for trial in trials]),
        mean_amount([trial.latency_seconds for trial in trials]),
        mean_amount([trial.total_tokens for trial in trials]),
        cast("ChangeKind", change["kind"]) if change and change["kind"] in KINDS else None,
        trials[0].trace.sha256 if trials else None,
        quarantined=bool(scenario.get("quarantined")),
        not_measured=len(scenario["trials"]) - len(trials),
    )


def _dimensions(scenario: ScenarioDoc) -> dict[str, float | None]:
    """The score of each dimension in the document, None if it could not be judged."""
    return {name: _score(value) for name, value in (scenario["dimensions"] or {}).items()}


def _score(value: Any) -> float | None:
    score = value.get("score") if isinstance(value, dict) else value
    return float(score) if isinstance(score, int | float) and 0 <= score <= 1 else None


def _means(scenarios: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """The mean of each dimension over the scenarios in which it was judged."""
    names = dict.fromkeys(name for each in scenarios for name in each)
    return {name: _mean([each.get(name) for each in scenarios]) for name in names}


def _mean(scores: Iterable[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return round(fsum(known) / len(known), DIGITS) if known else None
