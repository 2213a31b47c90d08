"""Reads Anthropic messages: a list, a request with `messages`, a raw response, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.anthropic import is_anthropic
from evalgate.adapters.formats.core.build.llm_calls import MeteredConversation
from evalgate.adapters.formats.core.build.raw_message import RawMessage
from evalgate.adapters.formats.core.build.side_fields import identify_beside
from evalgate.adapters.formats.core.chat_shapes import conversations, is_anthropic_answer
from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, text
from evalgate.adapters.formats.core.format import Reader
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.provider_response import anthropic_usage
from evalgate.adapters.formats.messages import roles
from evalgate.adapters.formats.messages.blocks import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

PROVIDER = "anthropic"


def split(document: Any) -> Sequence[Any]:
    """Returns the conversations of a document."""
    return conversations(document, is_anthropic)


def build(record: Any) -> Trace:
    """Builds one trace from the messages and the fields next to them."""
    require_shallow(record)
    beside = {"messages": record} if isinstance(record, list) else mapping(record, "")
    if is_anthropic_answer(beside):
        beside = {"response": beside}
    story = MeteredConversation()
    _say_system(story, beside)
    _say_each(story, listing(beside.get("messages"), "messages"))
    if not story.llm_calls:
        story.silent = 0  # messages before the request are not part of this run
    figures = beside
    if beside.get("response") is not None:
        figures = mapping(beside["response"], "response")
        try:
            _answer(story, figures)
        except FieldError as error:
            raise error.under("response") from None
    elif beside.get("usage") is not None:
        story.total = anthropic_usage(mapping(beside["usage"], "usage"))
    trace = story.trace(beside)
    trace.provider = text(beside.get("provider"), "provider") or PROVIDER
    trace.trace_id = trace.trace_id or text(figures.get("id"), "id") or ""
    return trace


def _say_system(story: MeteredConversation, beside: dict[str, Any]) -> None:
    system = beside.get("system")
    words = joined(system) if isinstance(system, list) else text(system, "system")
    if words:
        story.say([RawMessage("system", words)])


def _say_each(story: MeteredConversation, messages: list[Any]) -> None:
    for number, value in enumerate(messages):
        try:
            message = mapping(value, "")
            story.say(roles.read_message(message))
            if message.get("role") != "assistant":
                continue
            if message.get("usage") is None:
                story.silent += 1
            else:
                _meter(story, message)
        except FieldError as error:
            raise error.under(f"messages[{number}]") from None


def _answer(story: MeteredConversation, answer: dict[str, Any]) -> None:
    story.say(roles.read_message(answer))
    _meter(story, answer)


def _meter(story: MeteredConversation, told: dict[str, Any]) -> None:
    usage = told.get("usage")
    story.meter(
        None if usage is None else anthropic_usage(mapping(usage, "usage")),
        provider=PROVIDER,
        model=text(told.get("model"), "model"),
        response_id=text(told.get("id"), "id"),
        reason=text(told.get("stop_reason"), "stop_reason"),
    )


READER = Reader(build=build, identify=identify_beside, split=split)
