"""Results of an evaluation: assertions, trials, scenarios, suites and the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol

from msgspec import Meta, Struct, UnsetType, field

# Needed when a shard is decoded:
from evalgate.errors import Location  # noqa: TC001
from evalgate.models.run.golden import GoldenTrial, Index, Score  # noqa: TC001
from evalgate.models.run.trial_doc import (
    AgentParts,
    AssertionDoc,
    PricingDoc,
    Recorded,
    TraceDoc,
    TrialDoc,
    build_recorded,
)
from evalgate.models.trace.pricing import Amount, Pricing, Tokens  # noqa: TC001
from evalgate.models.trace.trace import NO_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.run.arms import ArmComparison
    from evalgate.models.run.golden import GoldenResult
    from evalgate.models.trace.trace import ToolKinds, Warning_

Required = Literal[False, True, "always"]
"""Whether a failure of an assertion is a hard fail; `always`: even if a pass rate lets other required ones fail."""
Outcome = Literal["passed", "failed", "not_evaluable", "skipped", "error"]
TrialStatus = Literal["passed", "failed", "hard_fail", "error", "not_evaluable", "not_measured"]
RunStatus = Literal["ok", "any"]
"""How a run must end for its trial to pass: without an error, or in any way."""
Verdict = Literal["PASS", "PARTIAL", "FAIL", "HARD_FAIL", "ERROR", "MISSING", "NOT_EVALUABLE"]

FAILED_OUTCOMES: frozenset[Outcome] = frozenset({"failed", "error", "not_evaluable"})
"""Outcomes of assertions that did not pass."""
RUN_FAILED = "run_failed"
"""Name and type of the check that a run which ended in an error does not pass; no suite writes it."""
NEGATED, WHEN = "not: ", "when"
"""Begin the names of a check that must not hold and of a conditional one, unless its name is the user's own."""
UNWANTED, HOLDS_NOT = "must not hold, but does", "does not hold, as expected: "
"""How the reason of a negated check begins if what it forbids is so, and if it is not."""
HARD_FAILS: frozenset[Verdict] = frozenset({"HARD_FAIL", "ERROR", "MISSING"})
"""Verdicts that count as a hard fail."""
NOT_EVALUATED: frozenset[Verdict] = frozenset({"MISSING", "ERROR", "NOT_EVALUABLE"})
"""Verdicts of scenarios that the run could not evaluate."""
MAX_REQUEST = 2_000
"""Characters kept of a request, before secrets are redacted and it is cut to what a report shows."""
MAX_SCENARIOS = 100_000
"""Maximum number of scenarios of a run, both written in suites and found by their globs."""


Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class AssertionResult(Struct, array_like=True):
    """One assertion on one trace. `reason` is one line a person can act on.

    `counts` is False for `not_evaluable` under `on_missing: skip`: it is shown, but left out of the mean. `digest`
    identifies a check that did not pass by what it demands.
    """

    name: str
    type: str
    outcome: Outcome
    score: Score
    weight: Amount
    required: bool | Literal["always"]
    reason: str
    location: Location | None = None
    evidence: dict[str, Any] | None = None
    counts: bool = True
    digest: str | None = None
    is_shared: bool = False
    """True if many trials share this object, as nearly all do for an assertion that passes."""
    fragment: Any = None
    """The encoded JSON of a shared result, cached when it is first encoded."""


class TraceRef(Struct, array_like=True):
    """The trace that a trial judged; `line` and `record` locate it in a file of many."""

    id: str | None
    path: str
    format: str
    sha256: Sha256 | None
    line: Index | None = None
    record: Index | None = None
    commit: str | None = None
    agent_hash: str | None = None  # identifies the files of the agent that were used
    recorded_at: str | None = None
    stale: str | None = None  # why it is no longer evidence
    model: str | None = None
    tools_hash: str | None = None  # identifies the tool definitions
    prompt_hash: str | None = None  # identifies the system prompt
    named: Index | None = None  # digest of the trace's own id or bytes
    content: Index | None = None  # digest of its conversation
    number: Tokens | None = None  # the trial's number, as recorded
    started_at: str | None = None
    status: str | None = None  # how the run ended, None if well
    stopped_by: str | None = None  # what stopped it
    digest: Index | None = None  # identifies the recording; None if it was replayed
    recording: str | None = None  # id of the recording that it is of
    request: str | None = None  # what the user asked for first, if the trial did not pass
    skills: str | None = None  # the name of each skill of the agent with the digest of its text
    asked: str | None = None  # where and with which settings the model was asked
    prompt_dates: str | None = None  # the day of the run, then the dates of the system prompt

    @property
    def recorded(self) -> Recorded:
        """What of it a comparison needs."""
        has_end = self.status is None or self.stopped_by is not None
        return build_recorded(has_end, self.model is not None, self.tools_hash is not None)

    @property
    def agent(self) -> AgentParts:
        """What it records of the agent."""
        return AgentParts(self.model, self.tools_hash, self.prompt_hash, self.skills, self.asked, self.prompt_dates)


class TrialResult(Struct, array_like=True):
    """One judged trace. `score` is None if nothing could be scored; unknown amounts are None.

    One that is `not_measured`, because of an outage, has no assertions: only its cost and tokens count.
    """

    trial: Tokens
    trace: TraceRef
    status: TrialStatus
    score: Score | None
    assertions: list[AssertionResult]  # trials with the same results share the list
    cost_usd: Amount | None = None
    latency_seconds: Amount | None = None
    total_tokens: Tokens | None = None
    tool_calls: list[str] = field(default_factory=list)
    reason: str | None = None  # why the status is `error` or `not_measured`, if no assertion gives a reason
    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    pricing: Pricing | None = None  # None if the cost is recorded or no tokens are known
    golden: GoldenTrial | None = None  # set if the scenario is a golden


