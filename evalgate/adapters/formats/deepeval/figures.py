"""Tokens, times and scores of DeepEval's test cases, traces and spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import (
    FieldTable,
    count,
    do_each,
    get_field,
    listing,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.usage import TokenTable, build_score

if TYPE_CHECKING:
    from evalgate.models.trace.trace import TraceScore

TIMES = FieldTable(started_at=(time, "startTime", "start_time"), ended_at=(time, "endTime", "end_time"))
USAGE = TokenTable(
    "plain",
    input_tokens=(count, "inputTokenCount", "input_token_count"),
    output_tokens=(count, "outputTokenCount", "output_token_count"),
)


def read_scores(judged: dict[str, Any]) -> list[TraceScore]:
    """The scores of the metrics, each with its reason."""
    scores: list[TraceScore] = []

    def add_score(metric: dict[str, Any]) -> None:
        score = build_score(required_text(metric.get("name"), "name"), metric.get("score"), "score")
        score["explanation"] = text(metric.get("reason"), "reason") or text(metric.get("error"), "error")
        score["source"] = text(get_field(metric, "evaluation_model"), "evaluationModel")
        success = metric.get("success")
        score["score_label"] = None if not isinstance(success, bool) else "passed" if success else "failed"
        scores.append(score)

    do_each(listing(get_field(judged, "metrics_data"), "metricsData"), "metricsData", add_score)
    return scores
