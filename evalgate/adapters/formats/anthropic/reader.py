"""Reads Anthropic messages: a list, a request with `messages`, a raw response, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.anthropic import is_anthropic
from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.core.builder.evidence_gaps import OF_MESSAGES, add_gap
from evalgate.adapters.formats.core.builder.run import MeteredConversation, open_record
from evalgate.adapters.formats.core.builder.run_end import mark_incomplete
from evalgate.adapters.formats.core.builder.side_fields import identify_by_side_fields
from evalgate.adapters.formats.core.fields import (
    count,
    do_each,
    listing,
    mapping,
    objects,
    prefix_errors,
    read_at,
    text,
)
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, is_anthropic_response, split_each
from evalgate.adapters.formats.core.provider_response import ANTHROPIC_USAGE
from evalgate.adapters.formats.messages import roles
from evalgate.adapters.formats.messages.blocks import join_text
from evalgate.adapters.formats.messages.known_fields import PART_FIELDS, ROLE_FIELDS

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

PROVIDER = "anthropic"
EDITS = "context_management.applied_edits"
CLEARED = "the provider cleared {} calls from the context, and fewer are recorded: record the messages from the start"


def build(record: Any) -> Trace:
    """Builds one trace from the messages and the fields next to them."""
    document = open_record(record, "messages")
    if is_anthropic_response(document):
        document = {"response": document}
    chat = MeteredConversation()
    _add_system(chat, document)
    do_each(listing(document.get("messages"), "messages"), "messages", lambda message: _add_message(chat, message))
    if not chat.llm_calls:
        chat.unmetered = 0  # messages before the request are not part of this run
    response = document
    if document.get("response") is not None:
        response = mapping(document["response"], "response")
        with prefix_errors("response"):
            chat.add_messages(roles.read_message(response))
            _add_llm_call(chat, response)
    elif document.get("usage") is not None:
        chat.total = ANTHROPIC_USAGE.read(document["usage"], "usage")
    trace = chat.build_trace(document)
    trace.provider = text(document.get("provider"), "provider") or PROVIDER
    trace.trace_id = trace.trace_id or text(response.get("id"), "id") or ""
    if "stop_reason" in response and response["stop_reason"] is None:
        mark_incomplete(trace, "the response has no stop reason: its stream was cut off")
    _note_cleared(trace, [*listing(document.get("messages"), "messages"), response])
    return trace


def _note_cleared(trace: Trace, answers: list[Any]) -> None:
    """Notes that calls are missing if the provider left out more from what the model read than there are.

    It does so with each request, which has all of them.
    """
    edits = [edit for each in answers for edit in objects(read_at(each, EDITS, listing), EDITS)]
    cleared = max((count(edit.get("cleared_tool_uses"), "cleared_tool_uses") or 0 for edit in edits), default=0)
    if cleared > len(trace.tool_calls):
        for kind in OF_MESSAGES:
            add_gap(trace, kind, CLEARED.format(cleared))


def _add_system(chat: MeteredConversation, document: dict[str, Any]) -> None:
    system = document.get("system")
    content = join_text(system) if isinstance(system, list) else text(system, "system")
    if content:
        chat.add_messages([RawMessage("system", content)])


def _add_message(chat: MeteredConversation, message: dict[str, Any]) -> None:
    chat.add_messages(roles.read_message(message))
    if message.get("role") == "assistant" and message.get("usage") is not None:
        _add_llm_call(chat, message)
    else:
        chat.unmetered += message.get("role") == "assistant"


def _add_llm_call(chat: MeteredConversation, message: dict[str, Any]) -> None:
    usage = message.get("usage")
    chat.add_llm_call(
        None if usage is None else ANTHROPIC_USAGE.read(usage, "usage"),
        provider=PROVIDER,
        model=text(message.get("model"), "model"),
        response_id=text(message.get("id"), "id"),
        reason=text(message.get("stop_reason"), "stop_reason"),
    )


SHAPES = (
    Shape(("messages", EACH), ROLE_FIELDS),
    Shape(("messages", EACH, "content", EACH), PART_FIELDS),
    Shape(("response",), ROLE_FIELDS),
    Shape(("response", "content", EACH), PART_FIELDS),
)
READER = Reader(
    build=build, identify=identify_by_side_fields, split=split_each(is_anthropic), shapes=SHAPES, is_of_one_agent=True
)
