"""Reads Jaeger: downloads of its UI and responses of its query service."""

from __future__ import annotations

from evalgate.adapters.formats.spans.encodings import jaeger
from evalgate.adapters.formats.spans.span_records import span_reader

READER = span_reader(jaeger.read, jaeger.trace_ids)
