"""Adds LangChain's messages to a conversation, with the model call that each answer records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import mapping, text
from evalgate.adapters.formats.core.usage.provider_response import read_langchain_usage
from evalgate.adapters.formats.messages import langchain, roles

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.builder.llm_calls import MeteredConversation


def add_message(conversation: MeteredConversation, message: dict[str, Any]) -> None:
    """Adds one message, in LangChain's own form or as a message with a role."""
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
