"""Reads OTLP: traces and logs as exporters of OpenTelemetry, the Collector and Tempo write them.

Entry points: `OTLP`, `reader`.
"""

from __future__ import annotations

from evalgate.adapters.formats.core.format import Format
from evalgate.adapters.formats.spans.detect import is_otlp, is_protobuf

OTLP = Format(
    name="otlp",
    needs="`resourceSpans` or `resourceLogs` of OpenTelemetry",
    claims=is_otlp,
    module="otlp.reader",
    joins_lines=True,
    magic=is_protobuf,
)
