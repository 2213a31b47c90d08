"""Collects the spans of a framework's own tracer, and writes those of each run into a file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


class Tracer:
    """The tracer of this process."""

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._spans))
        trace.set_tracer_provider(self.provider)

    def write(self, name: str) -> None:
        """Writes the spans that ended since the last time, as OTLP's JSON."""
        self.provider.force_flush()
        scopes = [
            {"scope": {"name": span.instrumentation_scope.name}, "spans": [encode(span)]}  # type: ignore[union-attr]
            for span in self._spans.get_finished_spans()
        ]
        self._spans.clear()
        document = {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": scopes}]}
        (Path(os.environ["SPANS"]) / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")


def encode(span: ReadableSpan) -> dict[str, Any]:
    """A span, which is complete."""
    own: Any = span.context
    return {
        "traceId": f"{own.trace_id:032x}",
        "spanId": f"{own.span_id:016x}",
        "parentSpanId": "" if span.parent is None else f"{span.parent.span_id:016x}",
        "name": span.name,
        "startTimeUnixNano": str(span.start_time),
        "endTimeUnixNano": str(span.end_time),
        "status": {"code": span.status.status_code.value},
        "attributes": encode_attributes(span.attributes),
        "events": [
            {"name": each.name, "timeUnixNano": str(each.timestamp), "attributes": encode_attributes(each.attributes)}
            for each in span.events
        ],
    }


def encode_attributes(attributes: Any) -> list[dict[str, Any]]:
    return [{"key": key, "value": encode_value(value)} for key, value in (attributes or {}).items()]


def encode_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    return {"arrayValue": {"values": [encode_value(each) for each in value]}}
