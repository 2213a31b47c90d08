"""Encodes and reads the traces that a baseline keeps, one a line.

A line holds the record as it was read, redacted, if its format can be read again from that alone; of all other
formats it holds the trace in native form. Lines of older baselines are whole native traces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.core.strict_json import decode, require_shallow
from evalgate.adapters.formats.native import parts, reader
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.writers.native import to_short_form
from evalgate.errors import TraceError
from evalgate.measures.redaction.redact import is_clean, redact_value
from evalgate.measures.values.json_stream import encode_json
from evalgate.models.trace.trace import DamagedTrace, TraceLocation
from evalgate.models.trace.trace_document import drop_unknown, encode_trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.models.trace.trace import Trace, TraceRecord

NATIVE = "native"
AS_RECORDED = frozenset({"recorded", "unknown"})
"""Sources of a cost that reading the record gives again."""


def encode_stored_trace(trace: Trace) -> bytes:
    """Encodes a trace as a line of a baseline, redacted; its location comes last."""
    source, fields = trace.source, {"scenario_id": trace.scenario_id, "trial": trace.trial}
    form = NATIVE if trace.record is None else source.format
    readable = to_short_form(trace) if trace.record is None else trace.record
    record = encode_trace(trace) if readable is None else readable
    cost = None if trace.cost["source"] in AS_RECORDED else trace.cost
    fields, place = drop_unknown({**fields, "cost": cost}), drop_unknown(asdict(source))
    if (form == NATIVE and readable is not None) or _is_shallow(record):  # native's reader refuses what is not
        line = encode_json({"format": form, **fields, "record": record, "source": place})
        if is_clean(line):
            return line + b"\n"
    entry = {"format": form, **redact_value(fields), "record": redact_value(record), "source": redact_value(place)}
    return encode_json(entry) + b"\n"


def _is_shallow(record: Any) -> bool:
    """Whether redaction leaves nothing out as too deep."""
    try:
        require_shallow(record)
    except TraceError:
        return False
    return True


def read_stored_trace(line: bytes) -> Trace:
    """The trace of a line of a baseline; raises TraceError."""
    entry = decode(line)
    if not isinstance(entry, dict) or "record" not in entry:
        return reader.build(entry)
    known = detect.get_format(entry.get("format"))
    if known is None:
        raise TraceError("its format is not one of this version's")
    trace = read_record(known.reader, entry["record"], parts.read_source(entry.get("source"), "source"), "")
    if isinstance(trace, DamagedTrace):
        raise TraceError(trace.reason)
    trace.scenario_id, trace.trial = reader.identify(entry)
    if entry.get("cost") is not None:
        trace.cost = parts.read_cost(entry["cost"], "cost")
    return trace


def read_stored_traces(lines: Iterable[bytes], path: str) -> Iterator[TraceRecord]:
    """The traces, each with its original source; `path` is the baseline, for errors of damaged lines."""
    for number, line in enumerate(lines, 1):
        try:
            yield read_stored_trace(line)
        except TraceError as error:
            place = TraceLocation(path, NATIVE, number)
            yield DamagedTrace(str(error), place, f"{path}#L{number}", *_identify(line))


def _identify(line: bytes) -> tuple[str | None, int | None]:
    try:
        return reader.identify(decode(line))
    except TraceError:
        return None, None
