"""Keeps what is needed of a trace to compute its trajectory later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.trajectory import Trajectory

    Held = Trace | Trajectory

MOST = 32_000
"""Bytes of JSON; of a larger trace its trajectory is kept, which is bounded."""


def held(trace: Trace) -> Held:
    """A trace reduced to what its trajectory needs; the trajectory itself if that is large."""
    glance = trace.glance
    said = (trace.messages, trace.tool_calls) if glance is None else glance.recorded
    if not _is_small((said, trace.response, trace.error)):
        return _course_of(trace)
    if glance is None:
        kept = Trace("", trace.messages, trace.tool_calls, trace.response)
    else:
        kept = Trace.unread(glance, trace.source)
        kept.response = trace.response
    kept.status, kept.error = trace.status, trace.error
    return kept


def told(recording: Held) -> Trajectory:
    """The trajectory of an excerpt."""
    return _course_of(recording) if isinstance(recording, Trace) else recording


def _course_of(trace: Trace) -> Trajectory:
    from evalgate.gate.trajectory.trajectories import course_of  # few runs need it

    return course_of(trace)


def _is_small(values: Sequence[object]) -> bool:
    """Also false if it can't be encoded, for example a number beyond 64 bits."""
    try:
        return len(orjson.dumps(values)) <= MOST
    except orjson.JSONEncodeError:
        return False
