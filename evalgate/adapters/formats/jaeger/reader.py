"""Reads Jaeger: downloads of its UI and responses of its query service."""

from __future__ import annotations

from evalgate.adapters.formats.spans.encodings import jaeger
from evalgate.adapters.formats.spans.span_records import build_span_reader

READER = build_span_reader(jaeger.read_spans, jaeger.iter_trace_ids)
