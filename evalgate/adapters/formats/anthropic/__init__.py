"""Anthropic messages: a list, a request, or a raw response. Entry points: `ANTHROPIC`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import (
    MAX_MESSAGES,
    Format,
    claim_one_or_list,
    get_first_messages,
    has_block,
    has_message_role,
    is_anthropic_response,
)

ANTHROPIC_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use"}
)


def is_anthropic(value: Any) -> bool:
    """True for messages with tool or thinking blocks, a request with `system`, or a raw response."""
    if is_anthropic_response(value):
        return True
    if isinstance(value, dict):
        if is_anthropic_response(value.get("response")):
            return True
        messages = get_first_messages(value, ("messages",))
        if messages and has_message_role(messages[0]) and isinstance(value.get("system"), str | list):
            return "choices" not in value and "output" not in value
    if isinstance(value, list) and all(map(is_anthropic_response, value[:MAX_MESSAGES])):
        return False  # a list of responses, each a separate trace
    return has_block(value, ANTHROPIC_BLOCKS)


ANTHROPIC = Format(
    name="anthropic",
    needs="messages with `tool_use`, `tool_result` or `thinking`",
    claims=claim_one_or_list(is_anthropic),
    module="anthropic.reader",
)
