"""Spans of OpenTelemetry: OTLP, Jaeger, and lists of spans. Entry points: `OTLP`, `JAEGER`, `SPAN_LIST`, `reader`."""

from __future__ import annotations

from evalgate.adapters.formats.core.format import Format
from evalgate.adapters.formats.spans.detect import is_jaeger, is_otlp, is_protobuf, is_span_list

OTLP = Format(
    name="otlp",
    needs="`resourceSpans` or `resourceLogs` of OpenTelemetry",
    claims=is_otlp,
    module="opentelemetry.reader",
    joins_lines=True,
    magic=is_protobuf,
)
JAEGER = Format(
    name="jaeger",
    needs="`data` with traces of `traceID` and `spans`",
    claims=is_jaeger,
    module="opentelemetry.reader",
    reader_name="JAEGER_READER",
    joins_lines=True,
)
SPAN_LIST = Format(
    name="span-list",
    needs="spans with `trace_id`, `span_id` and `name`",
    claims=is_span_list,
    module="opentelemetry.reader",
    reader_name="SPAN_LIST_READER",
    joins_lines=True,
)
