"""Results of an evaluation: assertions, trials, scenarios, suites and the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.errors import Location
    from evalgate.models.run.golden import GoldenResult, GoldenTrial
    from evalgate.models.trace.pricing import Pricing
    from evalgate.models.trace.trace import Warning_

Required = Literal[False, True, "always"]
"""Whether a failure of an assertion is a hard fail; `always`: even if a pass rate lets other required ones fail."""
Outcome = Literal["passed", "failed", "not_evaluable", "skipped", "error"]
TrialStatus = Literal["passed", "failed", "hard_fail", "error", "not_evaluable", "not_measured"]
Verdict = Literal["PASS", "PARTIAL", "FAIL", "HARD_FAIL", "ERROR", "MISSING", "NOT_EVALUABLE"]

HARD_FAILS: frozenset[Verdict] = frozenset({"HARD_FAIL", "ERROR", "MISSING"})
"""Verdicts that count as a hard fail."""
NOT_EVALUATED: frozenset[Verdict] = frozenset({"MISSING", "ERROR", "NOT_EVALUABLE"})
"""Verdicts of scenarios that the run could not evaluate."""
MAX_SCENARIOS = 100_000
"""Maximum number of scenarios of a run, both written in suites and found by their globs."""


@dataclass(slots=True)
class AssertionResult:
    """One assertion on one trace. `reason` is one line a person can act on; `score` is in [0, 1].

    `counts` is False for `not_evaluable` under `on_missing: skip`: it is shown, but left out of the mean.
    """

    name: str
    type: str
    outcome: Outcome
    score: float
    weight: float
    required: Required
    reason: str
    location: Location | None = None
    evidence: dict[str, Any] | None = None
    counts: bool = True
    is_shared: bool = field(default=False, compare=False)
    """True if many trials share this object, as nearly all do for an assertion that passes."""
    fragment: Any = field(default=None, init=False, repr=False, compare=False)
    """The encoded JSON of a shared result, cached when it is first encoded."""


@dataclass(slots=True)
class SharedOutcome:
    """The assertion results of a trial and their status and score, shared by trials with the same results."""

    assertions: list[AssertionResult]
    status: TrialStatus
    score: float | None
    is_shared: bool = False
    end: bytes = b""
    """The end of a document with these results, cached when it is first encoded."""
    summary: Any = None
    """Their summary (a models.run.trial_record.AssertionSummary), cached when first made."""


class AgentParts(NamedTuple):
    """The model, tool definitions and system prompt of an agent, as a trace records them; None is unknown."""

    model: str | None
    tools_hash: str | None
    prompt_hash: str | None


@dataclass(slots=True)
class TraceRef:
    """The trace that a trial judged; `line` and `record` locate it in a file of many."""

    id: str | None
    path: str
    format: str
    sha256: str | None
    line: int | None = None
    record: int | None = None
    commit: str | None = None  # the commit that the trace names
    agent_hash: str | None = None  # identifies the agent that made it, as recorded
    recorded_at: str | None = None
    stale: str | None = None  # why it is no longer evidence, if a policy requires fresh traces
    model: str | None = None
    tools_hash: str | None = None  # identifies the tool definitions
    prompt_hash: str | None = None  # identifies the system prompt
    named: int | None = None  # digest of the trace's own id or bytes
    content: int | None = None  # digest of its conversation

    @property
    def agent(self) -> AgentParts:
        """What it records of the agent."""
        return AgentParts(self.model, self.tools_hash, self.prompt_hash)


@dataclass(slots=True)
class TrialResult:
    """One judged trace. `score` is None if nothing could be scored; unknown amounts are None.

    One that is `not_measured`, because of an outage, has no assertions: only its cost and tokens count.
    """

    trial: int
    trace: TraceRef
    status: TrialStatus
    score: float | None
    assertions: list[AssertionResult]
    cost_usd: float | None = None
    latency_seconds: float | None = None
    total_tokens: int | None = None
    tool_calls: list[str] = field(default_factory=list)
    reason: str | None = None  # why the status is `error` or `not_measured`, if no assertion gives a reason
    warnings: list[Warning_] = field(default_factory=list)
    input_tokens: int | None = None
    output_tokens: int | None = None
    pricing: Pricing | None = None  # None if the cost is recorded or no tokens are known
    golden: GoldenTrial | None = None  # set if the scenario is a golden
    together: SharedOutcome | None = field(default=None, repr=False, compare=False)


class DuplicateNote(NamedTuple):
    """Traces of a scenario that are alike; `is_decisive` if they may be copies that its result depends on."""

    text: str
    is_decisive: bool = False


@dataclass(slots=True)
class ScenarioResult:
    """One scenario over its trials. `pass_rate` is passed / measured trials, with its Wilson interval."""

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
    quarantined: bool = False  # shown, but does not block
    golden: GoldenResult | None = None
    duplicates: Sequence[DuplicateNote] = ()  # what is alike among its traces

    def explain_duplicates(self) -> str:
        """What is alike among its traces in one sentence, empty if nothing is."""
        return "; ".join(note.text for note in self.duplicates)


@dataclass(slots=True)
class SuiteResult:
    """One suite; `skipped` counts optional scenarios without a trace, which no other figure includes.

    `unmatched` names the globs of `traces` and their folder if no file matches.
    """

    name: str
    path: str
    scenarios: list[ScenarioResult]
    skipped: int = 0
    traces: int = 0
    unmatched: str | None = None


class Share(NamedTuple):
    """The number of trials in which something was true, of those in which it could be determined."""

    held: int
    of: int


@dataclass(slots=True)
class VariantStatistics:
    """Statistics of one variant of a suite, to compare it with the others.

    `passed` counts scenarios that PASS; `correct_tool` trials in which the expected tool was called at all,
    `correct_count` those in which it was called often enough (if none is expected: not at all). The rest are
    means over the trials, None if unknown for one of them.
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
class UnclaimedTrace:
    """A trace that matches no scenario of a suite."""

    suite: str
    trace: TraceRef
    scenario_id: str | None


@dataclass(slots=True)
class Run:
    """All results of one evaluation, before comparison and decision."""

    suites: list[SuiteResult]
    unclaimed: list[UnclaimedTrace] = field(default_factory=list)
    warnings: list[Warning_] = field(default_factory=list)
