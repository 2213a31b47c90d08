"""Reads the Vercel AI SDK: the steps of a result, UI messages, or model messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.llm_calls import MeteredConversation
from evalgate.adapters.formats.core.build.raw_message import RawMessage
from evalgate.adapters.formats.core.build.run_end import handed_in
from evalgate.adapters.formats.core.build.side_fields import identify_beside
from evalgate.adapters.formats.core.chat_shapes import conversations
from evalgate.adapters.formats.core.fields import FieldError, count, listing, mapping, text, time
from evalgate.adapters.formats.core.format import Reader
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import total_tokens
from evalgate.adapters.formats.messages import roles, vercel
from evalgate.adapters.formats.messages.blocks import answered, asked, read_blocks
from evalgate.adapters.formats.messages.message_builder import MessageBuilder
from evalgate.adapters.formats.vercel import is_vercel
from evalgate.models.trace.trace import Trace, Usage, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

INPUT_KEYS = ("inputTokens", "promptTokens")
OUTPUT_KEYS = ("outputTokens", "completionTokens")


def split(document: Any) -> Sequence[Any]:
    """Returns the conversations of a document."""
    return conversations(document, is_vercel)


def build(record: Any) -> Trace:
    """Builds one trace; for a result, its steps follow the prompt and the messages next to them."""
    require_shallow(record)
    beside = {"messages": record} if isinstance(record, list) else mapping(record, "")
    story = MeteredConversation()
    system = text(beside.get("system"), "system")
    if system:
        story.say([RawMessage("system", system)])
    prompt = text(beside.get("prompt"), "prompt") if isinstance(beside.get("prompt"), str) else None
    if prompt:
        story.say([RawMessage("user", prompt)])
    for number, value in enumerate(listing(beside.get("messages"), "messages")):
        _at(f"messages[{number}]", _say, story, value)
    if beside.get("steps") is not None and not story.llm_calls:
        story.silent = 0  # messages before the steps are not part of this run
    for number, value in enumerate(listing(beside.get("steps"), "steps")):
        _at(f"steps[{number}]", _step, story, value)
    trace = story.trace(beside, "vercel-ai-sdk")
    if beside.get("steps") is not None:
        handed_in(trace, text(beside.get("text"), "text") if not trace.response["content"] else None)
    return trace


def _at(path: str, read: Any, story: MeteredConversation, value: Any) -> None:
    try:
        read(story, mapping(value, ""))
    except FieldError as error:
        raise error.under(path) from None


def _say(story: MeteredConversation, message: dict[str, Any]) -> None:
    is_own = message.get("parts") is not None or message.get("toolInvocations") is not None
    story.say(vercel.read_message(message) if is_own else roles.read_message(message))
    about = message.get("metadata")
    usage = about.get("usage", about.get("totalUsage")) if isinstance(about, dict) else None
    if message.get("role") != "assistant":
        return
    if not isinstance(usage, dict):
        story.silent += 1
    else:
        story.meter(_usage(usage), model=text(about.get("model"), "metadata.model") if about else None)


def _step(story: MeteredConversation, step: dict[str, Any]) -> None:
    """Adds one step: its content, or its text with separate lists of calls and results."""
    response = mapping(step.get("response"), "response")
    model = text(response.get("modelId"), "response.modelId")
    when = time(response.get("timestamp"), "response.timestamp")
    reason = text(step.get("finishReason"), "finishReason")
    spoken = MessageBuilder(RawMessage("assistant", model=model, finish_reason=reason, timestamp=when))
    content = listing(step.get("content"), "content")
    if content:
        read_blocks(spoken, content, "content")
    else:
        _lists(spoken, step)
    story.say(spoken.messages())
    usage = step.get("usage")
    story.meter(
        None if usage is None else _usage(mapping(usage, "usage")),
        model=model,
        response_id=text(response.get("id"), "response.id"),
        reason=reason,
    )


def _lists(spoken: MessageBuilder, step: dict[str, Any]) -> None:
    thought = step.get("reasoningText", step.get("reasoning"))
    spoken.thought(thought if isinstance(thought, str) else None)
    spoken.text(text(step.get("text"), "text") or None)
    for number, call in enumerate(listing(step.get("toolCalls"), "toolCalls")):
        spoken.call(asked(mapping(call, f"toolCalls[{number}]")))
    for number, found in enumerate(listing(step.get("toolResults"), "toolResults")):
        spoken.answer(answered(mapping(found, f"toolResults[{number}]")))


def _usage(told: dict[str, Any]) -> Usage:
    usage = unknown_usage()
    usage["input_tokens"], usage["output_tokens"] = _first(told, INPUT_KEYS), _first(told, OUTPUT_KEYS)
    usage["cache_read_input_tokens"] = count(told.get("cachedInputTokens"), "usage.cachedInputTokens")
    usage["reasoning_output_tokens"] = count(told.get("reasoningTokens"), "usage.reasoningTokens")
    total = count(told.get("totalTokens"), "usage.totalTokens")
    usage["total_tokens"] = total_tokens(usage) if total is None else total
    usage["source"] = "recorded_total"
    return usage


def _first(told: dict[str, Any], keys: tuple[str, str]) -> int | None:
    """The first count present. Version 6 writes an object with a `total`; old versions' NaN is null."""
    for key in keys:
        value = told.get(key)
        if isinstance(value, dict):
            value = value.get("total")
        if value is not None:
            return count(value, f"usage.{key}")
    return None


READER = Reader(build=build, identify=identify_beside, split=split)
