"""Reads lists of spans as console and in-memory exporters of Python and JavaScript dump them."""

from __future__ import annotations

from evalgate.adapters.formats.spans.encodings import span_objects
from evalgate.adapters.formats.spans.span_records import build_span_reader

READER = build_span_reader(span_objects.read_spans, span_objects.iter_trace_ids)
