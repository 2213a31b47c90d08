"""Of which commit a recording is and what made it: words in the metadata that people may add."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

COMMIT, AGENT_HASH = "evalgate.commit", "evalgate.agent_hash"
ORIGIN_KEYS = (COMMIT, AGENT_HASH)
LONGEST = 512


def name_origin(trace: Trace) -> None:
    """Takes from the metadata what the format has no field for; the format's own field goes before."""
    trace.commit = trace.commit or _word(trace.metadata.get(COMMIT))
    trace.agent_hash = trace.agent_hash or _word(trace.metadata.get(AGENT_HASH))


def _word(value: Any) -> str | None:
    return value if type(value) is str and 0 < len(value) <= LONGEST else None
