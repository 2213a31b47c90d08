"""OpenAI chat messages: a list, messages under a key, or a raw completion.

Entry points: `OPENAI_CHAT`, `reader`.
"""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

OWN_SCHEMA = "evalgate."
CHAT_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
CHAT_BODY = frozenset({"content", "tool_calls", "function_call"})


def is_chat_message(value: Any) -> bool:
    """True for a message of the OpenAI chat shape."""
    if not isinstance(value, dict) or CHAT_BODY.isdisjoint(value):
        return False
    role = value.get("role")
    return type(role) is str and role in CHAT_ROLES


def is_chat(value: Any) -> bool:
    """True for one conversation: a list of messages, messages under a key, or a raw completion."""
    if isinstance(value, list):
        return bool(value) and is_chat_message(value[0])
    if not isinstance(value, dict) or str(value.get("schema", "")).startswith(OWN_SCHEMA):
        return False
    messages, choices = value.get("messages"), value.get("choices")
    if isinstance(messages, list) and "simulations" not in value:
        return not messages or is_chat_message(messages[0])
    return isinstance(choices, list) and bool(choices) and isinstance(choices[0], dict) and "message" in choices[0]


def _claims_chat(value: Any) -> bool:
    return is_chat(value) or (isinstance(value, list) and bool(value) and is_chat(value[0]))


OPENAI_CHAT = Format(
    name="openai-chat",
    needs='messages with `role` and `content`, as a list or under "messages"',
    claims=_claims_chat,
    module="openai_chat.reader",
)
