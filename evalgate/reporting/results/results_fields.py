"""The fields of each record of `evalgate.results/1`, with their allowed types."""

from __future__ import annotations

from typing import Literal, NamedTuple

TOKENS = ("total_tokens", "input_tokens", "output_tokens")
PRICED = ("known_usd", "recorded_usd")
MODEL_TOKENS = (
    *("request_tokens", "input_tokens", "output_tokens"),
    *("cache_read_input_tokens", "cache_write_input_tokens"),
)
AMOUNTS = ("cost_usd", "latency_seconds", *TOKENS)

Types = frozenset[type]
TEXT: Types = frozenset({str})
MAYBE_TEXT: Types = frozenset({str, type(None)})
NUMBER: Types = frozenset({int, float})
MAYBE_NUMBER: Types = frozenset({int, float, type(None)})
COUNT: Types = frozenset({int})
MAYBE_COUNT: Types = frozenset({int, type(None)})
FLAG: Types = frozenset({bool})
LIST: Types = frozenset({list})
MAYBE_LIST: Types = frozenset({list, type(None)})
RECORD: Types = frozenset({dict})
MAYBE_RECORD: Types = frozenset({dict, type(None)})
NAMES = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


class Field(NamedTuple):
    """One field; if absent it is refused, filled in with null or an empty list, or accepted."""

    name: str
    types: Types
    when_absent: Literal["refused", "filled in", "fine"] = "refused"


Shape = tuple[Field, ...]


def optional(types: Types, *names: str) -> Shape:
    """Returns fields that a later version added, or that may be null; absent ones are filled in."""
    return tuple(Field(name, types, when_absent="filled in") for name in names)


def needed(types: Types, *names: str) -> Shape:
    """Returns fields that every document has."""
    return tuple(Field(name, types) for name in names)


