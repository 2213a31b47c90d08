"""Reads OpenAI chat: a list of messages, `{"messages": [...]}`, a raw completion, or lines of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import Conversation, get_instructions
from evalgate.adapters.formats.core.builder.run import add_failed_call, build_trace
from evalgate.adapters.formats.core.builder.side_fields import (
    add_side_fields,
    find_failed_response,
    identify_by_side_fields,
)
from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, prefix_errors, text
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, split_each
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import finish_reason, read_provider_usage
from evalgate.adapters.formats.messages.known_fields import CHAT_FIELDS, PART_FIELDS
from evalgate.adapters.formats.messages.roles import add_message, read_conversation
from evalgate.adapters.formats.openai_chat import is_chat

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace


def build(record: Any) -> Trace:
    """Builds one trace from the messages and the fields next to them."""
    document = {"messages": record} if isinstance(record, list) else _unpack_response(mapping(record, ""))
    require_shallow(record)
    conversation = read_conversation(listing(document.get("messages"), "messages"), "messages")
    finished = _add_choice(conversation, document)
    if not conversation.messages:
        raise FieldError("messages", "is missing or empty")
    trace = build_trace(
        conversation,
        finish_reason=finished,
        system_instructions=get_instructions(conversation.messages),
        usage=read_provider_usage(document.get("usage"), "usage"),
    )
    add_side_fields(trace, document)
    if (failure := find_failed_response(document)) is not None:
        add_failed_call(trace, failure)
    return trace


def _unpack_response(document: dict[str, Any]) -> dict[str, Any]:
    """A request with its completion under `response`, as OpenHands logs both, with the completion's fields beside."""
    response = document.get("response")
    if not isinstance(response, dict) or not isinstance(response.get("choices"), list) or "choices" in document:
        return document
    return {"latency_seconds": document.get("latency_sec"), **response, **document}


def _add_choice(conversation: Conversation, document: dict[str, Any]) -> str | None:
    """Adds the answer of a raw completion after its request's messages; returns the finish reason."""
    finished = finish_reason(text(document.get("finish_reason"), "finish_reason"))
    choices = listing(document.get("choices"), "choices")
    if choices:
        choice = mapping(choices[0], "choices[0]")
        with prefix_errors("choices[0].message"):
            add_message(conversation, choice.get("message"))
        finished = finish_reason(text(choice.get("finish_reason"), "choices[0].finish_reason")) or finished
        conversation.messages[-1]["finish_reason"] = finished
    return finished


CHOICE_FIELDS = frozenset({"message", "logprobs", "content_filter_results", "provider_specific_fields", "token_ids"})
SHAPES = (
    Shape(("messages", EACH), CHAT_FIELDS),
    Shape(("messages", EACH, "content", EACH), PART_FIELDS),
    *(
        shape
        for above in ((), ("response",))
        for shape in (
            Shape((*above, "choices", EACH), CHOICE_FIELDS),
            Shape((*above, "choices", EACH, "message"), CHAT_FIELDS),
            Shape((*above, "choices", EACH, "message", "content", EACH), PART_FIELDS),
        )
    ),
)
READER = Reader(
    build=build,
    identify=identify_by_side_fields,
    split=split_each(is_chat),
    shapes=SHAPES,
    keeps_record=True,
    is_of_one_agent=True,
)
