"""The figures in `results.json`: of variants, suites and the run, and how they moved since the baseline."""

from __future__ import annotations

from typing import TypedDict


class PassKDoc(TypedDict):
    """Chance that at least one (`pass_at_k`), and that every one (`pass_hat_k`), of k trials passes."""

    k: int
    pass_at_k: float
    pass_hat_k: float


class LostCheckDoc(TypedDict):
    """A check that did not pass in `failed` trials of `scenarios` scenarios, and the weight that it lost."""

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
    """How they moved over the `scenarios` that both sides have: now minus before."""

    scenarios: int
    score_interval: list[float] | None


class FiguresDoc(AmountsDoc):
    """The figures of a suite or a run; `delta` is null where nothing was compared."""

    scenarios: int
    trials: int
    lost_checks: list[LostCheckDoc]
    delta: DeltaDoc | None


class ComparisonDoc(TypedDict):
    """How much of the comparison can be told from noise.

    `compared` scenarios were evaluated on both sides, `tested` of them have trials enough for a test there,
    `single_trial` one trial on a side. At most `expected_false_alarms` of the tested ones chance alone would
    call broken or fixed; null where none is tested.
    """

    compared: int
    tested: int
    single_trial: int
    expected_false_alarms: float | None


class ShareDoc(TypedDict):
    """In how many trials it held, of those in which it could be told."""

    held: int
    of: int


class VariantDoc(TypedDict):
    """One variant of a suite beside the others.

    `passed` of `scenarios` have the verdict PASS. Tokens, cost and latency are means over the `trials`, null
    where one of them is unknown.
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
