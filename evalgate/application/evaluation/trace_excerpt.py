"""Keeps what is needed of a trace to compute its trajectory later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.trajectory import Trajectory

    TraceExcerpt = Trace | Trajectory

MAX_BYTES = 32_000
"""Bytes of JSON; of a larger trace its trajectory is kept, which is bounded."""


def make_excerpt(trace: Trace) -> TraceExcerpt:
    """A trace reduced to what its trajectory needs; the trajectory itself if that is large."""
    glance = trace.glance
    content = (trace.messages, trace.tool_calls) if glance is None else glance.recorded
    if not _is_small((content, trace.response, trace.error)):
        return _build_trajectory(trace)
    if glance is None:
        excerpt = Trace("", trace.messages, trace.tool_calls, trace.response)
    else:
        excerpt = Trace.from_glance(glance, trace.source)
        excerpt.response = trace.response
    excerpt.status, excerpt.error = trace.status, trace.error
    return excerpt


def build_trajectory(excerpt: TraceExcerpt) -> Trajectory:
    """The trajectory of an excerpt."""
    return _build_trajectory(excerpt) if isinstance(excerpt, Trace) else excerpt


def _build_trajectory(trace: Trace) -> Trajectory:
    from evalgate.gate.trajectory.trajectories import trajectory_from_trace  # few runs need it

    return trajectory_from_trace(trace)


def _is_small(values: Sequence[object]) -> bool:
    """Also false if it can't be encoded, for example a number beyond 64 bits."""
    try:
        return len(orjson.dumps(values)) <= MAX_BYTES
    except orjson.JSONEncodeError:
        return False
