"""The fields of each record of `evalgate.results/1`, with their allowed types."""

from __future__ import annotations

from typing import Literal, NamedTuple

TOKENS = ("total_tokens", "input_tokens", "output_tokens")
PRICED = ("known_usd", "recorded_usd")
MODEL_TOKENS = (
    *("request_tokens", "input_tokens", "output_tokens"),
    *("cache_read_input_tokens", "cache_write_input_tokens"),
)
AGENT_PARTS = ("model", "tools_hash", "prompt_hash")
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
TYPE_NAMES = {
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


def optional_fields(types: Types, *names: str) -> Shape:
    """Returns fields that a later version added, or that may be null; absent ones are filled in."""
    return tuple(Field(name, types, when_absent="filled in") for name in names)


def required_fields(types: Types, *names: str) -> Shape:
    """Returns fields that every document has."""
    return tuple(Field(name, types) for name in names)


DOCUMENT: Shape = (
    *required_fields(TEXT, "evalgate_version", "created_at", "verdict"),
    *required_fields(COUNT, "exit_code"),
    *required_fields(FLAG, "report_only"),
    *required_fields(LIST, "reasons", "suites", "removed", "unclaimed", "warnings", "approvals"),
    *required_fields(MAYBE_RECORD, "summary", "baseline"),
    *optional_fields(MAYBE_TEXT, "commit"),
    *(Field(name, MAYBE_RECORD, "fine") for name in ("figures", "comparison", "history", "rules")),
    *(Field(name, MAYBE_LIST, "fine") for name in ("quarantines", "weakenings")),
)
COMPARISON: Shape = (
    *required_fields(COUNT, "compared", "tested", "single_trial"),
    *optional_fields(MAYBE_NUMBER, "expected_false_alarms"),
)
SCORES = ("pass_rate", "score", "score_min", "score_p50", "score_p95")
SUMS = ("cost_usd", "cost_mean_usd", "total_tokens", "tokens_mean", "latency_p50_s", "latency_p95_s")
DELTA: Shape = (
    *required_fields(COUNT, "scenarios"),
    *required_fields(LIST, "pass_k"),
    *optional_fields(MAYBE_NUMBER, *SCORES, *SUMS),
    *optional_fields(MAYBE_LIST, "pass_rate_interval", "score_interval"),
)
STATISTICS: Shape = (
    *required_fields(COUNT, "scenarios", "trials"),
    Field("not_measured", COUNT, "fine"),
    *required_fields(LIST, "pass_k", "lost_checks"),
    *optional_fields(MAYBE_NUMBER, *SCORES, *SUMS),
    *optional_fields(MAYBE_LIST, "pass_rate_interval"),
    *optional_fields(MAYBE_RECORD, "delta"),
)
PASS_K: Shape = (*required_fields(COUNT, "k"), *required_fields(NUMBER, "pass_at_k", "pass_hat_k"))
LOST_CHECK: Shape = (
    *required_fields(TEXT, "suite", "name", "type"),
    *required_fields(FLAG, "required"),
    *required_fields(COUNT, "failed", "scenarios"),
    *required_fields(NUMBER, "weight_lost"),
)
SUMMARY: Shape = (
    *required_fields(
        COUNT,
        *("scenarios", "passed", "failed", "partial", "hard_fails", "missing", "errors", "not_evaluable"),
        *("skipped", "regressions", "improvements", "regressed", "broken", "improved", "fixed", "new"),
        *("removed", "inconclusive"),
    ),
    *optional_fields(MAYBE_NUMBER, "score", "pass_rate", "cost_usd", "latency_p50_s", "latency_p95_s"),
    *(Field(name, MAYBE_COUNT, "fine") for name in ("cost_computed", "quarantined", "not_measured")),
    *optional_fields(MAYBE_COUNT, "total_tokens"),
)
COUNTS = tuple(field.name for field in SUMMARY if field.types is COUNT)
SUMMARY_FIGURES = ("cost_usd", "latency_p50_s", "latency_p95_s", "total_tokens")
CHECKS: Shape = required_fields(COUNT, "passed", "failed", "not_evaluable", "skipped", "error")
BASELINE: Shape = (
    *required_fields(TEXT, "status"),
    *optional_fields(MAYBE_TEXT, "sha", "path"),
    *optional_fields(MAYBE_COUNT, "age_seconds", "distance"),
    *optional_fields(MAYBE_RECORD, "summary"),
    Field("drift", MAYBE_RECORD, "fine"),
)
RULES: Shape = required_fields(TEXT, "from", "config_hash", "proposed_config_hash")
DRIFT: Shape = (*required_fields(TEXT, "found"), *required_fields(FLAG, "suites"), *required_fields(LIST, "evaluators"))
CHANGED_EVALUATOR: Shape = (*required_fields(TEXT, "type"), *required_fields(COUNT, "before", "now"))
REASON: Shape = (
    *required_fields(TEXT, "code", "message"),
    *(Field(name, MAYBE_TEXT, "fine") for name in ("suite", "scenario", "variant")),
    Field("location", MAYBE_RECORD, "fine"),
)
SUITE: Shape = (
    *required_fields(TEXT, "suite", "path", "verdict"),
    *optional_fields(MAYBE_NUMBER, "score"),
    *required_fields(LIST, "scenarios"),
    *optional_fields(LIST, "variants"),
    Field("figures", MAYBE_RECORD, "fine"),
    Field("unmatched", MAYBE_TEXT, "fine"),
)
VARIANT: Shape = (
    *required_fields(TEXT, "name"),
    *required_fields(COUNT, "scenarios", "passed", "trials"),
    *required_fields(RECORD, "correct_tool", "correct_count"),
    *optional_fields(MAYBE_NUMBER, "pass_rate", *AMOUNTS),
)
SHARE: Shape = required_fields(COUNT, "held", "of")
SCENARIO: Shape = (
    *required_fields(TEXT, "id", "verdict"),
    *required_fields(NUMBER, "threshold"),
    *required_fields(COUNT, "n"),
    *required_fields(LIST, "trials"),
    *optional_fields(MAYBE_TEXT, "variant", "reason"),
    *optional_fields(MAYBE_NUMBER, "score", "pass_rate"),
    *optional_fields(MAYBE_LIST, "pass_rate_interval"),
    *optional_fields(MAYBE_RECORD, "dimensions", "location", "change"),
    Field("quarantined", FLAG, "fine"),
    Field("not_measured", COUNT, "fine"),
    Field("golden", MAYBE_RECORD, "fine"),
)
CHANGE: Shape = (
    *required_fields(TEXT, "kind", "reason"),
    *required_fields(LIST, "flags"),
    *optional_fields(LIST, "increases"),
    *optional_fields(MAYBE_NUMBER, "score_delta", "p_value"),
    *optional_fields(MAYBE_TEXT, "previous_verdict"),
    Field("p_corrected", MAYBE_NUMBER, "fine"),
    Field("calls", MAYBE_RECORD, "fine"),
    Field("behaviour", MAYBE_RECORD, "fine"),
    Field("cause", MAYBE_RECORD, "fine"),
    Field("comes_with", LIST, "fine"),
)
CALLS: Shape = (*required_fields(COUNT, "trial_before", "trial"), *required_fields(LIST, "before", "now"))
TRIAL: Shape = (
    *required_fields(COUNT, "trial"),
    *required_fields(RECORD, "trace"),
    *required_fields(TEXT, "status"),
    *required_fields(LIST, "assertions"),
    *optional_fields(LIST, "tool_calls"),
    *optional_fields(MAYBE_NUMBER, "score", "cost_usd", "latency_seconds"),
    *optional_fields(MAYBE_COUNT, *TOKENS),
    *optional_fields(MAYBE_TEXT, "reason"),
    Field("pricing", MAYBE_RECORD, "fine"),
    Field("golden", MAYBE_RECORD, "fine"),
)
PRICING: Shape = (
    *required_fields(NUMBER, *PRICED),
    *required_fields(LIST, "missing_models"),
    *optional_fields(MAYBE_NUMBER, "usd"),
    *optional_fields(MAYBE_TEXT, "table"),
    *optional_fields(MAYBE_LIST, "usage"),
)
USAGE: Shape = (
    *required_fields(TEXT, "model"),
    *required_fields(COUNT, *MODEL_TOKENS),
    *optional_fields(MAYBE_TEXT, "provider"),
)
TRACE: Shape = (
    *required_fields(TEXT, "path", "format"),
    *optional_fields(MAYBE_TEXT, "id", "sha256"),
    *optional_fields(MAYBE_COUNT, "line", "record"),
    *(Field(name, MAYBE_TEXT, "fine") for name in ("commit", "agent_hash", "recorded_at", "stale", *AGENT_PARTS)),
)
ASSERTION: Shape = (
    *required_fields(TEXT, "name", "type", "outcome", "reason"),
    *required_fields(NUMBER, "score", "weight"),
    *required_fields(FLAG, "required"),
    *optional_fields(MAYBE_RECORD, "location", "evidence"),
)
LOCATION: Shape = (*required_fields(TEXT, "file"), *optional_fields(MAYBE_COUNT, "line", "column"))
REMOVED: Shape = (
    *required_fields(TEXT, "suite", "id", "verdict"),
    *optional_fields(MAYBE_TEXT, "variant"),
    *optional_fields(MAYBE_NUMBER, "score"),
)
UNCLAIMED: Shape = (
    *required_fields(TEXT, "suite", "path"),
    *optional_fields(MAYBE_TEXT, "id", "scenario_id"),
    *optional_fields(MAYBE_COUNT, "line", "record"),
)
WARNING: Shape = (*required_fields(TEXT, "code", "message"), *optional_fields(MAYBE_TEXT, "where"))
