"""Reads the traces that a baseline keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.strict_json import decode
from evalgate.adapters.formats.native.reader import build, identify
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.models.trace.trace import TraceRecord


def read_baseline_traces(lines: Iterable[bytes], path: str) -> Iterator[TraceRecord]:
    """The traces, each with its original source; `path` is the baseline, for errors of damaged lines."""
    for number, line in enumerate(lines, 1):
        record = None
        try:
            record = decode(line)
            yield build(record)
        except TraceError as error:
            place = TraceLocation(path, "native", number)
            yield DamagedTrace(str(error), place, f"{path}#L{number}", *identify(record))
