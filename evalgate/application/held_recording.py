"""What is kept of a recording while nobody knows yet whether its course will be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from evalgate.models.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST = 32_000
"""Bytes of JSON; of a larger recording its course is kept, which is bounded."""


def held(trace: Trace) -> Trace | None:
    """A trace of nothing but what a course is made of; None where that is large."""
    glance = trace.glance
    said = (trace.messages, trace.tool_calls) if glance is None else glance.recorded
    if said is None or not _is_small((said, trace.response, trace.error)):
        return None
    if glance is None:
        kept = Trace("", trace.messages, trace.tool_calls, trace.response)
    else:
        kept = Trace.unread(glance, trace.source)
        kept.response = trace.response
    kept.status, kept.error = trace.status, trace.error
    return kept


def _is_small(values: Sequence[object]) -> bool:
    """Also no where it can't be said, as of a number beyond 64 bits."""
    try:
        return len(orjson.dumps(values)) <= MOST
    except orjson.JSONEncodeError:
        return False
