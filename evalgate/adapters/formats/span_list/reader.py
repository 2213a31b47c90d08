"""Reads lists of spans as console and in-memory exporters of Python and JavaScript dump them."""

from __future__ import annotations

from evalgate.adapters.formats.spans.encodings import span_objects
from evalgate.adapters.formats.spans.span_records import span_reader

READER = span_reader(span_objects.read, span_objects.trace_ids)
