"""Converts a Langfuse observation to a span and reads its facts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import amount, dict_or_empty, mapping, required_text, text
from evalgate.adapters.formats.core.langfuse_tokens import read_usage_details
from evalgate.adapters.formats.core.provider_response import ProviderResponse, read_provider_response
from evalgate.adapters.formats.core.python_literals import unwrap_text
from evalgate.adapters.formats.messages.sniff_messages import read_exchange, read_payload
from evalgate.adapters.formats.spans import dialects
from evalgate.adapters.formats.spans.dialects.genai import read_tool_definitions
from evalgate.adapters.formats.spans.encodings.values import is_app_root, parse_time
from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.builder.conversation import ToolResult
    from evalgate.models.trace.trace import Usage

KINDS: dict[str, SpanKind] = {
    "GENERATION": "inference",
    "AGENT": "agent",
    "TOOL": "tool",
    "EMBEDDING": "excluded",
    "EVALUATOR": "excluded",
}
PLAIN_USAGE = frozenset({"input", "output", "total"})
USAGE_COLUMNS = {"input": "inputUsage", "output": "outputUsage", "total": "totalUsage"}
NUMBER_KEY = re.compile(r"usage|token|finish_reasons")
# This instrumentation makes a span of every event: `...start-4`, `...update-11`, `...success-12`.
EVENT_SCOPE = "openinference.instrumentation.beeai"
RESULT_EVENT = ".partial_update-"


def span_from_row(row: dict[str, Any]) -> Span:
    """The span of an observation, with its tracer's attributes decoded; raises FieldError."""
    metadata = dict_or_empty(unwrap_text(row.get("metadata")))
    attributes = dict_or_empty(unwrap_text(metadata.get("attributes")))
    scope = dict_or_empty(unwrap_text(metadata.get("scope"))).get("name")
    return Span(
        text(row.get("traceId"), "traceId") or "",
        required_text(row.get("id"), "id"),
        text(row.get("parentObservationId"), "parentObservationId"),
        text(row.get("name"), "name") or "",
        parse_time(row.get("startTime"), "startTime"),
        parse_time(row.get("endTime"), "endTime"),
        {"row": row, "attributes": {key: _parse_number(key, value) for key, value in attributes.items()}},
        scope=scope if isinstance(scope, str) else None,
        has_failed=row.get("level") == "ERROR",
        status_message=text(row.get("statusMessage"), "statusMessage") or None,
        is_entry=row.get("isAppRoot") is True or is_app_root(attributes),
    )


def read_facts(span: Span) -> SpanFacts:
    """Reads facts from an observation's columns and from its tracer's attributes."""
    row, attributes = span.attributes["row"], span.attributes["attributes"]
    facts = _read_tracer_facts(span, attributes)
    if facts.kind == "other":
        facts.kind = KINDS.get(str(row.get("type")), "other")
    if span.scope == EVENT_SCOPE:
        _choose_event_kind(facts, span)
    outputs = unwrap_text(row.get("output"))
    if facts.kind == "other" and span.parent_id is None:
        facts.kind = "agent"
    elif facts.kind == "other" and _read_tool_result(outputs, span.name) is not None:
        facts.kind = "tool"
    _add_messages(facts, row, outputs)
    if facts.kind == "inference":
        answer = read_provider_response(outputs)
        named = row.get("model") or row.get("providedModelName")
        facts.model = answer.model or facts.model or text(named, "model")
        facts.response_id = answer.id or facts.response_id
        facts.finish_reason = answer.finish_reason or facts.finish_reason
        _add_usage(facts, row, attributes, answer)
    elif facts.kind == "agent":
        facts.agent = facts.agent or span.name or None
    if facts.kind == "tool":
        _add_tool(facts, span, outputs)
    return facts


def is_estimated(row: dict[str, Any], attributes: dict[str, Any]) -> bool:
    """True if the platform counted the tokens itself, since the tracer recorded none.

    Its tokeniser fills input, output and total only; recorded usage is also in the tracer's attributes.
    Nothing is known of rows without attributes: their usage counts as recorded.
    """
    if not attributes or any("usage" in key or "token_count" in key for key in attributes):
        return False
    details = dict_or_empty(row.get("usageDetails"))
    return PLAIN_USAGE.issuperset(details) and not dict_or_empty(row.get("providedCostDetails"))


def _read_tracer_facts(span: Span, attributes: dict[str, Any]) -> SpanFacts:
    """Facts from the tracer's attributes, without messages: those in the columns are complete."""
    if not attributes:
        return SpanFacts("other")
    facts = dialects.read_facts(
        Span(span.trace_id, span.span_id, span.parent_id, span.name, attributes=attributes, scope=span.scope)
    )
    facts.input = facts.output = None
    return facts


