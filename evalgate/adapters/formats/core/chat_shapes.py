"""Checks shared by the detection of plain message formats; imports no reader, so it loads fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_AT = 50
LISTS = ("messages", "input", "items")
SPEAKERS = frozenset({"system", "developer", "user", "assistant", "tool"})


def conversations(document: Any, is_one: Callable[[Any], bool]) -> list[Any]:
    """The conversations of a document: the document itself, or each entry if it is a list of them."""
    return [document] if is_one(document) or not isinstance(document, list) else document


def one_or_many(is_one: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Returns a `claims` function that accepts one conversation or a list of them."""

    def claims(value: Any) -> bool:
        return is_one(value) or (isinstance(value, list) and bool(value) and _holds(value[0], is_one))

    return claims


def _holds(value: Any, is_one: Callable[[Any], bool]) -> bool:
    """A single message is no conversation, so a list of messages is not a list of conversations."""
    return (isinstance(value, list) or _is_document(value)) and is_one(value)


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and ("role" not in value or is_anthropic_answer(value))


def first_messages(value: Any, keys: tuple[str, ...] = LISTS) -> list[dict[str, Any]]:
    """The first messages of one conversation, of any format; entries that are no objects are dropped."""
    if isinstance(value, dict):
        value = next((value[key] for key in keys if isinstance(value.get(key), list)), [])
    found = value[:LOOK_AT] if isinstance(value, list) else []
    return [one for one in found if isinstance(one, dict)]


def _blocks(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return (
        [block.get("type") for block in content if isinstance(block, dict)]
        if isinstance(content, list)
        else []
    )


def has_block(value: Any, kinds: frozenset[str]) -> bool:
    """Whether a message of a conversation has a content block of one of these types."""
    messages = first_messages(value, ("messages",))
    return any(
        type(kind) is str and kind in kinds
        for message in messages
        if is_spoken(message)
        for kind in _blocks(message)
    )


def is_spoken(message: dict[str, Any]) -> bool:
    """Whether the message has one of the known roles."""
    role = message.get("role")
    return type(role) is str and role in SPEAKERS


def is_anthropic_answer(value: Any) -> bool:
    """True for a raw response of Anthropic's Messages API."""
    return (
        isinstance(value, dict)
        and value.get("type") == "message"
        and value.get("role") == "assistant"
        and isinstance(value.get("content"), list)
        and "stop_reason" in value
    )
