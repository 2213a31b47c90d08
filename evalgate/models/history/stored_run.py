"""A run in a store: its statistics, a row for each suite and scenario, and its whole results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from evalgate.models.comparison.comparison import ChangeKind, ScenarioKey
    from evalgate.models.comparison.decision import GateVerdict
    from evalgate.models.run.golden import Issue
    from evalgate.models.run.run import Verdict

ApprovalState = Literal["pending", "approved", "rejected"]

APPROVAL_STATES: tuple[ApprovalState, ...] = ("pending", "approved", "rejected")


class RunTotals(NamedTuple):
    """Counts over the scenarios of a run. Degradations are broken or regressed, improvements the opposite."""

    evaluated: int = 0
    passed: int = 0
    failed: int = 0
    avg_score: float | None = None
    regressions: int = 0
    improvements: int = 0
    degradations: int = 0


class RunIssues(Struct, frozen=True):
    """Issues of a run, counted by category and by severity, and the most severe ones."""

    by_category: Mapping[str, int] = field(default_factory=dict)
    by_severity: Mapping[str, int] = field(default_factory=dict)
    top: tuple[Issue, ...] = ()


class RunApproval(NamedTuple):
    """What a person decided about a run."""

    status: ApprovalState = "pending"
    approved_by: str | None = None
    comment: str = ""
    at: datetime | None = None


class RunFacts(Struct, frozen=True):
    """The row of a run. Amounts in USD, latencies in seconds; an amount with an unknown part is None.

    `not_measured` counts the trials that outages left unmeasured, here and in the rows of suites and scenarios.

    `id` identifies the run: a run with an `id` that is already stored is not stored again. `repository` is None for
    a run without one, such as one in a shell.
    """

    id: str
    suites: tuple[str, ...]
    verdict: GateVerdict
    exit_code: int
    started_at: datetime
    completed_at: datetime
    duration_ms: int
    branch: str | None = None
    commit: str | None = None
    pull_request: int | None = None
    url: str | None = None
    repository: str | None = None
    report_only: bool = False
    totals: RunTotals = RunTotals()
    score: float | None = None
    pass_rate: float | None = None
    cost_usd: float | None = None
    total_tokens: int | None = None
    latency_p50_s: float | None = None
    latency_p95_s: float | None = None
    issues: RunIssues = field(default_factory=RunIssues)
    approval: RunApproval = RunApproval()
    not_measured: int = 0


class StoredSuiteRow(Struct, frozen=True):
    """One suite of a stored run; `dimensions` are means over its scenarios."""

    name: str
    verdict: GateVerdict
    score: float | None = None
    pass_rate: float | None = None
    cost_usd: float | None = None
    total_tokens: int | None = None
    latency_p50_s: float | None = None
    latency_p95_s: float | None = None
    dimensions: Mapping[str, float | None] = field(default_factory=dict)
    not_measured: int = 0


class StoredScenarioRow(Struct, frozen=True):
    """One scenario of a stored run: `passed` of its `n` measured trials passed. Cost, latency and tokens are means.

    `trace_sha256` is the fingerprint of the trace of its first measured trial.
    """

    key: ScenarioKey
    verdict: Verdict
    score: float | None = None
    n: int = 0
    passed: int = 0
    pass_rate: float | None = None
    dimensions: Mapping[str, float | None] = field(default_factory=dict)
    cost_usd: float | None = None
    latency_s: float | None = None
    tokens: float | None = None
    change: ChangeKind | None = None
    trace_sha256: str | None = None
    quarantined: bool = False
    not_measured: int = 0


class StoredRun(Struct, frozen=True):
    """A whole run; `results` are the bytes of its results.json."""

    facts: RunFacts
    suites: tuple[StoredSuiteRow, ...] = ()
    scenarios: tuple[StoredScenarioRow, ...] = ()
    results: bytes = b""


class ScenarioHistoryEntry(Struct, frozen=True):
    """The result of one scenario in one stored run."""

    run_id: str
    at: datetime
    branch: str | None
    commit: str | None
    row: StoredScenarioRow


class TrendPoint(Struct, frozen=True):
    """One run in a trend. `verdict` is that of the run, the suite or the scenario; cost and latency likewise.

    `dimension` is the score of the requested dimension, None if none was requested; `approval` is what people
    decided about the whole run; `not_measured` counts trials that outages left unmeasured.
    """

    run_id: str
    at: datetime
    branch: str | None
    commit: str | None
    verdict: str
    score: float | None
    pass_rate: float | None
    cost_usd: float | None
    latency_s: float | None
    dimension: float | None = None
    approval: RunApproval = RunApproval()
    not_measured: int = 0


class PruneCounts(NamedTuple):
    """How many old runs were deleted, with results of scenarios and evaluations, and names that no run has now.

    `first` and `last` are the times of the deleted runs; `kept` runs are not old, and a person approved or
    rejected the `decided` ones.
    """

    runs: int = 0
    results: int = 0
    evaluations: int = 0
    names: int = 0
    kept: int = 0
    decided: int = 0
    first: datetime | None = None
    last: datetime | None = None
