"""Statistics and goldens in `results.json`."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from evalgate.models.run.bounds import (  # noqa: TC001  the schema is made of these types
    Amount,
    Count,
    Dimension,
    Interval,
    Score,
    SignedScore,
    SignedSum,
    Sum,
)
from evalgate.models.run.golden import (  # noqa: TC001  the same
    Level,
    RegressionStatus,
)
from evalgate.models.run.trial_doc import IssueDoc  # noqa: TC001  the same


class PassKDoc(TypedDict):
    """Probability that at least one (`pass_at_k`), or every one (`pass_hat_k`), of k trials passes."""

    k: int
    pass_at_k: SignedScore
    pass_hat_k: SignedScore


class RoutingDoc(TypedDict):
    """How well skills were chosen, over trials of scenarios with `expected_skill` that passed or failed.

    `right` counts expected skills that were used, `missed` those that were not, `wrong` others that were used.
    """

    trials: Count
    right: Count
    wrong: Count
    missed: Count
    precision: Score | None
    recall: Score | None


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
    chance alone would call broken or fixed; null if none was tested. `behaviour_compared` scenarios have traces on
    both sides that were compared; absent if none has.
    """

    compared: int
    tested: int
    single_trial: int
    expected_false_alarms: Sum | None
    behaviour_compared: NotRequired[Count]


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