DOCUMENT: Shape = (
    *needed(TEXT, "evalgate_version", "created_at", "verdict"),
    *needed(COUNT, "exit_code"),
    *needed(FLAG, "report_only"),
    *needed(LIST, "reasons", "suites", "removed", "unclaimed", "warnings", "approvals"),
    *needed(MAYBE_RECORD, "summary", "baseline"),
    *optional(MAYBE_TEXT, "commit"),
    *(Field(name, MAYBE_RECORD, "fine") for name in ("figures", "comparison", "history", "rules")),
    *(Field(name, MAYBE_LIST, "fine") for name in ("quarantines", "weakenings")),
)
COMPARISON: Shape = (
    *needed(COUNT, "compared", "tested", "single_trial"),
    *optional(MAYBE_NUMBER, "expected_false_alarms"),
)
SCORES = ("pass_rate", "score", "score_min", "score_p50", "score_p95")
SUMS = ("cost_usd", "cost_mean_usd", "total_tokens", "tokens_mean", "latency_p50_s", "latency_p95_s")
DELTA: Shape = (
    *needed(COUNT, "scenarios"),
    *needed(LIST, "pass_k"),
    *optional(MAYBE_NUMBER, *SCORES, *SUMS),
    *optional(MAYBE_LIST, "pass_rate_interval", "score_interval"),
)
RUN_FIGURES: Shape = (
    *needed(COUNT, "scenarios", "trials"),
    *needed(LIST, "pass_k", "lost_checks"),
    *optional(MAYBE_NUMBER, *SCORES, *SUMS),
    *optional(MAYBE_LIST, "pass_rate_interval"),
    *optional(MAYBE_RECORD, "delta"),
)
PASS_K: Shape = (*needed(COUNT, "k"), *needed(NUMBER, "pass_at_k", "pass_hat_k"))
LOST_CHECK: Shape = (
    *needed(TEXT, "suite", "name", "type"),
    *needed(FLAG, "required"),
    *needed(COUNT, "failed", "scenarios"),
    *needed(NUMBER, "weight_lost"),
)
SUMMARY: Shape = (
    *needed(
        COUNT,
        *("scenarios", "passed", "failed", "partial", "hard_fails", "missing", "errors", "not_evaluable"),
        *("skipped", "regressions", "improvements", "regressed", "broken", "improved", "fixed", "new"),
        *("removed", "inconclusive"),
    ),
    *optional(MAYBE_NUMBER, "score", "pass_rate", "cost_usd", "latency_p50_s", "latency_p95_s"),
    *(Field(name, MAYBE_COUNT, "fine") for name in ("cost_computed", "quarantined")),
    *optional(MAYBE_COUNT, "total_tokens"),
)
COUNTS = tuple(field.name for field in SUMMARY if field.types is COUNT)
FIGURES = ("cost_usd", "latency_p50_s", "latency_p95_s", "total_tokens")
CHECKS: Shape = needed(COUNT, "passed", "failed", "not_evaluable", "skipped", "error")
BASELINE: Shape = (
    *needed(TEXT, "status"),
    *optional(MAYBE_TEXT, "sha", "path"),
    *optional(MAYBE_COUNT, "age_seconds", "distance"),
    *optional(MAYBE_RECORD, "summary"),
    Field("drift", MAYBE_RECORD, "fine"),
)
RULES: Shape = needed(TEXT, "from", "config_hash", "proposed_config_hash")
DRIFT: Shape = (*needed(TEXT, "found"), *needed(FLAG, "suites"), *needed(LIST, "evaluators"))
CHANGED_EVALUATOR: Shape = (*needed(TEXT, "type"), *needed(COUNT, "before", "now"))
REASON: Shape = (
    *needed(TEXT, "code", "message"),
    *(Field(name, MAYBE_TEXT, "fine") for name in ("suite", "scenario", "variant")),
    Field("location", MAYBE_RECORD, "fine"),
)
SUITE: Shape = (
    *needed(TEXT, "suite", "path", "verdict"),
    *optional(MAYBE_NUMBER, "score"),
    *needed(LIST, "scenarios"),
    *optional(LIST, "variants"),
    Field("figures", MAYBE_RECORD, "fine"),
)
VARIANT: Shape = (
    *needed(TEXT, "name"),
    *needed(COUNT, "scenarios", "passed", "trials"),
    *needed(RECORD, "correct_tool", "correct_count"),
    *optional(MAYBE_NUMBER, "pass_rate", *AMOUNTS),
)
SHARE: Shape = needed(COUNT, "held", "of")
SCENARIO: Shape = (
    *needed(TEXT, "id", "verdict"),
    *needed(NUMBER, "threshold"),
    *needed(COUNT, "n"),
    *needed(LIST, "trials"),
    *optional(MAYBE_TEXT, "variant", "reason"),
    *optional(MAYBE_NUMBER, "score", "pass_rate"),
    *optional(MAYBE_LIST, "pass_rate_interval"),
    *optional(MAYBE_RECORD, "dimensions", "location", "change"),
    Field("quarantined", FLAG, "fine"),
    Field("golden", MAYBE_RECORD, "fine"),
)
CHANGE: Shape = (
    *needed(TEXT, "kind", "reason"),
    *needed(LIST, "flags"),
    *optional(LIST, "increases"),
    *optional(MAYBE_NUMBER, "score_delta", "p_value"),
    *optional(MAYBE_TEXT, "previous_verdict"),
    Field("p_corrected", MAYBE_NUMBER, "fine"),
    Field("calls", MAYBE_RECORD, "fine"),
    Field("behaviour", MAYBE_RECORD, "fine"),
    Field("cause", MAYBE_RECORD, "fine"),
)
CALLS: Shape = (*needed(COUNT, "trial_before", "trial"), *needed(LIST, "before", "now"))
TRIAL: Shape = (
    *needed(COUNT, "trial"),
    *needed(RECORD, "trace"),
    *needed(TEXT, "status"),
    *needed(LIST, "assertions"),
    *optional(LIST, "tool_calls"),
    *optional(MAYBE_NUMBER, "score", "cost_usd", "latency_seconds"),
    *optional(MAYBE_COUNT, *TOKENS),
    *optional(MAYBE_TEXT, "reason"),
    Field("pricing", MAYBE_RECORD, "fine"),
    Field("golden", MAYBE_RECORD, "fine"),
)
PRICING: Shape = (
    *needed(NUMBER, *PRICED),
    *needed(LIST, "missing_models"),
    *optional(MAYBE_NUMBER, "usd"),
    *optional(MAYBE_TEXT, "table"),
    *optional(MAYBE_LIST, "usage"),
)
USAGE: Shape = (
    *needed(TEXT, "model"),
    *needed(COUNT, *MODEL_TOKENS),
    *optional(MAYBE_TEXT, "provider"),
)
TRACE: Shape = (
    *needed(TEXT, "path", "format"),
    *optional(MAYBE_TEXT, "id", "sha256"),
    *optional(MAYBE_COUNT, "line", "record"),
    *(Field(name, MAYBE_TEXT, "fine") for name in ("commit", "agent_hash", "recorded_at", "stale")),
)
ASSERTION: Shape = (
    *needed(TEXT, "name", "type", "outcome", "reason"),
    *needed(NUMBER, "score", "weight"),
    *needed(FLAG, "required"),
    *optional(MAYBE_RECORD, "location", "evidence"),
)
LOCATION: Shape = (*needed(TEXT, "file"), *optional(MAYBE_COUNT, "line", "column"))
REMOVED: Shape = (
    *needed(TEXT, "suite", "id", "verdict"),
    *optional(MAYBE_TEXT, "variant"),
    *optional(MAYBE_NUMBER, "score"),
)
UNCLAIMED: Shape = (
    *needed(TEXT, "suite", "path"),
    *optional(MAYBE_TEXT, "id", "scenario_id"),
    *optional(MAYBE_COUNT, "line", "record"),
)
WARNING: Shape = (*needed(TEXT, "code", "message"), *optional(MAYBE_TEXT, "where"))
