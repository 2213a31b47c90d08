"""Reads and checks the smaller parts of a native trace: usage, cost, latency, response, tags and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    count,
    listing,
    mapping,
    number,
    required_text,
    text,
)
from evalgate.adapters.formats.core.strict_json import make_printable, require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason, total_tokens
from evalgate.models.trace.evidence import KINDS, NO_GAPS
from evalgate.models.trace.trace import (
    Cost,
    ErrorInfo,
    Latency,
    LlmCall,
    ModelError,
    Response,
    TraceLocation,
    TraceScore,
    Usage,
    Warning_,
    unknown_usage,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.formats.native.unknown_fields import UnknownFields
    from evalgate.models.trace.evidence import EvidenceKind

TOKENS = unknown_usage().keys() - {"source"}
USAGE_FIELDS = frozenset({*TOKENS, "source"})
USAGE_SOURCES = ("recorded_total", "inference_sum", "agent_span", "none")
COST_SOURCES = ("recorded", "computed", "partial", "unknown")
LATENCY_SOURCES = ("recorded", "span", "timestamps", "none")
RESPONSE_FIELDS = frozenset({"content", "finish_reason", "message_index"})
STATUSES = ("ok", "error", "incomplete")


def read_one_of(value: Any, words: tuple[str, ...], path: str) -> Any:
    """One of `words`; the first if the value is None."""
    if value is None:
        return words[0]
    if type(value) is not str or value not in words:
        raise FieldError(path, f"is not one of {', '.join(words)}")
    return value


def read_gaps(value: Any, path: str) -> Mapping[EvidenceKind, str]:
    """Kinds of evidence that are incomplete, each with the reason."""
    for kind, reason in mapping(value, path).items():
        if kind not in KINDS:
            raise FieldError(f"{path}.{make_printable(kind)}", f"is not one of {', '.join(KINDS)}")
        required_text(reason, f"{path}.{kind}")
    return value or NO_GAPS


def read_status(value: Any, path: str) -> Any:
    """The status of the run."""
    return read_one_of(value, STATUSES, path)


def read_finish_reason(value: Any, path: str) -> str | None:
    """Why the model stopped, in one vocabulary."""
    return None if value is None else finish_reason(text(value, path))


def read_free_mapping(value: Any, path: str) -> dict[str, Any]:
    """An object with any content."""
    require_shallow(value, 1)
    return mapping(value, path)


def read_free_mappings(value: Any, path: str) -> list[dict[str, Any]]:
    """A list of objects with any content."""
    require_shallow(value, 1)
    return [mapping(item, f"{path}[{index}]") for index, item in enumerate(listing(value, path))]


def read_error_info(value: Any, path: str) -> ErrorInfo:
    """An error: an object, or only its message."""
    if type(value) is str:
        return {"type": None, "message": value}
    found = mapping(value, path)
    return {
        "type": text(found.get("type"), f"{path}.type"),
        "message": text(found.get("message"), f"{path}.message"),
    }


def read_usage(value: Any, path: str) -> Usage:
    """Tokens. Without `source` they are the recorded total, and a missing total is input plus output."""
    found = mapping(value, path)
    tokens = unknown_usage()
    for name, recorded in found.items():
        if name in TOKENS and recorded is not None:
            tokens[name] = count(recorded, f"{path}.{name}")  # type: ignore[literal-required]
    if found.get("source") is not None:
        tokens["source"] = read_one_of(found["source"], USAGE_SOURCES, f"{path}.source")
        return tokens
    tokens["source"] = "recorded_total"
    if tokens["total_tokens"] is None:
        tokens["total_tokens"] = total_tokens(tokens)
    return tokens


def note_unknown_usage(value: Any, unknown: UnknownFields) -> None:
    """Notes unknown fields of usage, which would be lost silently."""
    if value is not None and not value.keys() <= USAGE_FIELDS:
        for name in sorted(value.keys() - USAGE_FIELDS):
            unknown.add("usage", name, USAGE_FIELDS)


def read_cost(value: Any, path: str) -> Cost:
    """Cost in full; an amount without a source is recorded."""
    found = mapping(value, path)
    usd = amount(found.get("usd"), f"{path}.usd")
    given = "unknown" if usd is None and found.get("source") is None else found.get("source")
    result: Cost = {"usd": usd, "source": read_one_of(given, COST_SOURCES, f"{path}.source")}
    for name in ("price_table", "note"):
        if found.get(name) is not None:
            result[name] = text(found[name], f"{path}.{name}")
    if found.get("known_usd") is not None:
        result["known_usd"] = amount(found["known_usd"], f"{path}.known_usd")
    return result


def read_latency(value: Any, path: str) -> Latency:
    """Latency in full; a total without a source is recorded."""
    found = mapping(value, path)
    total = amount(found.get("total_ms"), f"{path}.total_ms")
    given = "none" if total is None and found.get("source") is None else found.get("source")
    return {"total_ms": total, "source": read_one_of(given, LATENCY_SOURCES, f"{path}.source")}


def read_response(value: Any, path: str) -> Response:
    """The final response, recorded separately from the messages."""
    found = mapping(value, path)
    for name in sorted(found.keys() - RESPONSE_FIELDS):
        if found[name]:
            raise FieldError(f"{path}.{make_printable(name)}", f"is not one of {', '.join(sorted(RESPONSE_FIELDS))}")
    return {
        "content": text(found.get("content"), f"{path}.content"),
        "finish_reason": read_finish_reason(found.get("finish_reason"), f"{path}.finish_reason"),
        "message_index": count(found.get("message_index"), f"{path}.message_index"),
    }


def read_evaluations(value: Any, path: str) -> list[TraceScore]:
    """Scores in full."""
    return [_read_evaluation(item, f"{path}[{index}]") for index, item in enumerate(listing(value, path))]


def read_tags(value: Any, path: str) -> list[str]:
    """A list of words, or a map that becomes `key:value`."""
    if type(value) is dict:
        return [f"{name}:{_read_tag_value(name, word, path)}" for name, word in value.items()]
    return [required_text(word, f"{path}[{index}]") for index, word in enumerate(listing(value, path))]


def read_warnings(value: Any, path: str) -> list[Warning_]:
    """Warnings that an earlier reader of the same trace added."""
    found = read_free_mappings(value, path)
    return [
        {
            "code": required_text(item.get("code"), f"{path}[{index}].code"),
            "message": required_text(item.get("message"), f"{path}[{index}].message"),
            "where": text(item.get("where"), f"{path}[{index}].where"),
        }
        for index, item in enumerate(found)
    ]


def read_source(value: Any, path: str) -> TraceLocation:
    """The location of the original trace, before it was written in the native format."""
    found = mapping(value, path)
    return TraceLocation(
        path=text(found.get("path"), f"{path}.path") or "",
        format=text(found.get("format"), f"{path}.format") or "",
        line=count(found.get("line"), f"{path}.line"),
        record=count(found.get("record"), f"{path}.record"),
        sha256=text(found.get("sha256"), f"{path}.sha256"),
    )


def llm_calls(value: Any, path: str) -> list[LlmCall]:
    """Requests to models; the index of each is its position in the list."""
    found = read_free_mappings(value, path)
    return [_read_llm_call(item, index, f"{path}[{index}]") for index, item in enumerate(found)]


def _read_llm_call(found: dict[str, Any], index: int, path: str) -> LlmCall:
    tokens = found.get("usage")
    call: LlmCall = {
        "index": index,
        "turn": count(found.get("turn"), f"{path}.turn") or 0,
        "step": count(found.get("step"), f"{path}.step") or 0,
        "provider": text(found.get("provider"), f"{path}.provider"),
        "model": text(found.get("model"), f"{path}.model"),
        "response_id": text(found.get("response_id"), f"{path}.response_id"),
        "usage": None if tokens is None else read_usage(tokens, f"{path}.usage"),
        "cost_usd": amount(found.get("cost_usd"), f"{path}.cost_usd"),
        "duration_ms": amount(found.get("duration_ms"), f"{path}.duration_ms"),
        "finish_reason": read_finish_reason(found.get("finish_reason"), f"{path}.finish_reason"),
    }
    if found.get("error") is not None:
        call["error"] = _read_model_error(found["error"], f"{path}.error")
    return call


def _read_model_error(value: Any, path: str) -> ModelError:
    """Why a request to a model failed: an object, or only the message."""
    error = read_error_info(value, path)
    code = None if type(value) is str else count(value.get("status_code"), f"{path}.status_code")
    return {**error, "status_code": code}


def _read_evaluation(value: Any, path: str) -> TraceScore:
    found = mapping(value, path)
    return {
        "name": required_text(found.get("name"), f"{path}.name"),
        "score_value": number(found.get("score_value"), f"{path}.score_value"),
        "score_label": text(found.get("score_label"), f"{path}.score_label"),
        "explanation": text(found.get("explanation"), f"{path}.explanation"),
        "source": text(found.get("source"), f"{path}.source"),
    }


def _read_tag_value(name: str, value: Any, path: str) -> str:
    if type(value) is int or type(value) is float:
        return str(value)
    if type(value) is not str:
        raise FieldError(f"{path}.{make_printable(name)}", "is neither text nor a number")
    return value
