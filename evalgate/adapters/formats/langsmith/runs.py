"""Converts a LangSmith run to a span and reads its facts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError, amount, mapping, required_text, text
from evalgate.adapters.formats.core.python_literals import unwrapped
from evalgate.adapters.formats.core.usage.provider_response import (
    ProviderResponse,
    langchain_usage,
    read_provider_response,
)
from evalgate.adapters.formats.messages.payload import carried, exchanged
from evalgate.adapters.formats.spans.encodings.values import moment
from evalgate.adapters.formats.spans.span import Facts, Span, SpanKind

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Usage

KINDS: dict[str, SpanKind] = {"llm": "inference", "tool": "tool", "embedding": "excluded"}
DECIMAL = re.compile(r"\d{1,9}(\.\d{1,30})?([eE]-?\d{1,2})?")
ORDER = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{6})Z")


def span_of(run: dict[str, Any]) -> Span:
    """The span of a run; raises FieldError."""
    error = text(run.get("error"), "error")
    return Span(
        text(run.get("trace_id"), "trace_id") or "",
        required_text(run.get("id"), "id"),
        text(run.get("parent_run_id"), "parent_run_id") or _parent(run.get("dotted_order")),
        text(run.get("name"), "name") or "",
        _start(run),
        moment(run.get("end_time"), "end_time"),
        {key: value for key, value in run.items() if key not in {"child_runs", "events", "serialized"}},
        has_failed=bool(error),
        status_message=error or None,
    )


def facts_of(span: Span) -> Facts:
    """Reads facts from a run; only the outermost chain is the agent, the others repeat their parts."""
    run = span.attributes
    kind = KINDS.get(str(run.get("run_type")), "other")
    if kind == "other" and span.parent_id is None:
        kind = "agent"
    library = mapping(mapping(run.get("extra"), "extra").get("runtime"), "extra.runtime").get("library")
    facts = Facts(kind, framework=_word(library) if library != "langsmith" else None)
    if kind == "inference":
        _add_answer(facts, run)
    elif kind == "tool":
        _add_tool(facts, span)
    elif kind == "agent":
        facts.agent = span.name or None
        facts.usage = _recorded_usage(run)
    if kind in ("inference", "agent"):
        facts.input, facts.output = exchanged(run.get("inputs"), run.get("outputs"))
        facts.cost_usd = _cost(run)
    if span.has_failed:
        facts.error_type = (span.status_message or "").partition("(")[0][:80].strip() or "error"
    return facts


def _add_answer(facts: Facts, run: dict[str, Any]) -> None:
    extra = mapping(run.get("extra"), "extra")
    metadata, settings = (
        mapping(extra.get(key), f"extra.{key}") for key in ("metadata", "invocation_params")
    )
    outputs = run.get("outputs")
    answer = read_provider_response(outputs)
    inner = _generated(outputs)
    asked = next((value for value in (metadata.get("ls_model_name"), settings.get("model")) if value), None)
    facts.provider = _word(metadata.get("ls_provider"))
    facts.model = answer.model or inner.model or _word(asked)
    facts.response_id = answer.id or inner.id
    facts.finish_reason = answer.finish_reason or inner.finish_reason
    facts.usage = answer.usage or inner.usage
    if facts.usage is None:
        facts.usage, facts.is_metered = _recorded_usage(run), False


def _generated(outputs: Any) -> ProviderResponse:
    """Reads LangChain's form of a response: a message, or the first generation's message."""
    value = outputs.get("output", outputs) if isinstance(outputs, dict) else None
    listed = value.get("generations") if isinstance(value, dict) else None
    info: dict[str, Any] = {}
    while isinstance(listed, list) and listed:
        listed = listed[0]
    if isinstance(listed, dict):
        info = _dict(listed.get("generation_info"))
        value = listed.get("message")
    message = _dict(value)
    message = _dict(message.get("kwargs", message.get("data", message)))
    told = _dict(message.get("response_metadata"))
    usage = _dict(message.get("usage_metadata"))
    return ProviderResponse(
        _word(told.get("id", message.get("id"))) if told else None,
        _word(told.get("model_name", told.get("model"))),
        _langchain(usage),
        _word(told.get("finish_reason", told.get("stop_reason", info.get("finish_reason")))),
    )


def _langchain(usage: dict[str, Any]) -> Usage | None:
    try:
        return langchain_usage(usage) if usage else None
    except FieldError:
        return None


def _recorded_usage(run: dict[str, Any]) -> Usage | None:
    """Usage from the run's columns, maybe counted by the platform; None if all are 0 (not counted)."""
    told = {
        "input_tokens": run.get("prompt_tokens"),
        "output_tokens": run.get("completion_tokens"),
        "total_tokens": run.get("total_tokens"),
        "input_token_details": run.get("prompt_token_details"),
        "output_token_details": run.get("completion_token_details"),
    }
    usage = langchain_usage(told)
    return usage if usage["input_tokens"] or usage["output_tokens"] or usage["total_tokens"] else None


def _cost(run: dict[str, Any]) -> float | None:
    """The cost in US dollars, from a number or decimal text."""
    told = run.get("total_cost")
    if isinstance(told, str):
        if not DECIMAL.fullmatch(told):
            raise FieldError("total_cost", "is no amount")
        told = float(told)
    return amount(told, "total_cost")


def _add_tool(facts: Facts, span: Span) -> None:
    run = span.attributes
    inputs, outputs = run.get("inputs"), run.get("outputs")
    facts.tool_name = span.name or None
    facts.arguments = _only(inputs, "input") if _only(inputs, "input") is not None else inputs
    result = outputs.get("output", outputs) if isinstance(outputs, dict) else outputs
    said = carried(result, "tool") if isinstance(result, dict) else None
    if said and said[0].answers:
        answered = said[0].answers[0]
        facts.tool_call_id, facts.result = answered.id, answered.content
        if answered.is_error:
            facts.error_type = "error"
    else:
        facts.result = result


def _only(value: Any, key: str) -> Any:
    """The object (also as text) under the only key of an object, else None."""
    if not isinstance(value, dict) or list(value) != [key]:
        return None
    inner = unwrapped(value[key])
    return inner if isinstance(inner, dict) else None


def _start(run: dict[str, Any]) -> int | None:
    """Start time; the JavaScript SDK's milliseconds lose the order that `dotted_order` keeps."""
    began = run.get("start_time")
    order = ORDER.match(str(run.get("dotted_order") or "").rpartition(".")[2])
    if isinstance(began, int) and order is not None:
        day, clock = "-".join(order.groups()[:3]), ":".join(order.groups()[3:6])
        return moment(f"{day}T{clock}.{order[7]}Z", "dotted_order")
    return moment(began, "start_time")


def _parent(order: Any) -> str | None:
    """The parent run's id, from `dotted_order`."""
    above = order.rpartition(".")[0] if isinstance(order, str) else ""
    return above.rpartition(".")[2].partition("Z")[2] or None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
