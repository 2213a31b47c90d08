"""Reads Ragas: each sample of a data set or of a result is a trace; numbers in other columns are scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.builder.run import MeteredConversation
from evalgate.adapters.formats.core.builder.side_fields import identify_by_side_fields
from evalgate.adapters.formats.core.fields import END_FIELDS, FieldError, do_each, listing, mapping, text
from evalgate.adapters.formats.core.format import EACH, Reader, Shape
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import build_score, read_provider_usage, read_scores
from evalgate.adapters.formats.messages import langchain
from evalgate.adapters.formats.messages.known_fields import LANGCHAIN_FIELDS
from evalgate.adapters.formats.ragas import INPUT, SAMPLE_KEYS, is_sample, list_samples
from evalgate.measures.values.json_values import decode_json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace, Usage

ONE_TURN = "a sample of one turn does not record tool calls: use `MultiTurnSample`, whose `user_input` has the messages"
USAGE_COLUMNS = ("input_tokens", "output_tokens", "total_tokens", "prompt_tokens", "completion_tokens")
NOT_SCORES = frozenset(
    {
        *("id", "trial", "cost", "cost_usd", "latency_ms", "latency_seconds", "index", "level_0", "row", "scenario_id"),
        *(*USAGE_COLUMNS, *END_FIELDS),
    }
)
SIDE_FIELDS = ("id", "model", "provider", "metadata", "scenario_id", "trial", "cost", "cost_usd", "latency_ms")


def split(document: Any) -> Sequence[Any]:
    """The samples of a document."""
    found = list_samples(document)
    if found is not None:
        return found
    return document if isinstance(document, list) else [document]


def build(record: Any) -> Trace:
    """Builds the trace of one sample."""
    require_shallow(record)
    if not is_sample(record):
        raise FieldError(INPUT, "is neither text nor a list of messages")
    chat = MeteredConversation()
    recorded = record[INPUT]
    if isinstance(recorded, list):
        do_each(recorded, INPUT, lambda message: chat.add_messages(_read_turn(message)))
        answer = text(record.get("response"), "response")
        if answer and answer != chat.conversation.get_response()["content"]:
            chat.add_messages([RawMessage("assistant", answer)])
    else:
        chat.add_messages([RawMessage("user", recorded), RawMessage("assistant", _read_response(record))])
    chat.total = _read_usage(record)
    side_fields = {
        key: record[key] for key in (*SIDE_FIELDS, "latency_seconds", *END_FIELDS) if record.get(key) is not None
    }
    if not isinstance(side_fields.get("id", ""), str):
        side_fields.pop("id")
    trace = chat.build_trace(side_fields, None)
    columns = [key for key in record if key not in NOT_SCORES and type(record[key]) in (int, float)]
    trace.evaluations = [build_score(key, record[key], key) for key in columns]
    trace.evaluations += read_scores(record.get("scores"), "scores")
    if not isinstance(recorded, list):
        add_gap(trace, "calls", ONE_TURN)
    return trace


def _read_turn(message: dict[str, Any]) -> list[RawMessage]:
    """One message; older versions wrote text and calls of an answer as JSON into its content."""
    content = message.get("content")
    if message.get("type") == "ai" and isinstance(content, str) and content.startswith("{") and "tool_calls" in content:
        decoded = decode_json_text(content)
        if isinstance(decoded, dict) and "tool_calls" in decoded:
            listed = message.get("tool_calls") or decoded["tool_calls"]
            return langchain.read_message({**message, "content": decoded.get("text"), "tool_calls": listed})
    return langchain.read_message(message)


def _read_response(record: dict[str, Any]) -> str | None:
    several = listing(record.get("multi_responses"), "multi_responses")
    answer = record.get("response")
    return text(several[0] if answer is None and several else answer, "response")


def _read_usage(record: dict[str, Any]) -> Usage | None:
    """Tokens in a column `usage`, or in columns of their own."""
    found = mapping(record.get("usage"), "usage")
    found = found or {key: record[key] for key in USAGE_COLUMNS if record.get(key) is not None}
    return read_provider_usage(found, "usage") if found else None


SAMPLE_FIELDS = SAMPLE_KEYS | {
    *(INPUT, "retrieved_context_ids", "reference_context_ids", "persona_name", "query_style", "query_length"),
    *("scores", "metadata", "usage", "synthesizer_name"),
}
SHAPES = (Shape((), SAMPLE_FIELDS), Shape((INPUT, EACH), LANGCHAIN_FIELDS))
READER = Reader(
    build=build,
    identify=identify_by_side_fields,
    split=split,
    shapes=SHAPES,
    without_calls=frozenset({"rubrics", "scores"}),
)
