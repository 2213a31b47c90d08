"""Lists of spans as console and in-memory exporters of Python and JavaScript dump them."""

from __future__ import annotations

from evalgate.adapters.trace_formats.spans import plain
from evalgate.adapters.trace_formats.spans.records import span_reader

READER = span_reader(plain.read, plain.trace_ids)
