"""A forbidden call never passes by moving: to another agent, into the execution, under another name, behind a crash.

Every real trace with a call of ../shared/traces is written as a native one, and each of its first calls moved in every
way. `make matrix` judges them all.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
import pytest

from evalgate.models.trace.trace import Trace
from evalgate.models.trace.trace_document import encode_trace
from hostile.moving import MOVES, move
from hostile.recorded_calls import is_passed, list_recordings, read

if TYPE_CHECKING:
    from collections.abc import Iterable

pytestmark = [
    pytest.mark.shared,
]
LEAST, SAMPLE = 5_000, 60


class Called(NamedTuple):
    """A trace, and the name of a call in it."""

    label: str
    document: dict[str, Any]
    name: str


@cache
def find_called() -> tuple[Called, ...]:
    """The traces of each recording that make its call."""
    return tuple(
        Called(recording.label, encode_trace(trace), recording.name)
        for recording in list_recordings()
        for trace in read(b"\n".join(recording.lines))
        if isinstance(trace, Trace) and (trace.scenario_id, trace.trial) in recording.callers
    )


def list_passed(called: Iterable[Called]) -> tuple[int, list[str]]:
    """How many traces were judged, and which of them passed."""
    judged, passed = 0, []
    for each in called:
        for way in MOVES:
            [record] = read(orjson.dumps(move(each.document, each.name, way)))
            assert isinstance(record, Trace), f"{way}: {record.reason}"
            judged += 1
            if is_passed(record, each.name):
                passed.append(f"{each.label} {each.name}: {way}")
    return judged, passed


def test_a_sample_of_moved_calls_does_not_pass() -> None:
    called = find_called()
    judged, passed = list_passed(called[:: len(called) // SAMPLE + 1])
    assert judged >= SAMPLE
    assert passed == []


@pytest.mark.matrix
def test_no_moved_call_passes() -> None:
    judged, passed = list_passed(find_called())
    assert judged >= LEAST
    assert passed == []
