"""Reads fields of a native trace that have two spellings; if both are set, they must be equal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError, amount, milliseconds_between
from evalgate.adapters.formats.core.usage.usage_fields import read_cost_usd, read_latency_seconds, read_scores

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

TOLERANCE = 1e-9


def settle_spellings(trace: Trace, document: dict[str, Any]) -> None:
    """Sets cost, latency and scores from their short spellings; raises FieldError if two differ."""
    if document.get("cost_usd") is not None:
        _settle_cost(trace, document)
    if document.get("latency_seconds") is not None:
        _settle_latency(trace, document, "latency_seconds", 1000)
    if document.get("duration_ms") is not None:
        _settle_latency(trace, document, "duration_ms", 1)
    if document.get("scores") is not None:
        _settle_scores(trace, document)
    if trace.latency["total_ms"] is None and document.get("latency") is None:
        set_latency_from_times(trace)


def _settle_cost(trace: Trace, document: dict[str, Any]) -> None:
    full = trace.cost["usd"]
    if document.get("cost") is None:
        trace.cost, warnings = read_cost_usd(document["cost_usd"], trace.usage, "cost_usd")
        trace.warnings = [*trace.warnings, *warnings]
    elif not _are_equal(full, amount(document["cost_usd"], "cost_usd")):
        raise FieldError("cost_usd", "and `cost.usd` differ")


def _settle_latency(trace: Trace, document: dict[str, Any], name: str, factor: int) -> None:
    total = amount(document[name], name) if factor == 1 else read_latency_seconds(document[name], name)["total_ms"]
    if trace.latency["total_ms"] is None and document.get("latency") is None:
        trace.latency = {"total_ms": total, "source": "recorded"}
    elif not _are_equal(trace.latency["total_ms"], total):
        raise FieldError(name, "and another latency of the trace differ")


def _settle_scores(trace: Trace, document: dict[str, Any]) -> None:
    scores = read_scores(document["scores"], "scores")
    if document.get("evaluations") is None:
        trace.evaluations = scores
        return
    full = {found["name"]: found["score_value"] for found in trace.evaluations}
    for score in scores:
        if score["name"] not in full or not _are_equal(full[score["name"]], score["score_value"]):
            raise FieldError("scores", "and `evaluations` differ")


def set_latency_from_times(trace: Trace) -> None:
    """Sets the latency from start and end if both are known."""
    total = milliseconds_between(trace.started_at, trace.ended_at)
    if total is not None:
        trace.latency = {"total_ms": total, "source": "timestamps"}


def _are_equal(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
