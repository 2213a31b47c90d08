"""Reads the Vercel AI SDK: the steps of a result, UI messages, or model messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.core.builder.evidence_gaps import note_acts
from evalgate.adapters.formats.core.builder.run import MeteredConversation, open_record, set_final_response
from evalgate.adapters.formats.core.builder.side_fields import identify_by_side_fields
from evalgate.adapters.formats.core.fields import do_each, listing, mapping, objects, read_at, text, time
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, split_each, words
from evalgate.adapters.formats.core.vercel_tokens import read_vercel_usage
from evalgate.adapters.formats.messages import roles, vercel
from evalgate.adapters.formats.messages.blocks import MessageBuilder, read_blocks, read_request, read_result
from evalgate.adapters.formats.messages.kept_elsewhere import note_earlier
from evalgate.adapters.formats.messages.known_fields import PART_FIELDS, ROLE_FIELDS
from evalgate.adapters.formats.vercel import is_vercel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.trace.trace import Trace


def build(record: Any) -> Trace:
    """Builds one trace; for a result, its steps follow the prompt and the messages next to them."""
    document = open_record(record, "messages")
    chat = MeteredConversation()
    system = text(document.get("system"), "system")
    if system:
        chat.add_messages([RawMessage("system", system)])
    prompt = text(document.get("prompt"), "prompt") if isinstance(document.get("prompt"), str) else None
    if prompt:
        chat.add_messages([RawMessage("user", prompt)])
    do_each(listing(document.get("messages"), "messages"), "messages", lambda message: _add_message(chat, message))
    if document.get("steps") is not None and not chat.llm_calls:
        chat.unmetered = 0  # messages before the steps are not part of this run
    do_each(listing(document.get("steps"), "steps"), "steps", lambda step: _add_step(chat, step))
    trace = chat.build_trace(document, "vercel-ai-sdk")
    steps = objects(document.get("steps"), "steps")
    asked = [(read_at(step, "response.id", text), [step.get("request"), step.get("response")]) for step in steps]
    note_earlier(trace, [("", [document.get("providerOptions")]), *asked])
    note_acts(trace, list(_list_data(document)), "`{}`".format)
    if document.get("steps") is not None:
        set_final_response(trace, text(document.get("text"), "text") if not trace.response["content"] else None)
    return trace


def _list_data(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The data that an application adds to messages, each with its place: it may hold anything."""
    for at, message in enumerate(objects(document.get("messages"), "messages")):
        parts = message.get("parts")
        for number, part in enumerate(parts if isinstance(parts, list) else ()):
            if isinstance(part, dict) and str(part.get("type")).startswith("data-"):
                yield f"messages[{at}].parts[{number}].data", part.get("data")


def _add_message(chat: MeteredConversation, message: dict[str, Any]) -> None:
    is_ui_message = message.get("parts") is not None or message.get("toolInvocations") is not None
    chat.add_messages(vercel.read_message(message) if is_ui_message else roles.read_message(message))
    meta = message.get("metadata")
    usage = meta.get("usage", meta.get("totalUsage")) if isinstance(meta, dict) else None
    if message.get("role") != "assistant":
        return
    if not isinstance(usage, dict):
        chat.unmetered += 1
    else:
        counted = read_vercel_usage(usage, "usage", mapping(meta, "metadata").get("providerMetadata"))
        chat.add_llm_call(counted, model=text(meta.get("model"), "metadata.model") if meta else None)


def _add_step(chat: MeteredConversation, step: dict[str, Any]) -> None:
    """Adds one step: its content, or its text with separate lists of calls and results."""
    response = mapping(step.get("response"), "response")
    model = text(response.get("modelId"), "response.modelId")
    when = time(response.get("timestamp"), "response.timestamp")
    reason = text(step.get("finishReason"), "finishReason")
    builder = MessageBuilder(RawMessage("assistant", model=model, finish_reason=reason, timestamp=when))
    content = listing(step.get("content"), "content")
    if content:
        read_blocks(builder, content, "content")
    else:
        _add_lists(builder, step)
    chat.add_messages(builder.build_messages())
    usage, metadata = step.get("usage"), step.get("providerMetadata")
    chat.add_llm_call(
        None if usage is None else read_vercel_usage(usage, "usage", metadata),
        model=model,
        response_id=text(response.get("id"), "response.id"),
        reason=reason,
    )


def _add_lists(builder: MessageBuilder, step: dict[str, Any]) -> None:
    reasoning = step.get("reasoningText", step.get("reasoning"))
    builder.add_reasoning(reasoning if isinstance(reasoning, str) else None)
    words = text(step.get("text"), "text")
    builder.add_text(words or (None if step.get("toolCalls") else words))
    for call in objects(step.get("toolCalls"), "toolCalls"):
        builder.add_call(read_request(call))
    for result in objects(step.get("toolResults"), "toolResults"):
        builder.add_result(read_result(result))


STEP_FIELDS = words("""
    content text toolCalls toolResults staticToolCalls dynamicToolCalls staticToolResults dynamicToolResults reasoning
    reasoningDetails reasoningText files sources usage warnings request response logprobs providerMetadata
    experimental_providerMetadata callWarnings model performance experimental_context
""")
SHAPES = (
    Shape(("messages", EACH), ROLE_FIELDS | {"parts", "toolInvocations", "data", "attachments"}),
    Shape(("messages", EACH, "content", EACH), PART_FIELDS),
    Shape(("messages", EACH, "parts", EACH), PART_FIELDS | {"toolName"}),
    Shape(("steps", EACH), STEP_FIELDS),
    Shape(("steps", EACH, "content", EACH), PART_FIELDS | {"toolName"}),
)
READER = Reader(
    build=build, identify=identify_by_side_fields, split=split_each(is_vercel), shapes=SHAPES, is_of_one_agent=True
)
