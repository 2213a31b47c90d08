"""Statistics and goldens in `results.json`."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from evalgate.models.run.bounds import (  # noqa: TC001  the schema is made of these types
    Amount,
    Count,
    Dimension,
    Interval,
    Score,
    SignedScore,
    SignedSum,
    Sum,
    Tokens,
)
from evalgate.models.run.golden import (  # noqa: TC001  the same
    IssueCategory,
    Level,
    RegressionStatus,
    Severity,
)


class PassKDoc(TypedDict):
    """Probability that at least one (`pass_at_k`), or every one (`pass_hat_k`), of k trials passes."""

    k: int
    pass_at_k: SignedScore
    pass_hat_k: SignedScore


class CostlyAssertionDoc(TypedDict):
    """An assertion that did not pass in `failed` trials of `scenarios` scenarios, and its lost weight."""

    suite: str
    name: str
    type: str
    required: bool
    failed: int
    scenarios: int
    weight_lost: Sum


class AmountsDoc(TypedDict):
    """Amounts with an unknown part are null; scores are over scenarios, the others over trials."""

    pass_rate: SignedScore | None
    pass_rate_interval: Interval | None
    pass_k: list[PassKDoc]
    score: SignedScore | None
    score_min: SignedScore | None
    score_p50: SignedScore | None
    score_p95: SignedScore | None
    cost_usd: SignedSum | None
    cost_mean_usd: SignedSum | None
    total_tokens: int | None
    tokens_mean: SignedSum | None
    latency_p50_s: SignedSum | None
    latency_p95_s: SignedSum | None


class DeltaDoc(AmountsDoc):
    """Change of the amounts over the `scenarios` that both sides measured: this run minus baseline."""

    scenarios: int
    score_interval: Interval | None


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
    expected_false_alarms: Sum | None


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
    pass_rate: Score | None
    trials: int
    correct_tool: ShareDoc
    correct_count: ShareDoc
    input_tokens: Amount | None
    output_tokens: Amount | None
    total_tokens: Amount | None
    cost_usd: Amount | None
    latency_seconds: Amount | None


class IssueDoc(TypedDict):
    """One issue; `turn` counts from 0 and is null for an issue of the whole conversation."""

    category: IssueCategory
    severity: Severity
    message: str
    evidence: str | None
    turn: Count | None


class MoveDoc(TypedDict):
    """Change of a dimension since the baseline; `turn` (from 0) changed most, null if unknown."""

    dimension: Dimension
    before: Score | None
    now: Score | None
    delta: SignedScore | None
    turn: Count | None


class GoldenDoc(TypedDict):
    """A golden, bounded in size, and its result over the trials of its scenario.

    `level` is the level of the score, `regression_status` is null if nothing was scored. `turns` has the mean
    scores of each turn by dimension; turns in `issues` are those of the golden.
    """

    id: str
    version: Count
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
    level: Level | None
    regression_status: RegressionStatus | None
    previous_score: Score | None
    moves: list[MoveDoc]
    turns: dict[Dimension, list[Score | None]]
    issues: list[IssueDoc]
    critical_issues: Count


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
