"""What is kept of a recording while nobody knows yet whether its course will be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.trajectory import Trajectory

    Held = Trace | Trajectory

MOST = 32_000
"""Bytes of JSON; of a larger recording its course is kept, which is bounded."""


def held(trace: Trace) -> Held:
    """A trace of nothing but what a course is made of; the course itself where that is large."""
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
    """The course of what was held."""
    return _course_of(recording) if isinstance(recording, Trace) else recording


def _course_of(trace: Trace) -> Trajectory:
    from evalgate.gate.trajectory.trajectories import course_of  # few runs have one

    return course_of(trace)


def _is_small(values: Sequence[object]) -> bool:
    """Also no where it can't be said, as of a number beyond 64 bits."""
    try:
        return len(orjson.dumps(values)) <= MOST
    except orjson.JSONEncodeError:
        return False
