"""Reads Langfuse exports. Entry points: `LANGFUSE`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object

ROW_TYPES = (
    *("GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN"),
    *("RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"),
)


def is_langfuse_trace(value: Any) -> bool:
    """True for an export of one trace, with its observations inside or next to it."""
    if not isinstance(value, dict) or not isinstance(value.get("observations"), list):
        return False
    trace = value.get("trace", value)
    return isinstance(trace, dict) and "id" in trace and ("timestamp" in trace or "trace" in value)


def is_langfuse_row(value: Any) -> bool:
    """True for one observation, which names its trace."""
    if not isinstance(value, dict) or "startTime" not in value:
        return False
    return isinstance(value.get("traceId"), str) and value.get("type") in ROW_TYPES


def _claims_langfuse(value: Any) -> bool:
    first = first_object(value)
    if isinstance(first.get("data"), list):
        first = first_object(first["data"])
    return is_langfuse_trace(first) or is_langfuse_row(first)


LANGFUSE = Format(
    name="langfuse",
    needs="a trace with `observations` (in `trace`, or next to it)",
    claims=_claims_langfuse,
    module="langfuse.reader",
    joins_lines=True,
)
