"""What identifies a trace: the reference to it in reports, and the digests that tell duplicates."""

from __future__ import annotations

import hashlib
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.measures.values.compact import hash_stable_text
from evalgate.measures.values.json_stream import encode_json
from evalgate.measures.values.json_values import truncate
from evalgate.models.run.run import TraceRef

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.trace.trace import Trace

MAX_MODEL_NAME = 200
DIGEST_BITS = 52
"""Few enough for JSON, and enough to tell the trials of one scenario apart."""
_SPOKEN = itemgetter("role", "content")
_CALLED = itemgetter("name", "arguments")
_ANSWERED = itemgetter("name", "arguments", "result_text")


def ref_of(trace: Trace) -> TraceRef:
    """The reference to a trace in reports."""
    source = trace.source
    return TraceRef(
        trace.trace_id,
        source.path,
        source.format,
        source.sha256,
        source.line,
        source.record,
        trace.commit,
        trace.agent_hash,
        trace.started_at or trace.ended_at,
        None,
        trace.model and truncate(trace.model, MAX_MODEL_NAME),
        _hash_tools(trace.tool_definitions),
        hash_stable_text(trace.system_instructions) if trace.system_instructions else None,
        *identify_trace(trace),
        trace.trial,
        trace.started_at,
    )


def _hash_tools(definitions: Sequence[Mapping[str, Any]]) -> str | None:
    """Hashes tool definitions in any order; None if there are none, or one is not JSON."""
    if not definitions:
        return None
    try:
        encoded = sorted(orjson.dumps(each, option=orjson.OPT_SORT_KEYS) for each in definitions)
    except orjson.JSONEncodeError:
        return None
    return hash_stable_text(b"\n".join(encoded).decode())


def identify_trace(trace: Trace) -> tuple[int | None, int]:
    """Digests of what a trace is called, by its id or else its bytes, and of its conversation; computed once."""
    found: tuple[int | None, int] | None = trace.identity
    if found is None:
        found = trace.identity = (_digest_name(trace), _digest_conversation(trace))
    return found


def _digest_name(trace: Trace) -> int | None:
    """The digest of the recorded trace id; without one, of the record, whatever its blanks and line ends."""
    source = trace.source
    if trace.trace_id and not (source.sha256 and trace.trace_id.startswith(source.sha256[:32])):
        return _digest(["id", trace.trace_id])
    if trace.record is not None:
        return _digest(["record", trace.record])
    if source.record is None:
        return _digest(["bytes", source.sha256]) if source.sha256 else None
    figures = [trace.trial, trace.usage, trace.cost, trace.latency, trace.started_at, trace.ended_at, trace.status]
    return _digest([*figures, trace.model, trace.tags, trace.evaluations, trace.metadata, _digest_conversation(trace)])


def _digest_conversation(trace: Trace) -> int:
    spoken = list(map(_SPOKEN, trace.messages))
    has_results = len(spoken) > len(trace.tool_calls)  # results are messages too
    return _digest([spoken, list(map(_CALLED if has_results else _ANSWERED, trace.tool_calls))])


def _digest(value: Any) -> int:
    try:
        data = encode_json(value)
    except TypeError:  # an integer of more than 64 bits, or half of a surrogate pair
        data = repr(value).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big") >> (64 - DIGEST_BITS)
