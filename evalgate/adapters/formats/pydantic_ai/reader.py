"""Reads Pydantic AI's messages: the list of `all_messages_json()`, bare or under a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.llm_calls import MeteredConversation, waited
from evalgate.adapters.formats.core.build.raw_message import RawMessage, written
from evalgate.adapters.formats.core.build.run_end import handed_in
from evalgate.adapters.formats.core.build.side_fields import identify_beside
from evalgate.adapters.formats.core.chat_shapes import conversations
from evalgate.adapters.formats.core.fields import FieldError, count, listing, mapping, text
from evalgate.adapters.formats.core.format import Reader
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import total_tokens
from evalgate.adapters.formats.messages import pydantic_ai
from evalgate.adapters.formats.pydantic_ai import is_pydantic_ai
from evalgate.models.trace.trace import Trace, Usage, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

LISTS = ("messages", "all_messages", "new_messages")
ACCEPTED = "Final result processed."


def split(document: Any) -> Sequence[Any]:
    """Returns the conversations of a document."""
    return conversations(document, is_pydantic_ai)


def build(record: Any) -> Trace:
    """Builds one trace. If the agent has an output type, its answer is the output tool's arguments."""
    require_shallow(record)
    beside = {LISTS[0]: record} if isinstance(record, list) else mapping(record, "")
    key = next((name for name in LISTS if beside.get(name) is not None), LISTS[0])
    story = MeteredConversation()
    instructions: str | None = None
    for number, value in enumerate(listing(beside.get(key), key)):
        try:
            instructions = _say(story, mapping(value, ""), instructions)
        except FieldError as error:
            raise error.under(f"{key}[{number}]") from None
    trace = story.trace(beside, "pydantic-ai")
    if trace.latency["total_ms"] is None:
        trace.latency = waited(trace.messages)
    times = [message["timestamp"] for message in trace.messages if message["timestamp"] is not None]
    trace.started_at, trace.ended_at = (min(times), max(times)) if times else (None, None)
    _hand_in(trace)
    return trace


def _say(story: MeteredConversation, message: dict[str, Any], told: str | None) -> str | None:
    """Adds one request or response; returns the instructions in force (`current` before it)."""
    instructions = text(message.get("instructions"), "instructions")
    if instructions and instructions != told:
        story.say([RawMessage("system", instructions)])
    story.say(pydantic_ai.read_message(message))
    usage = _usage(message.get("usage"))
    if message.get("kind") == "response" and (usage is not None or message.get("model_name") is not None):
        story.meter(
            usage,
            provider=text(message.get("provider_name"), "provider_name"),
            model=text(message.get("model_name"), "model_name"),
            response_id=text(message.get("provider_response_id"), "provider_response_id"),
            reason=text(message.get("finish_reason"), "finish_reason"),
        )
    return instructions or told


def _usage(value: Any) -> Usage | None:
    """Reads tokens; zeros mean that they were not counted."""
    told = mapping(value, "usage")
    names = (("input_tokens", "request_tokens"), ("output_tokens", "response_tokens"))
    tokens_in, tokens_out = (_first(told, keys) for keys in names)
    if not tokens_in and not tokens_out:
        return None
    details = mapping(told.get("details"), "usage.details")
    usage = unknown_usage()
    usage["input_tokens"], usage["output_tokens"] = tokens_in, tokens_out
    usage["cache_read_input_tokens"] = count(told.get("cache_read_tokens"), "usage.cache_read_tokens")
    usage["cache_write_input_tokens"] = count(told.get("cache_write_tokens"), "usage.cache_write_tokens")
    usage["reasoning_output_tokens"] = count(
        details.get("reasoning_tokens"), "usage.details.reasoning_tokens"
    )
    usage["total_tokens"] = total_tokens(usage)
    usage["source"] = "recorded_total"
    return usage


def _first(told: dict[str, Any], keys: tuple[str, str]) -> int | None:
    return next((count(told[key], f"usage.{key}") for key in keys if told.get(key) is not None), None)


def _hand_in(trace: Trace) -> None:
    """Makes the output tool's arguments the response if the run ended with a call of it."""
    for call in reversed(trace.tool_calls):
        if call["result_text"] == ACCEPTED:
            break
    else:
        return
    asked = [m for m in trace.messages if any(ref["id"] == call["id"] for ref in m["tool_calls"])]
    last = trace.response["message_index"]
    if asked and (last is None or last <= asked[-1]["index"]):
        given = call["arguments"]
        handed_in(trace, given if isinstance(given, str) else written(given), asked[-1])


READER = Reader(build=build, identify=identify_beside, split=split)
