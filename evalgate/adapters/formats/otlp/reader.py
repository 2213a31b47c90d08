"""Reads OTLP: traces and logs as exporters of OpenTelemetry, the Collector and Tempo write them."""

from __future__ import annotations

from evalgate.adapters.formats.spans.encodings import otlp
from evalgate.adapters.formats.spans.encodings.protobuf import unpack
from evalgate.adapters.formats.spans.span_records import build_span_reader

READER = build_span_reader(otlp.read_spans, otlp.iter_trace_ids, unpack)
