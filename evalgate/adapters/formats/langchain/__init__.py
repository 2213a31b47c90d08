"""Reads LangChain messages. Entry points: `LANGCHAIN`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, claim_one_or_list, get_first_messages, has_message_role

LANGCHAIN_TYPES = frozenset({"human", "ai", "tool", "system", "AIMessageChunk"})


def is_langchain(value: Any) -> bool:
    """True for LangChain's own message objects, or plain messages whose calls have `args`."""
    return any(_is_langchain_message(message) for message in get_first_messages(value, ("messages", "output")))


def _is_langchain_message(message: dict[str, Any]) -> bool:
    path, kind = message.get("id"), message.get("type")
    if isinstance(message.get("kwargs"), dict) and isinstance(path, list):
        return bool(path) and str(path[-1]).removesuffix("Chunk").endswith("Message")
    if "role" not in message and type(kind) is str and kind in LANGCHAIN_TYPES:
        data = message.get("data")
        return "content" in message or (isinstance(data, dict) and "content" in data)
    calls = message.get("tool_calls")
    first = calls[0] if isinstance(calls, list) and calls else None
    return has_message_role(message) and isinstance(first, dict) and "args" in first and "function" not in first


LANGCHAIN = Format(
    name="langchain",
    needs="messages of type human, ai and tool",
    claims=claim_one_or_list(is_langchain),
    module="langchain.reader",
)
