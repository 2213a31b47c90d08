"""Reads LangChain messages: a list, or the state of a graph with its `messages`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.llm_calls import MeteredConversation
from evalgate.adapters.formats.core.build.side_fields import identify_beside
from evalgate.adapters.formats.core.chat_shapes import conversations
from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, text
from evalgate.adapters.formats.core.format import Reader
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.provider_response import langchain_usage
from evalgate.adapters.formats.langchain import is_langchain
from evalgate.adapters.formats.messages import langchain, roles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace


def split(document: Any) -> Sequence[Any]:
    """The conversations of a document."""
    return conversations(document, is_langchain)


def build(record: Any) -> Trace:
    """Builds one conversation; each answer of a model has its usage."""
    require_shallow(record)
    beside = {"messages": record} if isinstance(record, list) else mapping(record, "")
    key = "messages" if beside.get("messages") is not None else "output"
    story = MeteredConversation()
    for number, value in enumerate(listing(beside.get(key), key)):
        try:
            _say(story, mapping(value, ""))
        except FieldError as error:
            raise error.under(f"{key}[{number}]") from None
    return story.trace(beside, "langchain")


def _say(story: MeteredConversation, message: dict[str, Any]) -> None:
    is_own = langchain.is_shape(message)
    said = langchain.read_message(message) if is_own else roles.read_message(message)
    story.say(said)
    body = langchain.body_of(message) if is_own else message
    usage, last = body.get("usage_metadata"), said[-1]
    spoken = next((one for one in said if one.role == "assistant"), None)
    if spoken is None:
        return
    if usage is None:
        story.silent += 1
        return
    about = mapping(body.get("response_metadata"), "response_metadata")
    story.meter(
        langchain_usage(mapping(usage, "usage_metadata")),
        provider=text(about.get("model_provider"), "response_metadata.model_provider"),
        model=spoken.model,
        response_id=text(body.get("id"), "id"),
        reason=last.finish_reason,
    )


READER = Reader(build=build, identify=identify_beside, split=split)
