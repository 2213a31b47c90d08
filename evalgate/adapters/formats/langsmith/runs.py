"""Converts a LangSmith run to a span and reads its facts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError, amount, dict_or_empty, mapping, required_text, text
from evalgate.adapters.formats.core.usage.provider_response import (
    ProviderResponse,
    read_langchain_usage,
    read_provider_response,
)
from evalgate.adapters.formats.messages.payload import read_exchange
from evalgate.adapters.formats.spans.dialects.langsmith import add_tool_exchange
from evalgate.adapters.formats.spans.encodings.values import parse_time
from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Usage

KINDS: dict[str, SpanKind] = {"llm": "inference", "tool": "tool", "embedding": "excluded"}
DECIMAL_PATTERN = re.compile(r"\d{1,9}(\.\d{1,30})?([eE]-?\d{1,2})?")
START_PATTERN = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{6})Z")


def span_from_run(run: dict[str, Any]) -> Span:
    """The span of a run; raises FieldError."""
    error = text(run.get("error"), "error")
    return Span(
        text(run.get("trace_id"), "trace_id") or "",
        required_text(run.get("id"), "id"),
        text(run.get("parent_run_id"), "parent_run_id") or _parent_id(run.get("dotted_order")),
        text(run.get("name"), "name") or "",
        _start_time(run),
        parse_time(run.get("end_time"), "end_time"),
        {key: value for key, value in run.items() if key not in {"child_runs", "events", "serialized"}},
        has_failed=bool(error),
        status_message=error or None,
    )


def read_facts(span: Span) -> SpanFacts:
    """Reads facts from a run; only the outermost chain is the agent, the others repeat their parts."""
    run = span.attributes
    kind = KINDS.get(str(run.get("run_type")), "other")
    if kind == "other" and span.parent_id is None:
        kind = "agent"
    library = mapping(mapping(run.get("extra"), "extra").get("runtime"), "extra.runtime").get("library")
    facts = SpanFacts(kind, framework=_text_or_none(library) if library != "langsmith" else None)
    if kind == "inference":
        _add_answer(facts, run)
    elif kind == "tool":
        facts.tool_name = span.name or None
        add_tool_exchange(facts, run.get("inputs"), run.get("outputs"))
    elif kind == "agent":
        facts.agent = span.name or None
        facts.usage = _recorded_usage(run)
    if kind in ("inference", "agent"):
        facts.input, facts.output = read_exchange(run.get("inputs"), run.get("outputs"))
        facts.cost_usd = _read_cost(run)
    if span.has_failed:
        facts.error_type = (span.status_message or "").partition("(")[0][:80].strip() or "error"
    return facts


def _add_answer(facts: SpanFacts, run: dict[str, Any]) -> None:
    extra = mapping(run.get("extra"), "extra")
    metadata, settings = (mapping(extra.get(key), f"extra.{key}") for key in ("metadata", "invocation_params"))
    outputs = run.get("outputs")
    answer = read_provider_response(outputs)
    inner = _read_generation(outputs)
    asked = next((value for value in (metadata.get("ls_model_name"), settings.get("model")) if value), None)
    facts.provider = _text_or_none(metadata.get("ls_provider"))
    facts.model = answer.model or inner.model or _text_or_none(asked)
    facts.response_id = answer.id or inner.id
    facts.finish_reason = answer.finish_reason or inner.finish_reason
    facts.usage = answer.usage or inner.usage
    if facts.usage is None:
        facts.usage, facts.is_metered = _recorded_usage(run), False


def _read_generation(outputs: Any) -> ProviderResponse:
    """Reads LangChain's form of a response: a message, or the first generation's message."""
    value = outputs.get("output", outputs) if isinstance(outputs, dict) else None
    listed = value.get("generations") if isinstance(value, dict) else None
    info: dict[str, Any] = {}
    while isinstance(listed, list) and listed:
        listed = listed[0]
    if isinstance(listed, dict):
        info = dict_or_empty(listed.get("generation_info"))
        value = listed.get("message")
    message = dict_or_empty(value)
    message = dict_or_empty(message.get("kwargs", message.get("data", message)))
    metadata = dict_or_empty(message.get("response_metadata"))
    usage = dict_or_empty(message.get("usage_metadata"))
    return ProviderResponse(
        _text_or_none(metadata.get("id", message.get("id"))) if metadata else None,
        _text_or_none(metadata.get("model_name", metadata.get("model"))),
        _read_usage(usage),
        _text_or_none(metadata.get("finish_reason", metadata.get("stop_reason", info.get("finish_reason")))),
    )


def _read_usage(usage: dict[str, Any]) -> Usage | None:
    try:
        return read_langchain_usage(usage) if usage else None
    except FieldError:
        return None


def _recorded_usage(run: dict[str, Any]) -> Usage | None:
    """Usage from the run's columns, maybe counted by the platform; None if all are 0 (not counted)."""
    counts = {
        "input_tokens": run.get("prompt_tokens"),
        "output_tokens": run.get("completion_tokens"),
        "total_tokens": run.get("total_tokens"),
        "input_token_details": run.get("prompt_token_details"),
        "output_token_details": run.get("completion_token_details"),
    }
    usage = read_langchain_usage(counts)
    return usage if usage["input_tokens"] or usage["output_tokens"] or usage["total_tokens"] else None


def _read_cost(run: dict[str, Any]) -> float | None:
    """The cost in US dollars, from a number or decimal text."""
    cost = run.get("total_cost")
    if isinstance(cost, str):
        if not DECIMAL_PATTERN.fullmatch(cost):
            raise FieldError("total_cost", "is not an amount")
        cost = float(cost)
    return amount(cost, "total_cost")


def _start_time(run: dict[str, Any]) -> int | None:
    """Start time; the JavaScript SDK's milliseconds lose the order that `dotted_order` keeps."""
    began = run.get("start_time")
    order = START_PATTERN.match(str(run.get("dotted_order") or "").rpartition(".")[2])
    if isinstance(began, int) and order is not None:
        day, clock = "-".join(order.groups()[:3]), ":".join(order.groups()[3:6])
        return parse_time(f"{day}T{clock}.{order[7]}Z", "dotted_order")
    return parse_time(began, "start_time")


def _parent_id(order: Any) -> str | None:
    """The parent run's id, from `dotted_order`."""
    above = order.rpartition(".")[0] if isinstance(order, str) else ""
    return above.rpartition(".")[2].partition("Z")[2] or None


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