class FailedAssertion(NamedTuple):
    """An assertion that did not pass in one trial, and the weight that the trial's score lost by it.

    `digest` identifies it by what it demands, None in documents of earlier versions.
    """

    name: str
    type: str
    required: bool | Literal["always"]
    weight: float
    outcome: str
    digest: str | None = None


class AssertionSummary(NamedTuple):
    """The outcomes of a trial's assertions, shared by many trials; `end` is the part that their documents share."""

    outcomes: tuple[str, ...]
    failed: tuple[FailedAssertion, ...]
    end: bytes = b""


class TrialDocuments(Protocol):
    """The encoded documents of trials."""

    def read(self, trial: StoredTrial) -> bytes:
        """The whole document of a trial."""

    def load(self, trial: StoredTrial) -> TrialDoc:
        """A trial decoded from its document, with the raw values of its trace."""


class StoredTrial(Struct):
    """One judged trial without its assertions and its trace, which are decoded from its document on access.

    `raw` has path, commit, agent hash and time of the trace if the document has them redacted or cut; `named` and
    `content` are digests of the trace's own id or bytes and of its conversation, `number` and `started_at` are as
    recorded.
    """

    trial: int
    status: TrialStatus
    score: float | None
    cost_usd: float | None
    latency_seconds: float | None
    total_tokens: int | None
    input_tokens: int | None
    output_tokens: int | None
    is_priced: bool
    summary: AssertionSummary
    named: int | None
    content: int | None
    number: int | None
    started_at: str | None
    raw: tuple[str, str | None, str | None, str | None] | None
    documents: TrialDocuments
    start: int
    size: int
    stale: str | None = None
    recorded: Recorded = Recorded()
    digest: int | None = None
    commit: str | None = None

    @property
    def document(self) -> bytes:
        """Its encoded document."""
        return self.documents.read(self)

    @property
    def whole(self) -> TrialDoc:
        """The whole trial."""
        return self.documents.load(self)

    @property
    def trace(self) -> TraceDoc:
        """See TrialResult."""
        return self.whole.trace

    @property
    def assertions(self) -> list[AssertionDoc]:
        """See TrialResult."""
        return self.whole.assertions

    @property
    def tool_calls(self) -> list[str]:
        """See TrialResult."""
        return self.whole.tool_calls

    @property
    def reason(self) -> str | None:
        """See TrialResult."""
        return self.whole.reason

    @property
    def pricing(self) -> PricingDoc | UnsetType:
        """See TrialResult."""
        return self.whole.pricing


AnyAssertion = AssertionResult | AssertionDoc
"""One assertion on one trace, judged or read back from a document."""
RunTrial = TrialResult | StoredTrial
"""One judged trial of this run, stored or not."""
Trial = RunTrial | TrialDoc
"""One judged trial, stored or not, or read back from a document."""


class DuplicateNote(NamedTuple):
    """Traces of a scenario that are alike; `is_decisive` if they may be copies that its result depends on."""

    text: str
    is_decisive: bool = False


class ScenarioResult(Struct):
    """One scenario over its trials. `pass_rate` is passed / measured trials, with its Wilson interval.

    `passes_needed` is how many trials must pass, where some did and some did not, and a pass rate decides; else 0.
    """

    id: str
    verdict: Verdict
    score: float | None
    threshold: float
    trials: Sequence[Trial]
    variant: str | None = None
    pass_rate: float | None = None
    pass_rate_interval: tuple[float, float] | None = None
    reason: str | None = None
    location: Location | None = None
    quarantined: bool = False  # shown, but does not block
    golden: GoldenResult | None = None
    duplicates: Sequence[DuplicateNote] = ()  # what is alike among its traces
    passes_needed: int = 0
    recordings: Mapping[str, str] = {}  # the first time of each recording that its trials are of, by id

    def explain_duplicates(self) -> str:
        """What is alike among its traces in one sentence, empty if nothing is."""
        return "; ".join(note.text for note in self.duplicates)


class SuiteResult(Struct):
    """One suite; `skipped` counts optional scenarios without a trace, which no other figure includes.

    `unmatched` names the globs of `traces` and their folder if no file matches, `empty_globs` each that matches none.
    `elsewhere` says which folders hold traces then.
    `tool_digests` names each tool with its digest, by the `tools_hash` of the traces that define these. `tool_kinds`
    are those that the suite lists.
    """

    name: str
    path: str
    scenarios: list[ScenarioResult]
    skipped: int = 0
    traces: int = 0
    unmatched: str | None = None
    empty_globs: Sequence[str] = ()
    elsewhere: str | None = None
    latest: TraceRef | None = None  # the trace with the latest time
    tool_digests: Mapping[str, str] = {}
    tool_kinds: ToolKinds = NO_KINDS


class Share(NamedTuple):
    """The number of trials in which something was true, of those in which it could be determined."""

    held: int
    of: int


class VariantStatistics(Struct):
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


class UnclaimedTrace(Struct):
    """A trace that matches no scenario of a suite."""

    suite: str
    trace: TraceRef
    scenario_id: str | None


class Run(Struct):
    """All results of one evaluation, before comparison and decision."""

    suites: list[SuiteResult]
    unclaimed: list[UnclaimedTrace] = field(default_factory=list)
    warnings: list[Warning_] = field(default_factory=list)
    arms: Sequence[ArmComparison] = ()  # the variants compared
