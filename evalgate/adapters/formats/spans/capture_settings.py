"""Says how to make each tracer record the content of model calls and tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.adapters.formats.spans.span import Span

OPENTELEMETRY = (
    "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true (SPAN_AND_EVENT in newer versions), and export the "
    "log events too"
)
ANY = "turn on content capture in the tracer"
BY_ATTRIBUTE = (
    ("claude_code.", "set OTEL_LOG_USER_PROMPTS=1, OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOG_TOOL_CONTENT=1"),
    ("gcp.vertex.agent.", "set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"),
    ("openinference.", "unset OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS and the like"),
    ("traceloop.", "set TRACELOOP_TRACE_CONTENT=true"),
    ("llm.request.type", "set TRACELOOP_TRACE_CONTENT=true"),
    ("langsmith.", "unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS"),
    ("trace.span", "these spans of the SDK hold no content: record with an OpenTelemetry instrumentation instead"),
    ("run_type", "unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS, and export all runs with inputs and outputs"),
    ("langfuse.", "record input and output of every generation and tool"),
    ("row", "record input and output of every generation and tool, and export all observations"),
    ("mlflow.", "record inputs and outputs of every span"),
    ("ai.operationId", "set `recordInputs` and `recordOutputs` of `experimental_telemetry` to true"),
    ("logfire.", "set `include_content=True` in `InstrumentationSettings`"),
    ("gen_ai.", OPENTELEMETRY),
)
"""The setting of a tracer, by the start of an attribute's name; the first that a span has is named."""
BY_SCOPE = (
    ("anthropic", "set ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content"),
    ("agent_framework", "set ENABLE_SENSITIVE_DATA=true"),
    ("pydantic-ai", "set `include_content=True` in `InstrumentationSettings`"),
)


def find_capture_setting(spans: Iterable[Span]) -> str:
    """How to record content with the tracer of these spans."""
    for span in spans:
        for scope, setting in BY_SCOPE:
            if span.scope is not None and span.scope.startswith(scope):
                return setting
        for start, setting in BY_ATTRIBUTE:
            if span.name.startswith(start) or any(key.startswith(start) for key in span.attributes):
                return setting
    return ANY
