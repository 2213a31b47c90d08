"""Reads spans: OTLP, what Jaeger's UI and query service give, and dumps of console and in-memory exporters."""

from __future__ import annotations

from evalgate.adapters.formats.spans.encodings import jaeger, otlp, span_objects
from evalgate.adapters.formats.spans.encodings.otlp import unpack
from evalgate.adapters.formats.spans.span_records import build_span_reader

READER = build_span_reader(otlp.read_spans, otlp.iter_trace_ids, unpack)
JAEGER_READER = build_span_reader(jaeger.read_spans, jaeger.iter_trace_ids)
SPAN_LIST_READER = build_span_reader(span_objects.read_spans, span_objects.iter_trace_ids)
