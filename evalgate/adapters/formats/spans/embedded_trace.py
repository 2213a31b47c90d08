"""Reads a complete trace from an attribute of an agent's span, as `evalgate convert` writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.builder.evidence_gaps import find_gaps
from evalgate.adapters.formats.core.fields import FieldError
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.spans.span import Span
    from evalgate.models.trace.trace import Trace

ATTRIBUTE = "evalgate.trace"


def read_embedded_trace(spans: Sequence[Span]) -> Trace | None:
    """The trace of the first span that has one, or None. Raises TraceError."""
    value = next((span.attributes[ATTRIBUTE] for span in spans if ATTRIBUTE in span.attributes), None)
    if value is None:
        return None
    if type(value) is not str:
        raise FieldError(ATTRIBUTE, "is not text")
    from evalgate.adapters.formats.core.strict_json import decode
    from evalgate.adapters.formats.native import reader

    try:
        record = decode(value.encode())
        trace = reader.build(record)
        find_gaps(trace, record, reader.READER)
    except (TraceError, UnicodeEncodeError) as error:
        message = str(error) if isinstance(error, TraceError) else "is not text"
        raise FieldError(ATTRIBUTE, message) from None
    return trace
