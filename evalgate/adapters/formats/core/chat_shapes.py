"""Checks shared by the detection of plain message formats; imports no reader, so it loads fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_MESSAGES = 50
LIST_KEYS = ("messages", "input", "items")
MESSAGE_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


def split_each(is_conversation: Callable[[Any], bool]) -> Callable[[Any], list[Any]]:
    """A `split` function for documents that are one conversation, or a list of them."""

    def split(document: Any) -> list[Any]:
        return [document] if is_conversation(document) or not isinstance(document, list) else document

    return split


def claim_one_or_list(is_conversation: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Returns a `claims` function that accepts one conversation or a list of them."""

    def claims(value: Any) -> bool:
        return is_conversation(value) or (
            isinstance(value, list) and bool(value) and _is_listed_conversation(value[0], is_conversation)
        )

    return claims


def _is_listed_conversation(value: Any, is_conversation: Callable[[Any], bool]) -> bool:
    """A single message is not a conversation, so a list of messages is not a list of conversations."""
    return (isinstance(value, list) or _is_document(value)) and is_conversation(value)


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and ("role" not in value or is_anthropic_response(value))


def get_first_messages(value: Any, keys: tuple[str, ...] = LIST_KEYS) -> list[dict[str, Any]]:
    """The first messages of one conversation, of any format; entries that are not objects are dropped."""
    if isinstance(value, dict):
        value = next((value[key] for key in keys if isinstance(value.get(key), list)), [])
    found = value[:MAX_MESSAGES] if isinstance(value, list) else []
    return [message for message in found if isinstance(message, dict)]


def _list_block_types(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return [block.get("type") for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def has_block(value: Any, kinds: frozenset[str]) -> bool:
    """Whether a message of a conversation has a content block of one of these types."""
    messages = get_first_messages(value, ("messages",))
    return any(
        type(kind) is str and kind in kinds
        for message in messages
        if has_message_role(message)
        for kind in _list_block_types(message)
    )


def has_message_role(message: dict[str, Any]) -> bool:
    """Whether the message has one of the known roles."""
    role = message.get("role")
    return type(role) is str and role in MESSAGE_ROLES


def is_anthropic_response(value: Any) -> bool:
    """True for a raw response of Anthropic's Messages API."""
    return (
        isinstance(value, dict)
        and value.get("type") == "message"
        and value.get("role") == "assistant"
        and isinstance(value.get("content"), list)
        and "stop_reason" in value
    )
