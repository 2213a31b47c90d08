"""Statistics and goldens in `results.json`."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class PassKDoc(TypedDict):
    """Probability that at least one (`pass_at_k`), or every one (`pass_hat_k`), of k trials passes."""

    k: int
    pass_at_k: float
    pass_hat_k: float


class CostlyAssertionDoc(TypedDict):
    """An assertion that did not pass in `failed` trials of `scenarios` scenarios, and its lost weight."""

    suite: str
    name: str
    type: str
    required: bool
    failed: int
    scenarios: int
    weight_lost: float


class AmountsDoc(TypedDict):
    """Amounts with an unknown part are null; scores are over scenarios, the others over trials."""

    pass_rate: float | None
    pass_rate_interval: list[float] | None
    pass_k: list[PassKDoc]
    score: float | None
    score_min: float | None
    score_p50: float | None
    score_p95: float | None
    cost_usd: float | None
    cost_mean_usd: float | None
    total_tokens: int | None
    tokens_mean: float | None
    latency_p50_s: float | None
    latency_p95_s: float | None


class DeltaDoc(AmountsDoc):
    """Change of the amounts over the `scenarios` that both sides measured: this run minus baseline."""

    scenarios: int
    score_interval: list[float] | None


class StatisticsDoc(AmountsDoc):
    """The statistics of a suite or a run; `delta` is null if nothing was compared.

    `trials` counts those that were measured, `not_measured` the others; it is absent if zero.
    """

    scenarios: int
    trials: int
    not_measured: NotRequired[int]
    lost_checks: list[CostlyAssertionDoc]
    delta: DeltaDoc | None


class ComparisonDoc(TypedDict):
    """How well the comparison can distinguish changes from noise.

    `compared` scenarios were evaluated on both sides: `tested` of them have enough trials on both for a test,
    `single_trial` have a single trial on a side. `expected_false_alarms` bounds how many of the tested ones
    chance alone would call broken or fixed; null if none was tested.
    """

    compared: int
    tested: int
    single_trial: int
    expected_false_alarms: float | None


class ShareDoc(TypedDict):
    """The number of trials in which something was true, of those in which it could be determined."""

    held: int
    of: int


class VariantDoc(TypedDict):
    """One variant of a suite.

    `passed` of `scenarios` have the verdict PASS. Tokens, cost and latency are means over the `trials`, null
    if unknown for one of them.
    """

    name: str
    scenarios: int
    passed: int
    pass_rate: float | None
    trials: int
    correct_tool: ShareDoc
    correct_count: ShareDoc
    input_tokens: float | None
    output_tokens: float | None
    total_tokens: float | None
    cost_usd: float | None
    latency_seconds: float | None


class IssueDoc(TypedDict):
    """One issue; `turn` counts from 0 and is null for an issue of the whole conversation."""

    category: str
    severity: str
    message: str
    evidence: str | None
    turn: int | None


class MoveDoc(TypedDict):
    """Change of a dimension since the baseline; `turn` (from 0) changed most, null if unknown."""

    dimension: str
    before: float | None
    now: float | None
    delta: float | None
    turn: int | None


class GoldenDoc(TypedDict):
    """A golden, bounded in size, and its result over the trials of its scenario.

    `level` is the level of the score, `regression_status` is null if nothing was scored. `turns` has the mean
    scores of each turn by dimension; turns in `issues` are those of the golden.
    """

    id: str
    version: int
    title: str
    description: str
    conversation_id: str | None
    intent: str
    primary_stance: str
    secondary_stances: list[str]
    required_memory_recall: list[str]
    required_tool_usage: list[str]
    required_refusal: list[str]
    user_messages: list[str]
    golden_responses: list[str]
    tags: list[str]
    creator: str | None
    level: str | None
    regression_status: str | None
    previous_score: float | None
    moves: list[MoveDoc]
    turns: dict[str, Any]
    issues: list[IssueDoc]
    critical_issues: int


class TurnDoc(TypedDict):
    """One turn of a trial; `number` is the golden's turn, from 0, null if the golden does not have it.

    `is_missing` is true if only the golden has it.
    """

    number: int | None
    is_missing: bool
    user_message: str | None
    actual_response: str | None
    scores: dict[str, Any]
    latency_ms: float | None
    tokens: int | None
    cost_usd: float | None
    retrieved_memories: list[Any]
    tools_invoked: list[str]
    tool_results: list[Any]


class GoldenTrialDoc(TypedDict):
    """One trace compared with its golden; turns in `issues` are those of `turns`.

    `conversation_id` is that of the trace, null if it has none.
    """

    dimensions: dict[str, Any]
    turns: list[TurnDoc]
    issues: list[IssueDoc]
    conversation_id: str | None
