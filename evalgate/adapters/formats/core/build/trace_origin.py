"""Reads the commit and the agent's hash from metadata keys that people may add to a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

COMMIT, AGENT_HASH = "evalgate.commit", "evalgate.agent_hash"
ORIGIN_KEYS = (COMMIT, AGENT_HASH)
MAX_LENGTH = 512


def set_origin(trace: Trace) -> None:
    """Sets commit and agent hash from the metadata, unless the format's own fields have set them."""
    trace.commit = trace.commit or _text_or_none(trace.metadata.get(COMMIT))
    trace.agent_hash = trace.agent_hash or _text_or_none(trace.metadata.get(AGENT_HASH))


def _text_or_none(value: Any) -> str | None:
    return value if type(value) is str and 0 < len(value) <= MAX_LENGTH else None
