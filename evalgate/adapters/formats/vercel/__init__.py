"""Steps and messages of the Vercel AI SDK. Entry points: `VERCEL`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import (
    Format,
    claim_one_or_list,
    get_first_messages,
    has_block,
    has_message_role,
)

VERCEL_BLOCKS = frozenset({"tool-call", "tool-result", "tool-error"})
VERCEL_STEP = frozenset({"toolCalls", "toolResults", "finishReason"})


def is_vercel(value: Any) -> bool:
    """True for steps of a run, UI messages, or model messages with tool blocks."""
    if isinstance(value, dict) and isinstance(value.get("steps"), list) and "history" not in value:
        steps = get_first_messages(value, ("steps",))
        return bool(steps) and not VERCEL_STEP.isdisjoint(steps[0]) and "session_id" not in value
    messages = get_first_messages(value, ("messages",))
    return any(map(_is_ui_message, messages)) or has_block(value, VERCEL_BLOCKS)


def _is_ui_message(message: dict[str, Any]) -> bool:
    if not has_message_role(message):
        return False
    if isinstance(message.get("toolInvocations"), list):
        return True
    parts = message.get("parts")
    first = parts[0] if isinstance(parts, list) and parts else None
    kind = first.get("type") if isinstance(first, dict) else None
    return type(kind) is str and "content" not in (first or {}) and "part_kind" not in (first or {})


VERCEL = Format(
    name="vercel",
    needs="`steps` with `toolCalls`, or messages with `parts`",
    claims=claim_one_or_list(is_vercel),
    module="vercel.reader",
)