def _choose_event_kind(facts: SpanFacts, span: Span) -> None:
    """Keeps one event of each step as its span: a model's start, a tool's result."""
    name, attributes = span.name, span.attributes["attributes"]
    if facts.kind == "inference":
        facts.kind = "inference" if ".start-" in name else "other"
    elif span.parent_id is not None:
        is_result = RESULT_EVENT in name and bool(attributes.get("tool.name")) and "output.value" in attributes
        facts.kind = "tool" if is_result else "other"
        facts.tool_name = attributes.get("tool.name") if is_result else None
        facts.arguments = attributes.get("tool.parameters") if is_result else None


def _add_messages(facts: SpanFacts, row: dict[str, Any], outputs: Any) -> None:
    if facts.kind not in ("inference", "agent"):
        return
    given, facts.tool_definitions = _split_tools(unwrap_text(row.get("input")), facts.tool_definitions)
    facts.input, facts.output = read_exchange(given, outputs)
    repeated = dict_or_empty(outputs).get("instructions")  # a response that repeats its instructions
    if isinstance(repeated, str):
        facts.system = facts.system or repeated or None


def _split_tools(given: Any, known: list[dict[str, Any]] | None) -> tuple[Any, list[dict[str, Any]] | None]:
    """Separates messages from tool definitions, which LangChain's callback appends as tool messages."""
    if not isinstance(given, list):
        return given, known
    tools = [one["content"] for one in given if _is_definition(one)]
    if not tools:
        return given, known
    return [one for one in given if not _is_definition(one)], known or read_tool_definitions(tools)


def _is_definition(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) and message.get("role") == "tool" else None
    return isinstance(content, dict) and content.get("type") == "function" and "tool_call_id" not in message


def _add_usage(facts: SpanFacts, row: dict[str, Any], attributes: dict[str, Any], answer: ProviderResponse) -> None:
    """Adds tokens of the provider, else those the platform recorded, but never its own estimates."""
    recorded = _read_usage(row)
    provided = dict_or_empty(row.get("providedCostDetails")).get("total")
    if provided == 0 and _computed_cost(row):
        provided = None  # no cost was provided: the platform's computed cost counts
    if answer.usage is not None:
        facts.usage = answer.usage
    elif facts.usage is None and not is_estimated(row, attributes):
        facts.usage = recorded
    facts.is_metered = True
    if provided is not None:
        facts.cost_usd = amount(provided, "providedCostDetails.total")
    elif facts.usage is not None and _is_same_usage(facts.usage, recorded):
        facts.cost_usd = amount(_computed_cost(row), "totalCost")


def _computed_cost(row: dict[str, Any]) -> Any:
    total = dict_or_empty(row.get("costDetails")).get("total")
    return row.get("totalCost", row.get("calculatedTotalCost")) if total is None else total


def _is_same_usage(usage: Usage, recorded: Usage | None) -> bool:
    """True if the platform computed its cost from these tokens."""
    if recorded is None:
        return False
    parts = ("input_tokens", "output_tokens", "total_tokens")
    return all(usage[part] == recorded[part] for part in parts)  # type: ignore[literal-required]


def _read_usage(row: dict[str, Any]) -> Usage | None:
    """Usage of the row."""
    columns = {name: row[key] for name, key in USAGE_COLUMNS.items() if row.get(key) is not None}  # of older exports
    counts = mapping(row.get("usageDetails"), "usageDetails") or dict_or_empty(row.get("usage")) or columns
    return read_usage_details(counts)


def _add_tool(facts: SpanFacts, span: Span, outputs: Any) -> None:
    row = span.attributes["row"]
    given = unwrap_text(row.get("input"))
    facts.tool_name = facts.tool_name or span.name or None
    if facts.arguments is None:
        facts.arguments = given
    if facts.result is not None:
        return
    answered = _read_tool_result(outputs, None)
    if answered is not None:
        facts.tool_call_id, facts.result = facts.tool_call_id or answered.id, answered.content
    else:
        facts.result = outputs if isinstance(outputs, str) else row.get("output")


def _read_tool_result(outputs: Any, name: str | None) -> ToolResult | None:
    """The result if the whole output is one message of a tool, with that name if given."""
    messages = read_payload(outputs, "tool") if isinstance(outputs, dict) and "messages" not in outputs else None
    if not messages or len(messages) != 1 or len(messages[0].answers) != 1:
        return None
    result = messages[0].answers[0]
    return result if name is None or result.name == name else None


def _parse_number(key: str, value: Any) -> Any:
    """Parses numbers, since the platform stores every attribute as text."""
    if type(value) is not str or not NUMBER_KEY.search(key):
        return value
    if value.isascii() and value.isdigit() and len(value) < len("1000000000000"):
        return int(value)
    return unwrap_text(value)
