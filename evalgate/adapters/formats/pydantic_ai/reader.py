"""Reads Pydantic AI's messages: the list of `all_messages_json()`, bare or under a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.core.builder.run import (
    MeteredConversation,
    measure_user_wait,
    open_record,
    set_final_response,
    set_times,
)
from evalgate.adapters.formats.core.builder.side_fields import identify_by_side_fields
from evalgate.adapters.formats.core.fields import count, listing, mapping, prefix_errors, text
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, split_each, words
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.core.usage import TokenTable
from evalgate.adapters.formats.messages import pydantic_ai
from evalgate.adapters.formats.pydantic_ai import is_pydantic_ai

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

LISTS = ("messages", "all_messages", "new_messages")
OUTPUT_ACCEPTED = "Final result processed."


def build(record: Any) -> Trace:
    """Builds one trace. If the agent has an output type, its answer is the output tool's arguments."""
    document = open_record(record, LISTS[0])
    key = next((name for name in LISTS if document.get(name) is not None), LISTS[0])
    chat = MeteredConversation()
    instructions: str | None = None
    for number, value in enumerate(listing(document.get(key), key)):
        with prefix_errors(key, number):
            instructions = _add_message(chat, mapping(value, ""), instructions)
    trace = chat.build_trace(document, "pydantic-ai")
    if trace.latency["total_ms"] is None:
        trace.latency = measure_user_wait(trace.messages)
    set_times(trace)
    _add_final_output(trace)
    return trace


def _add_message(chat: MeteredConversation, message: dict[str, Any], current: str | None) -> str | None:
    """Adds one request or response; returns the instructions in force (`current` before it)."""
    instructions = text(message.get("instructions"), "instructions")
    if instructions and instructions != current:
        chat.add_messages([RawMessage("system", instructions)])
    chat.add_messages(pydantic_ai.read_message(message))
    usage = USAGE.read_if_counted(message.get("usage"), "usage")
    if message.get("kind") == "response" and (usage is not None or message.get("model_name") is not None):
        chat.add_llm_call(
            usage,
            provider=text(message.get("provider_name"), "provider_name"),
            model=text(message.get("model_name"), "model_name"),
            response_id=text(message.get("provider_response_id"), "provider_response_id"),
            reason=text(message.get("finish_reason"), "finish_reason"),
        )
    return instructions or current


def _add_final_output(trace: Trace) -> None:
    """Makes the output tool's arguments the response if the run ended with a call of it."""
    for call in reversed(trace.tool_calls):
        if call["result_text"] == OUTPUT_ACCEPTED:
            break
    else:
        return
    calling_messages = [m for m in trace.messages if any(ref["id"] == call["id"] for ref in m["tool_calls"])]
    last = trace.response["message_index"]
    if calling_messages and (last is None or last <= calling_messages[-1]["index"]):
        given = call["arguments"]
        set_final_response(trace, given if isinstance(given, str) else encode_json(given), calling_messages[-1])


USAGE = TokenTable(
    "pydantic-ai",
    input_tokens=(count, "input_tokens", "request_tokens"),
    output_tokens=(count, "output_tokens", "response_tokens"),
    cache_read_input_tokens="cache_read_tokens",
    cache_write_input_tokens="cache_write_tokens",
    reasoning_output_tokens="details.reasoning_tokens",
)


MESSAGE_FIELDS = frozenset({"parts", "usage", "provider_details", "vendor_details", "metadata", "state"})
REQUEST_PARTS = ("system-prompt", "user-prompt", "tool-return", "retry-prompt", "builtin-tool-return", "instruction")
RESPONSE_PARTS = ("text", "thinking", "tool-call", "builtin-tool-call", "builtin-tool-return", "file", "compaction")
KINDS = frozenset({*REQUEST_PARTS, *RESPONSE_PARTS, "tool-search-call", "tool-search-return"})
PART_FIELDS = words("""
    content args tool_name metadata provider_details return_schema outcome instruction_parts
""")
SHAPES = (
    *(Shape((name, EACH), MESSAGE_FIELDS | {"instruction_parts"}) for name in LISTS),
    *(Shape((name, EACH, "parts", EACH), PART_FIELDS, KINDS, "part_kind") for name in LISTS),
)
READER = Reader(build=build, identify=identify_by_side_fields, split=split_each(is_pydantic_ai), shapes=SHAPES)
