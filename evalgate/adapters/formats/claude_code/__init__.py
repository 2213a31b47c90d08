"""Claude Code: streams, session files and execution files. Entry points: `CLAUDE_CODE`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

LOOK_AT = 20
SESSION_KEYS = frozenset({"session_id", "sessionId"})
SPEAKER_ROLES = ("user", "assistant")
LINE_KEYS = ("loglines", "messages")


def is_claude_line(value: Any) -> bool:
    """True for a line of a stream, or of a session file of any version."""
    if not isinstance(value, dict) or is_of_qwen(value.get("message")):
        return False
    kind, message = value.get("type"), value.get("message")
    if kind == "summary":
        return "leafUuid" in value
    if SESSION_KEYS.isdisjoint(value):
        return kind in SPEAKER_ROLES and isinstance(message, dict) and _is_bare_line(value, message)
    if kind == "result":
        return "subtype" in value
    if kind == "system":
        return "subtype" in value
    return isinstance(message, dict) and message.get("role") in SPEAKER_ROLES


def find_session_id(line: Any) -> str | None:
    """The id of the session that a line belongs to; lines of session files have both spellings since 2.1.210."""
    found = line.get("sessionId", line.get("session_id")) if isinstance(line, dict) else None
    return found if isinstance(found, str) and found else None


def is_of_qwen(message: Any) -> bool:
    """True for a message of Qwen Code, whose lines have the same envelope."""
    return isinstance(message, dict) and "parts" in message and "content" not in message


def _is_bare_line(value: dict[str, Any], message: dict[str, Any]) -> bool:
    """True for a message line without a session id, as sub-agents and web sessions write it."""
    return "parent_tool_use_id" in value or (message.get("role") == value["type"] and "content" in message)


def _claims_claude(value: Any) -> bool:
    lines = list_claude_lines(value)
    return any(map(is_claude_line, lines[:LOOK_AT]))


def list_claude_lines(value: Any) -> list[Any]:
    """The lines of a document: a list, a list in an object (web sessions), or a single line."""
    if isinstance(value, dict):
        for key in LINE_KEYS:
            if isinstance(value.get(key), list):
                return list(value[key])
        return [value]
    return value if isinstance(value, list) else [value]


CLAUDE_CODE = Format(
    name="claude-code",
    needs="lines with `type`, `message` and a session id",
    claims=_claims_claude,
    module="claude_code.reader",
    joins_lines=True,
)
