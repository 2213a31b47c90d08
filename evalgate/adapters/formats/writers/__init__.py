"""Writes traces as native or OTLP documents, one per trace, for `evalgate convert`.

Entry points: `convert_traces`, `get_writer`, `redact_trace`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalgate.models.trace.trace import Trace, TraceRecord

    Writer = Callable[[Trace], dict[str, Any]]


def get_writer(target: str, *, full: bool = False) -> Writer:
    """The function that writes a trace as `native` or `otlp`; `full`: all fields, calls joined."""
    if target == "otlp":
        from evalgate.adapters.formats.writers.otlp import to_otlp

        return to_otlp
    if full:
        from evalgate.models.trace.trace_document import encode_trace

        return encode_trace
    from evalgate.adapters.formats.writers.native import to_native

    return to_native


def convert_traces(records: Iterable[TraceRecord], writer: Writer, *, redact: bool) -> Iterator[bytes | DamagedTrace]:
    """Yields one line of JSON a trace; damaged records are yielded unchanged."""
    import orjson

    for record in records:
        if isinstance(record, DamagedTrace):
            yield record
            continue
        try:
            trace = redact_trace(record) if redact else record
            line = orjson.dumps(writer(trace), option=orjson.OPT_APPEND_NEWLINE)
        except (TraceError, orjson.JSONEncodeError) as error:
            reason = str(error) if isinstance(error, TraceError) else "it contains values that JSON can't represent"
            yield DamagedTrace(f"it can't be written: {reason}", record.source)
            continue
        yield line


def redact_trace(trace: Trace) -> Trace:
    """The trace with secrets redacted; raises TraceError if the result is not a valid trace."""
    import orjson

    from evalgate.adapters.formats.native import reader
    from evalgate.measures.redaction.redact import redact_value
    from evalgate.models.trace.trace_document import encode_trace

    clean = reader.build(orjson.loads(orjson.dumps(redact_value(encode_trace(trace)))))
    clean.source = trace.source
    return clean
