"""Reads OTLP: traces and logs as exporters of OpenTelemetry, the Collector and Tempo write them."""

from __future__ import annotations

from evalgate.adapters.formats.spans.encodings import otlp
from evalgate.adapters.formats.spans.encodings.protobuf import unpack
from evalgate.adapters.formats.spans.span_records import span_reader

READER = span_reader(otlp.read, otlp.trace_ids, unpack)
