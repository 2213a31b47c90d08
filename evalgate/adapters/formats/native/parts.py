"""Reads the fields of a native trace besides its messages and calls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    amount,
    any_value,
    count,
    identifier,
    listing,
    mapping,
    milliseconds_between,
    number,
    one_of,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.run_state import STATE_KEYS, read_state
from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.adapters.formats.core.token_rules import RULES
from evalgate.adapters.formats.core.usage import (
    build_usage,
    read_cost_usd,
    read_finish_reason,
    read_latency_seconds,
    read_scores,
)
from evalgate.models.trace.actors import ROOT
from evalgate.models.trace.trace import (
    KINDS,
    NO_GAPS,
    Cost,
    ErrorInfo,
    Latency,
    LlmCall,
    Response,
    TraceLocation,
    Usage,
    unknown_usage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.models.trace.trace import EvidenceKind, ModelError, ToolCall, Trace

TOLERANCE = 1e-9


def position(value: Any, path: str) -> int:
    """A turn or step; 0 for None."""
    return count(value, path) or 0


def read_gaps(value: Any, path: str) -> Mapping[EvidenceKind, str]:
    """Kinds of evidence that are incomplete, each with the reason."""
    for kind, reason in mapping(value, path).items():
        if kind not in KINDS:
            raise FieldError(f"{path}.{make_printable(kind)}", f"is not one of {', '.join(KINDS)}")
        required_text(reason, f"{path}.{kind}")
    return value or NO_GAPS


def read_mappings(value: Any, path: str) -> list[dict[str, Any]]:
    """A list of objects with any content."""
    return [mapping(item, f"{path}[{index}]") for index, item in enumerate(listing(value, path))]


ERROR = FieldTable(type=text, message=text)


def read_error_info(value: Any, path: str) -> ErrorInfo | None:
    """An error: an object, or only its message."""
    if value is None:
        return None
    return {"type": None, "message": value} if type(value) is str else ERROR.read(value, path)


USAGE = FieldTable(
    **dict.fromkeys(unknown_usage().keys() - {"source"}, count),
    source=one_of("recorded_total", "inference_sum", "agent_span", "none"),
)


def read_usage(value: Any, path: str) -> Usage:
    """Tokens. Without `source` they are the recorded total, and a missing total is input plus output."""
    parts = USAGE.read(value, path)
    return {**build_usage(parts, RULES["native"], path), "source": parts["source"]}


COST = FieldTable(
    usd=amount,
    source=one_of("recorded", "computed", "partial", "unknown"),
    price_table=text,
    note=text,
    known_usd=amount,
)


def read_cost(value: Any, path: str) -> Cost:
    """Cost in full; an amount without a source is recorded."""
    cost: dict[str, Any] = {
        key: each for key, each in COST.read(value, path).items() if each is not None or key == "usd"
    }
    if cost["usd"] is None and value.get("source") is None:
        cost["source"] = "unknown"
    return cast("Cost", cost)


LATENCY = FieldTable(total_ms=amount, source=one_of("recorded", "span", "timestamps", "none"))


def read_latency(value: Any, path: str) -> Latency:
    """Latency in full; a total without a source is recorded."""
    latency: Latency = LATENCY.read(value, path)
    if latency["total_ms"] is None and value.get("source") is None:
        latency["source"] = "none"
    return latency


RESPONSE = FieldTable(content=text, finish_reason=read_finish_reason, message_index=count)


def read_response(value: Any, path: str) -> Response:
    """The final response, recorded separately from the messages."""
    for name in sorted(mapping(value, path).keys() - RESPONSE.keys):
        if value[name]:
            raise FieldError(f"{path}.{make_printable(name)}", f"is not one of {', '.join(sorted(RESPONSE.keys))}")
    found: Response = RESPONSE.read(value, path)
    return found


def read_tags(value: Any, path: str) -> list[str]:
    """A list of words, or a map that becomes `key:value`."""
    if type(value) is dict:
        return [f"{name}:{_read_tag_value(name, word, path)}" for name, word in value.items()]
    return [required_text(word, f"{path}[{index}]") for index, word in enumerate(listing(value, path))]


def _read_tag_value(name: str, value: Any, path: str) -> str:
    if type(value) is int or type(value) is float:
        return str(value)
    if type(value) is not str:
        raise FieldError(f"{path}.{make_printable(name)}", "is neither text nor a number")
    return value


def settle_actors(calls: Sequence[ToolCall], recorded: Sequence[dict[str, Any]]) -> None:
    """Sets the actors of calls that name none: the main agent; unknown if the names of several agents are recorded."""
    is_one = len({call["agent"] for call in calls}) <= 1
    for call, given in zip(calls, recorded, strict=True):
        if "actor" not in given:
            call["actor"] = ROOT if is_one else None
        if call["started_by"] is not None and call["started_by"] >= len(calls):
            raise FieldError(f"tool_calls[{call['index']}].started_by", "is not the index of a call")


SOURCE = FieldTable(path=text, format=text, line=count, record=count, sha256=text)


def read_source(value: Any, path: str) -> TraceLocation:
    """The location of the original trace, before it was written in the native format."""
    found = SOURCE.read(value, path)
    return TraceLocation(**{**found, "path": found["path"] or "", "format": found["format"] or ""})


def _read_model_error(value: Any, path: str) -> ModelError | None:
    """Why a request to a model failed: an object, or only the message."""
    error = read_error_info(value, path)
    if error is None:
        return None
    code = None if type(value) is str else count(value.get("status_code"), f"{path}.status_code")
    return {**error, "status_code": code}


LLM_CALL = FieldTable(
    index=any_value,
    turn=position,
    step=position,
    provider=text,
    model=text,
    response_id=text,
    usage=lambda value, path: None if value is None else read_usage(value, path),
    cost_usd=amount,
    duration_ms=amount,
    finish_reason=read_finish_reason,
    error=_read_model_error,
)


def read_llm_calls(value: Any, path: str) -> list[LlmCall]:
    """Requests to models; the index of each is its position in the list."""
    calls = LLM_CALL.read_each(value, path)
    for index, call in enumerate(calls):
        call["index"] = index
        if call["error"] is None:
            del call["error"]
    return calls


EVALUATION = FieldTable(name=required_text, score_value=number, score_label=text, explanation=text, source=text)
WARNING = FieldTable(code=required_text, message=required_text, where=text)
FIELDS: dict[str, Callable[[Any, str], Any]] = {
    "trace_id": text,
    "scenario_id": identifier,
    "trial": count,
    "conversation_id": text,
    "name": text,
    "agent": mapping,
    "provider": text,
    "model": text,
    "status": one_of("ok", "error", "incomplete"),
    "error": read_error_info,
    "stopped_by": text,
    "finish_reason": read_finish_reason,
    "started_at": time,
    "ended_at": time,
    "system_instructions": text,
    "tool_definitions": read_mappings,
    "llm_calls": read_llm_calls,
    "usage": read_usage,
    "cost": read_cost,
    "latency": read_latency,
    "response": read_response,
    "evaluations": EVALUATION.read_each,
    "tags": read_tags,
    "metadata": mapping,
    "commit": text,
    "agent_hash": text,
    "source": read_source,
    "state": read_state,
    "warnings": WARNING.read_each,
}
"""Fields that become the trace's attribute of the same name."""

PARTS = {
    "usage": USAGE.keys,
    "cost": COST.keys,
    "latency": LATENCY.keys,
    "error": ERROR.keys,
    "source": SOURCE.keys,
    "evaluations": EVALUATION.keys,
    "warnings": WARNING.keys,
    "llm_calls": LLM_CALL.keys,
    "state": STATE_KEYS,
}
"""The known fields of the parts of a trace."""

GAPS = "missing_evidence"
UNREADABLE = frozenset({"output", "outputs", "completion", "steps", "choices"})
"""Fields in which recorders keep what the agent did, and which a native trace does not have."""
KNOWN = frozenset(FIELDS) | {
    *("schema", "messages", "tool_calls", "cost_usd", "latency_seconds", "duration_ms", "scores", GAPS),
    *("run_id", "models", "resource", "spans"),
}
"""Fields that are read; the last ones hold what the other fields do."""


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
