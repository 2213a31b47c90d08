"""Cursor's command line: `--output-format stream-json` and `json`. Entry points: `CURSOR`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

LOOK_AT = 20
CALL_STATES = ("started", "completed")
THOUGHT_STATES = ("delta", "completed")
CLAUDE_INIT = frozenset({"tools", "uuid", "claude_code_version"})
CLAUDE_RESULT = frozenset({"num_turns", "total_cost_usd", "cost_usd", "uuid", "modelUsage"})


def is_cursor_line(value: Any) -> bool:
    """True for a line that Cursor writes and Claude Code does not; both have `user` and `assistant` lines."""
    if not isinstance(value, dict):
        return False
    kind, state = value.get("type"), value.get("subtype")
    if kind == "tool_call":
        return isinstance(value.get("tool_call"), dict) and state in CALL_STATES
    if kind == "thinking":
        return state in THOUGHT_STATES and "message" not in value
    if kind == "system":
        return state == "init" and "apiKeySource" in value and CLAUDE_INIT.isdisjoint(value)
    return kind == "result" and "subtype" in value and "request_id" in value and CLAUDE_RESULT.isdisjoint(value)


def list_cursor_lines(value: Any) -> list[Any]:
    """The lines of a document: a list of them, or a single line."""
    return value if isinstance(value, list) else [value]


def _claims_cursor(value: Any) -> bool:
    return any(map(is_cursor_line, list_cursor_lines(value)[:LOOK_AT]))


CURSOR = Format(
    name="cursor",
    needs="lines of `type` system (init), tool_call or thinking, or a result with `request_id`",
    claims=_claims_cursor,
    module="cursor.reader",
    joins_lines=True,
)
