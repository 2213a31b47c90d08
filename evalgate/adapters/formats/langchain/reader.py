"""Reads LangChain messages: a list, or the state of a graph with its `messages`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.llm_calls import MeteredConversation
from evalgate.adapters.formats.core.builder.side_fields import identify_by_side_fields
from evalgate.adapters.formats.core.chat_shapes import split_conversations
from evalgate.adapters.formats.core.fields import do_each, listing, mapping, text
from evalgate.adapters.formats.core.format import Reader
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.provider_response import read_langchain_usage
from evalgate.adapters.formats.langchain import is_langchain
from evalgate.adapters.formats.messages import langchain, roles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace


def split(document: Any) -> Sequence[Any]:
    """The conversations of a document."""
    return split_conversations(document, is_langchain)


def build(record: Any) -> Trace:
    """Builds one conversation; each answer of a model has its usage."""
    require_shallow(record)
    fields = {"messages": record} if isinstance(record, list) else mapping(record, "")
    key = "messages" if fields.get("messages") is not None else "output"
    conversation = MeteredConversation()
    do_each(listing(fields.get(key), key), key, lambda message: _add_message(conversation, message))
    return conversation.build_trace(fields, "langchain")


def _add_message(conversation: MeteredConversation, message: dict[str, Any]) -> None:
    is_own = langchain.is_shape(message)
    messages = langchain.read_message(message) if is_own else roles.read_message(message)
    conversation.add_messages(messages)
    body = langchain.get_body(message) if is_own else message
    usage, last = body.get("usage_metadata"), messages[-1]
    answer = next((one for one in messages if one.role == "assistant"), None)
    if answer is None:
        return
    if usage is None:
        conversation.unmetered += 1
        return
    metadata = mapping(body.get("response_metadata"), "response_metadata")
    conversation.add_llm_call(
        read_langchain_usage(mapping(usage, "usage_metadata")),
        provider=text(metadata.get("model_provider"), "response_metadata.model_provider"),
        model=answer.model,
        response_id=text(body.get("id"), "id"),
        reason=last.finish_reason,
    )


READER = Reader(build=build, identify=identify_by_side_fields, split=split)
