"""Builds traces from records and sets their location, trace id and scenario id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.evalgate_metadata import set_origin
from evalgate.adapters.formats.core.builder.evidence_gaps import find_gaps, require_content
from evalgate.adapters.formats.core.builder.plausibility import add_plausibility_warnings
from evalgate.adapters.formats.core.builder.trace_naming import name_damaged_record, name_scenario, set_from_path
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.adapters.formats.core.format import Reader
    from evalgate.models.trace.trace import TraceRecord

NO_TRACE = "it contains no trace"


def read_records(reader: Reader, document: Any, source: TraceLocation, relative_path: str) -> Iterator[TraceRecord]:
    """Yields the traces of a document's records; raises TraceError if it has none."""
    records = reader.split(document)
    if not records:
        raise TraceError(NO_TRACE)
    if len(records) == 1:
        yield read_record(reader, records[0], source, relative_path)
        return
    for number, record in enumerate(records):
        location = TraceLocation(source.path, source.format, source.line, number, source.sha256)
        yield read_record(reader, record, location, relative_path)


def read_record(reader: Reader, record: Any, source: TraceLocation, relative_path: str) -> TraceRecord:
    """The trace of one record; a damaged one keeps scenario id and trial if they can be read."""
    is_one_of_several = source.line is not None or source.record is not None
    try:
        trace = reader.build(record)
        require_content(trace)
        find_gaps(trace, record, reader)
    except TraceError as error:
        ids = reader.identify(record)
        if reader.read_path is not None and ids[0] is None and not is_one_of_several:
            ids = reader.read_path(source.path)[0], ids[1]
        return DamagedTrace(str(error), source, name_damaged_record(relative_path, source), *ids)
    if reader.read_path is not None and not is_one_of_several:
        set_from_path(trace, *reader.read_path(source.path))
    set_origin(trace)
    add_plausibility_warnings(trace)
    trace.source = source
    if reader.keeps_record:
        trace.record = record
    if not trace.trace_id:
        suffix = "" if source.record is None else f"-{source.record}"
        trace.trace_id = f"{(source.sha256 or '')[:32]}{suffix}"
    if trace.scenario_id is None:
        trace.scenario_id = name_scenario(trace, relative_path, is_one_of_several=is_one_of_several)
    return trace
