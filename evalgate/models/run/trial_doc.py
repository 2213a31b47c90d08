"""One trial of `results.json`: what is shown of its trace, its assertions, its cost and its golden.

A trial that was judged becomes a `TrialDoc` when it is cleaned, and one that is read back from a document is one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, TypedDict

from msgspec import UNSET, Struct, UnsetType

from evalgate.models.run.bounds import (  # noqa: TC001  needed for decoding
    Amount,
    CallNames,
    Count,
    Dimension,
    Id,
    Name,
    Score,
    Tokens,
    Word,
)
from evalgate.models.run.golden import IssueCategory, Severity, is_unjudged_dimension


class LocationDoc(Struct, frozen=True):
    """A location in a suite file."""

    file: Name
    line: int | None
    column: int | None


class ModelUsageDoc(TypedDict):
    """Tokens of one model in all requests priced per token like one of `request_tokens`."""

    model: str
    provider: str | None
    request_tokens: Tokens
    input_tokens: Tokens
    output_tokens: Tokens
    cache_read_input_tokens: Tokens
    cache_write_input_tokens: Tokens


class PricingDoc(TypedDict):
    """How a cost that was not recorded was computed; see models.trace.pricing.Pricing."""

    table: str | None
    usd: Amount | None
    known_usd: Amount
    recorded_usd: Amount
    missing_models: list[str]
    usage: list[ModelUsageDoc] | None


class IssueDoc(TypedDict):
    """One issue; `turn` counts from 0 and is null for an issue of the whole conversation."""

    category: IssueCategory
    severity: Severity
    message: str
    evidence: str | None
    turn: Count | None


class TurnDoc(TypedDict):
    """One turn of a trial; `number` is the golden's turn, from 0, null if the golden does not have it.

    `is_missing` is true if only the golden has it.
    """

    number: Count | None
    is_missing: bool
    user_message: str | None
    actual_response: str | None
    scores: dict[Dimension, Score | None]
    latency_ms: Amount | None
    tokens: Tokens | None
    cost_usd: Amount | None
    retrieved_memories: list[Any]
    tools_invoked: list[str]
    tool_results: list[Any]


class GoldenTrialDoc(TypedDict):
    """One trace compared with its golden; turns in `issues` are those of `turns`.

    `conversation_id` is that of the trace, null if it has none.
    """

    dimensions: dict[Dimension, Score | None]
    turns: list[TurnDoc]
    issues: list[IssueDoc]
    conversation_id: str | None


class AgentParts(NamedTuple):
    """What a trace records of an agent; None is unknown. `asked` is how the model is asked, as TraceDoc has it."""

    model: str | None
    tools_hash: str | None
    prompt_hash: str | None
    skills: str | None = None
    asked: str | None = None
    prompt_dates: str | None = None


class Recorded(NamedTuple):
    """What a trial's trace records, of what a comparison needs; `ended_well`: no error, and its end is not missing.

    A limit that stopped a run is an end: what was done is all that was done.
    """

    ended_well: bool = True
    model: bool = False
    tools: bool = False


build_recorded = lru_cache(maxsize=8)(Recorded)
"""One object for all traces that are alike."""


class TraceDoc(Struct, kw_only=True, omit_defaults=True):
    """The trace that a trial judged; `stale` is the reason why it is no longer evidence, if there is one.

    `status` is how the run ended, absent if well, and `stopped_by` what stopped it. `digest` identifies the recording
    (absent if it was replayed), `recording` the call of `record` that made it.
    `tools_hash` and `prompt_hash` identify the recorded tool definitions and system prompt, `skills` is NAME=DIGEST of
    each skill. `request` is what the user asked for first, if the trial did not pass. `asked` is NAME=VALUE of each
    setting of the requests and of the `address` at which the model was asked: `default`, PROVIDER or PROVIDER=URL.
    `prompt_dates` are the day of the run and the first dates in the system prompt, which `prompt_hash` leaves out.
    """

    stale: str | None = None
    id: Id | None
    path: Name
    format: Word
    sha256: Word | None
    line: int | None
    record: int | None
    commit: Name | None = None
    agent_hash: Name | None = None
    recorded_at: Name | None = None
    model: Name | None = None
    tools_hash: Word | None = None
    prompt_hash: Word | None = None
    status: Word | None = None
    stopped_by: Name | None = None
    digest: int | None = None
    recording: Name | None = None
    request: Name | None = None
    skills: str | None = None
    asked: str | None = None
    prompt_dates: str | None = None

    @property
    def recorded(self) -> Recorded:
        """What of it a comparison needs."""
        has_end = self.status is None or self.stopped_by is not None
        return build_recorded(has_end, self.model is not None, self.tools_hash is not None)

    @property
    def agent(self) -> AgentParts:
        """What it records of the agent."""
        return AgentParts(self.model, self.tools_hash, self.prompt_hash, self.skills, self.asked, self.prompt_dates)


class AssertionDoc(Struct):
    """One assertion on one trace; `digest`, of one that did not pass, identifies it by what it demands."""

    name: Name
    type: Word
    outcome: Word
    score: float
    weight: float
    required: bool
    reason: str
    location: LocationDoc | None
    evidence: dict[str, Any] | None
    digest: Word | UnsetType = UNSET

    @property
    def counts(self) -> bool:
        """See AssertionResult; a document does not tell what a suite leaves out of the mean."""
        return not is_unjudged_dimension(self.type, self.outcome)


class TrialHead(Struct, kw_only=True):
    """The fields of a trial before its assertions.

    A trial with the status `not_measured` has no assertions and no score; `reason` says what the outage was.
    """

    trial: int
    trace: TraceDoc
    status: Word
    score: Score | None
    cost_usd: Amount | None
    latency_seconds: Amount | None
    total_tokens: Tokens | None
    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    tool_calls: CallNames
    reason: str | None


class TrialDoc(TrialHead, kw_only=True):
    """One judged trace; `pricing` is present only if its cost had to be computed."""

    assertions: list[AssertionDoc]
    pricing: PricingDoc | UnsetType = UNSET
    golden: GoldenTrialDoc | UnsetType = UNSET
