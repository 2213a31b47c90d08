"""`results.json`, schema `evalgate.results/1`: the frozen, public shape of a finished run.

Reports are rendered from this document and nothing else, so that a document written by one job can be checked
and rendered again by another. Fields may be added; none is renamed or removed under this number.
"""

from __future__ import annotations

from typing import Any, TypedDict

SCHEMA = "evalgate.results/1"
BASELINE_SCHEMA = "evalgate.baseline/1"
"""Of the manifest in a `baseline.zip`, which holds such a document."""


class LocationDoc(TypedDict):
    """A place in a suite file."""

    file: str
    line: int | None
    column: int | None


class ReasonDoc(TypedDict, total=False):
    """Why the gate decided so."""

    code: str
    message: str
    suite: str | None
    scenario: str | None
    variant: str | None
    location: LocationDoc | None


class ChecksDoc(TypedDict):
    """Outcomes of all assertions on all trials, each kept apart."""

    passed: int
    failed: int
    not_evaluable: int
    skipped: int
    error: int


class SummaryDoc(TypedDict):
    """Counts and figures of the run.

    passed + partial + failed + hard_fails + errors + missing + not_evaluable = scenarios. Amounts with an
    unknown part are null.
    """

    scenarios: int
    passed: int
    failed: int
    partial: int
    hard_fails: int
    missing: int
    errors: int
    not_evaluable: int
    skipped: int
    regressions: int
    improvements: int
    regressed: int
    broken: int
    improved: int
    fixed: int
    new: int
    removed: int
    inconclusive: int
    score: float | None
    pass_rate: float | None
    cost_usd: float | None
    latency_p50_s: float | None
    latency_p95_s: float | None
    total_tokens: int | None
    checks: ChecksDoc


class BaselineDoc(TypedDict):
    """Which baseline was compared with; `summary` is its own, where one was loaded."""

    status: str
    sha: str | None
    age_seconds: int | None
    path: str | None
    distance: int | None
    summary: SummaryDoc | None


class ChangeDoc(TypedDict):
    """What became of a scenario since the baseline."""

    kind: str
    flags: list[str]
    score_delta: float | None
    reason: str
    increases: list[str]
    previous_verdict: str | None
    p_value: float | None


class TraceDoc(TypedDict):
    """Which recording a trial judged."""

    id: str | None
    path: str
    format: str
    sha256: str | None
    line: int | None
    record: int | None


class AssertionDoc(TypedDict):
    """One assertion on one trace."""

    name: str
    type: str
    outcome: str
    score: float
    weight: float
    required: bool
    reason: str
    location: LocationDoc | None
    evidence: dict[str, Any] | None


class TrialDoc(TypedDict):
    """One trace judged."""

    trial: int
    trace: TraceDoc
    status: str
    score: float | None
    cost_usd: float | None
    latency_seconds: float | None
    total_tokens: int | None
    tool_calls: list[str]
    reason: str | None
    assertions: list[AssertionDoc]


class ScenarioDoc(TypedDict):
    """One scenario over its trials."""

    id: str
    variant: str | None
    verdict: str
    score: float | None
    threshold: float
    n: int
    pass_rate: float | None
    pass_rate_interval: list[float] | None
    dimensions: dict[str, Any] | None
    reason: str | None
    location: LocationDoc | None
    change: ChangeDoc | None
    trials: list[TrialDoc]


class SuiteDoc(TypedDict):
    """One suite."""

    suite: str
    path: str
    verdict: str
    score: float | None
    scenarios: list[ScenarioDoc]


class RemovedDoc(TypedDict):
    """A scenario that the baseline has and this run has not, as it stood there."""

    suite: str
    id: str
    variant: str | None
    verdict: str
    score: float | None


class UnclaimedDoc(TypedDict):
    """A trace that no scenario asked for."""

    suite: str
    path: str
    id: str | None
    scenario_id: str | None
    line: int | None
    record: int | None


class WarningDoc(TypedDict):
    """Something a reader of the verdict should know."""

    code: str
    message: str
    where: str | None


class ResultsDoc(TypedDict):
    """The whole document; `command` is what repeats the run in a shell."""

    schema: str
    evalgate_version: str
    created_at: str
    commit: str | None
    verdict: str
    exit_code: int
    report_only: bool
    reasons: list[ReasonDoc]
    summary: SummaryDoc | None
    baseline: BaselineDoc | None
    suites: list[SuiteDoc]
    removed: list[RemovedDoc]
    unclaimed: list[UnclaimedDoc]
    warnings: list[WarningDoc]
    approvals: list[dict[str, Any]]
    command: str | None
