"""`results.json`, schema `evalgate.results/1`: the frozen, public shape of a finished run.

Reports are rendered from this document and nothing else, so that a document written by one job can be checked
and rendered again by another. Fields may be added; none is renamed or removed under this number.
"""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003  the schema is made of these types
from typing import Any, NotRequired, TypedDict

from evalgate.models.results.results_approvals import ApprovalDoc  # noqa: TC001  the same
from evalgate.models.results.results_golden import GoldenDoc, GoldenTrialDoc  # noqa: TC001  the same
from evalgate.models.results.results_history import HistoryDoc  # noqa: TC001  the same
from evalgate.models.results.results_location import LocationDoc as LocationDoc  # noqa: PLC0414, TC001  re-exported
from evalgate.models.results.results_quarantine import QuarantineDoc  # noqa: TC001  the same
from evalgate.models.results.results_rules import RulesDoc  # noqa: TC001  the same
from evalgate.models.results.results_statistics import ComparisonDoc, FiguresDoc, VariantDoc  # noqa: TC001  the same
from evalgate.models.results.results_trajectory import BehaviourDoc  # noqa: TC001  the same
from evalgate.models.results.results_weakenings import CauseDoc, WeakeningDoc  # noqa: TC001  the same


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
    unknown part are null. `cost_computed` counts trials whose cost was not recorded, `quarantined` scenarios
    that decide nothing and stand in the other counts as well; both are absent where there is none.
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
    quarantined: NotRequired[int]
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
    cost_computed: NotRequired[int]
    latency_p50_s: float | None
    latency_p95_s: float | None
    total_tokens: int | None
    checks: ChecksDoc


class ChangedEvaluatorDoc(TypedDict):
    """A type of check that these suites use and whose version is another than in the baseline."""

    type: str
    before: int
    now: int


class DriftDoc(TypedDict):
    """In what a baseline was judged otherwise than this run; `found` is the status it has but for that."""

    found: str
    suites: bool
    evaluators: list[ChangedEvaluatorDoc]


class BaselineDoc(TypedDict):
    """Which baseline was compared with; `summary` is its own, where one was loaded.

    `drift` is there where the status is `drifted`.
    """

    status: str
    sha: str | None
    age_seconds: int | None
    path: str | None
    distance: int | None
    summary: SummaryDoc | None
    drift: NotRequired[DriftDoc]


class CallsDoc(TypedDict):
    """Names of tool calls, in order: of one trial of the baseline, and of the worst one of this run."""

    trial_before: int
    before: list[str]
    trial: int
    now: list[str]


class ChangeDoc(TypedDict):
    """What became of a scenario since the baseline; `calls` where it does not pass or got worse.

    `p_corrected` is the p-value after a correction for many scenarios, there where a policy asks for one;
    `behaviour` is there where it got worse and the recordings of both sides are at hand, `cause` where the
    rules are not those of the baseline and it is known whether they or the agent made the change.
    """

    kind: str
    flags: list[str]
    score_delta: float | None
    reason: str
    increases: list[str]
    previous_verdict: str | None
    p_value: float | None
    p_corrected: NotRequired[float | None]
    calls: NotRequired[CallsDoc]
    behaviour: NotRequired[BehaviourDoc]
    cause: NotRequired[CauseDoc]


class TraceDoc(TypedDict):
    """Which recording a trial judged; `stale` is why it is no evidence any more, where that is so."""

    id: str | None
    path: str
    format: str
    sha256: str | None
    line: int | None
    record: int | None
    commit: NotRequired[str | None]
    agent_hash: NotRequired[str | None]
    recorded_at: NotRequired[str | None]
    stale: NotRequired[str | None]


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


class ModelUsageDoc(TypedDict):
    """Tokens of one model in requests that have the same price per token as one of `request_tokens`."""

    model: str
    provider: str | None
    request_tokens: int
    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int
    cache_write_input_tokens: int


class PricingDoc(TypedDict):
    """How a cost was computed that was not recorded; see models.trace.pricing.Pricing."""

    table: str | None
    usd: float | None
    known_usd: float
    recorded_usd: float
    missing_models: list[str]
    usage: list[ModelUsageDoc] | None


class TrialDoc(TypedDict):
    """One trace judged; `pricing` stands only where its cost was to be computed."""

    trial: int
    trace: TraceDoc
    status: str
    score: float | None
    cost_usd: float | None
    latency_seconds: float | None
    total_tokens: int | None
    input_tokens: NotRequired[int | None]
    output_tokens: NotRequired[int | None]
    pricing: NotRequired[PricingDoc]
    tool_calls: list[str]
    reason: str | None
    golden: NotRequired[GoldenTrialDoc]
    assertions: list[AssertionDoc]


class ScenarioDoc(TypedDict):
    """One scenario over its trials; `quarantined` stands, as true, where it decides nothing.

    A golden has `dimensions`, a score or null by name, and says in `golden` what became of it.
    """

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
    quarantined: NotRequired[bool]
    golden: NotRequired[GoldenDoc]
    trials: Sequence[TrialDoc]


class SuiteDoc(TypedDict):
    """One suite; `variants` is empty where its scenarios have none."""

    suite: str
    path: str
    verdict: str
    score: float | None
    scenarios: list[ScenarioDoc]
    variants: NotRequired[list[VariantDoc]]
    figures: NotRequired[FiguresDoc]


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
    """The whole document; `command` is what repeats the run in a shell.

    `figures` are those of the run as a whole; `comparison` and `weakenings` stand where there was something
    to compare with, `quarantines` where the suites have any, `history` where a store is asked.
    """

    schema: str
    evalgate_version: str
    created_at: str
    commit: str | None
    verdict: str
    exit_code: int
    report_only: bool
    reasons: list[ReasonDoc]
    summary: SummaryDoc | None
    figures: NotRequired[FiguresDoc]
    baseline: BaselineDoc | None
    comparison: NotRequired[ComparisonDoc]
    suites: list[SuiteDoc]
    removed: list[RemovedDoc]
    unclaimed: list[UnclaimedDoc]
    warnings: list[WarningDoc]
    approvals: list[ApprovalDoc]
    quarantines: NotRequired[list[QuarantineDoc]]
    history: NotRequired[HistoryDoc]
    weakenings: NotRequired[list[WeakeningDoc]]
    rules: NotRequired[RulesDoc]
    command: str | None
