"""Jaeger: what its interface downloads and its query service answers."""

from __future__ import annotations

from evalgate.adapters.trace_formats.spans import jaeger
from evalgate.adapters.trace_formats.spans.records import span_reader

READER = span_reader(jaeger.read, jaeger.trace_ids)
