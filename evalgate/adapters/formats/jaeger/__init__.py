"""Reads Jaeger: downloads of its UI and responses of its query service. Entry points: `JAEGER`, `reader`."""

from __future__ import annotations

from evalgate.adapters.formats.core.format import Format
from evalgate.adapters.formats.spans.detect import is_jaeger

JAEGER = Format(
    name="jaeger",
    needs="`data` with traces of `traceID` and `spans`",
    claims=is_jaeger,
    module="jaeger.reader",
    joins_lines=True,
)
