"""OTLP: traces and logs as exporters of OpenTelemetry, the Collector and Tempo write them."""

from __future__ import annotations

from evalgate.adapters.trace_formats.spans import otlp
from evalgate.adapters.trace_formats.spans.protobuf import unpack
from evalgate.adapters.trace_formats.spans.records import span_reader

READER = span_reader(otlp.read, otlp.trace_ids, unpack)
