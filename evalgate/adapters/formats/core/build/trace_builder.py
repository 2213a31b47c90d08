"""Builds traces from records and sets their location, trace id and scenario id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.trace_naming import name_of_damaged, scenario_of
from evalgate.adapters.formats.core.build.trace_origin import name_origin
from evalgate.adapters.formats.core.build.plausibility import question
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.adapters.formats.core.format import Reader
    from evalgate.models.trace.trace import TraceRecord

NOTHING = "there is no trace in it"


def records_of(reader: Reader, document: Any, source: TraceLocation, below: str) -> Iterator[TraceRecord]:
    """Yields the traces of a document's records; raises TraceError if it has none."""
    records = reader.split(document)
    if not records:
        raise TraceError(NOTHING)
    if len(records) == 1:
        yield record_of(reader, records[0], source, below)
        return
    for number, record in enumerate(records):
        one = TraceLocation(source.path, source.format, source.line, number, source.sha256)
        yield record_of(reader, record, one, below)


def record_of(reader: Reader, record: Any, source: TraceLocation, below: str) -> TraceRecord:
    """The trace of one record; a damaged one keeps scenario id and trial if they can be read."""
    is_one_of_several = source.line is not None or source.record is not None
    try:
        trace = reader.build(record)
    except TraceError as error:
        known = reader.identify(record)
        return DamagedTrace(str(error), source, name_of_damaged(below, source), *known)
    name_origin(trace)
    question(trace)
    trace.source = source
    if not trace.trace_id:
        suffix = "" if source.record is None else f"-{source.record}"
        trace.trace_id = f"{(source.sha256 or '')[:32]}{suffix}"
    if trace.scenario_id is None:
        trace.scenario_id = scenario_of(trace, below, is_one_of_several=is_one_of_several)
    return trace
