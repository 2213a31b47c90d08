"""What an evaluation found: assertions make trials, trials scenarios, scenarios suites, suites a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.errors import Location
    from evalgate.models.run.golden_result import GoldenResult, GoldenTrial
    from evalgate.models.trace.pricing import Pricing
    from evalgate.models.trace.trace import Warning_

Outcome = Literal["passed", "failed", "not_evaluable", "skipped", "error"]
TrialStatus = Literal["passed", "failed", "hard_fail", "error", "not_evaluable"]
Verdict = Literal["PASS", "PARTIAL", "FAIL", "HARD_FAIL", "ERROR", "MISSING", "NOT_EVALUABLE"]

HARD_FAILS: frozenset[Verdict] = frozenset({"HARD_FAIL", "ERROR", "MISSING"})
"""Verdicts that count as a hard fail."""
NOT_EVALUATED: frozenset[Verdict] = frozenset({"MISSING", "ERROR", "NOT_EVALUABLE"})
"""Verdicts of scenarios about which the run learned nothing."""
MAX_SCENARIOS = 100_000
"""Scenarios a run may have, written in suites or found by their globs."""


@dataclass(slots=True)
class AssertionResult:
    """One assertion on one trace. `reason` is one line a person can act on; `score` lies in [0, 1].

    `counts` is False for a `not_evaluable` under `on_missing: skip`: it is shown, but left out of the mean.
    """

    name: str
    type: str
    outcome: Outcome
    score: float
    weight: float
    required: bool
    reason: str
    location: Location | None = None
    evidence: dict[str, Any] | None = None
    counts: bool = True
    is_shared: bool = field(default=False, compare=False)
    """True where many trials have this very result, as nearly all have of a check that passes."""
    told: Any = field(default=None, init=False, repr=False, compare=False)
    """How a document tells a shared result, once one has told it."""


@dataclass(slots=True)
class SharedOutcome:
    """What the checks of a trial say together, kept where many trials have these very results."""

    assertions: list[AssertionResult]
    status: TrialStatus
    score: float | None
    is_shared: bool = False
    end: bytes = b""
    """How a document ends whose last word they are, once one has told them."""
    checked: Any = None
    """What is kept of them (a models.run.trial_record.Checked), once one was told."""


@dataclass(slots=True)
class TraceRef:
    """Which recording a trial judged; `line` and `record` place it in a file of many."""

    id: str | None
    path: str
    format: str
    sha256: str | None
    line: int | None = None
    record: int | None = None
    commit: str | None = None  # that the recording says it is of
    agent_hash: str | None = None  # what made it, in the recording's words
    recorded_at: str | None = None
    stale: str | None = None  # why it is no evidence any more, where a policy asks for fresh ones


@dataclass(slots=True)
class TrialResult:
    """One trace judged. `score` is None where nothing could be scored; unknown amounts are None."""

    trial: int
    trace: TraceRef
    status: TrialStatus
    score: float | None
    assertions: list[AssertionResult]
    cost_usd: float | None = None
    latency_seconds: float | None = None
    total_tokens: int | None = None
    tool_calls: list[str] = field(default_factory=list)
    reason: str | None = None  # why the status is `error`, where no assertion says it
    warnings: list[Warning_] = field(default_factory=list)
    input_tokens: int | None = None
    output_tokens: int | None = None
    pricing: Pricing | None = None  # None where the cost is recorded or no tokens are known
    golden: GoldenTrial | None = None  # beside what it was laid, where the scenario is a golden
    together: SharedOutcome | None = field(default=None, repr=False, compare=False)


@dataclass(slots=True)
class ScenarioResult:
    """One scenario over its trials. `pass_rate` is passed / all trials, with its Wilson interval."""

    id: str
    verdict: Verdict
    score: float | None
    threshold: float
    trials: Sequence[TrialResult]  # see models.run.trials
    variant: str | None = None
    pass_rate: float | None = None
    pass_rate_interval: tuple[float, float] | None = None
    reason: str | None = None
    location: Location | None = None
    quarantined: bool = False  # shown, and deciding nothing
    golden: GoldenResult | None = None


@dataclass(slots=True)
class SuiteResult:
    """One suite; `skipped` counts optional scenarios without a trace, which are in no other figure."""

    name: str
    path: str
    scenarios: list[ScenarioResult]
    skipped: int = 0
    traces: int = 0


class Share(NamedTuple):
    """In how many trials it held, of those in which it could be told."""

    held: int
    of: int


@dataclass(slots=True)
class VariantFigures:
    """One variant of a suite, to be held beside the others.

    `passed` counts scenarios that PASS; `correct_tool` trials in which the expected tool was called at all,
    `correct_count` those in which it was called often enough (where none is expected: not at all). The rest
    are means over the trials, None where one of them is unknown.
    """

    name: str
    scenarios: int
    passed: int
    trials: int
    correct_tool: Share
    correct_count: Share
    input_tokens: float | None
    output_tokens: float | None
    total_tokens: float | None
    cost_usd: float | None
    latency_seconds: float | None


@dataclass(slots=True)
class Unclaimed:
    """A trace that no scenario of a suite asked for."""

    suite: str
    trace: TraceRef
    scenario_id: str | None


@dataclass(slots=True)
class Run:
    """Everything one evaluation found, before anything is compared or decided."""

    suites: list[SuiteResult]
    unclaimed: list[Unclaimed] = field(default_factory=list)
    warnings: list[Warning_] = field(default_factory=list)
