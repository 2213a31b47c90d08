"""Signs of what coding agents of the shell leave behind: Claude Code and Codex."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.trace_formats.shapes import Format

LOOK_AT = 20
SESSION_KEYS = frozenset({"session_id", "sessionId"})
SPOKEN = ("user", "assistant")
HOLDERS = ("loglines", "messages")
ROLLOUT_LINES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
EXEC_DOMAINS = ("thread.", "turn.", "item.")
CODEX_MARK = "internal_chat_message_metadata_passthrough"


def is_claude_line(value: Any) -> bool:
    """True for a line of a stream, or of a session file of any version."""
    if not isinstance(value, dict):
        return False
    kind, message = value.get("type"), value.get("message")
    if kind == "summary":
        return "leafUuid" in value
    if SESSION_KEYS.isdisjoint(value):
        return kind in SPOKEN and isinstance(message, dict) and _is_bare_line(value, message)
    if kind == "result":
        return "subtype" in value
    if kind == "system":
        return "subtype" in value
    return isinstance(message, dict) and message.get("role") in SPOKEN


def _is_bare_line(value: dict[str, Any], message: dict[str, Any]) -> bool:
    """True for a spoken line without a session's id, as sub-agents and sessions of the web write it."""
    return "parent_tool_use_id" in value or (message.get("role") == value["type"] and "content" in message)


def is_codex_line(value: Any) -> bool:
    """True for an event of `codex exec --json`, or a line of a rollout."""
    if not isinstance(value, dict) or not isinstance(kind := value.get("type"), str):
        return False
    if kind in ROLLOUT_LINES:
        return isinstance(value.get("payload"), dict)
    if kind.startswith("item."):
        return isinstance(value.get("item"), dict)
    return (kind == "thread.started" and "thread_id" in value) or kind in ("turn.completed", "turn.failed")


def codex_lines(value: Any) -> list[Any] | None:
    """The events or items that a document holds, None where it is no list of these."""
    if isinstance(value, dict):
        for key in ("events", "items"):
            if isinstance(value.get(key), list) and _is_codex_list(value[key]):
                return list(value[key])
    elif isinstance(value, list) and _is_codex_list(value):
        return value
    return None


def _is_codex_list(values: list[Any]) -> bool:
    return any(is_codex_line(one) or _is_marked(one) for one in values[:LOOK_AT])


def _is_marked(value: Any) -> bool:
    return isinstance(value, dict) and CODEX_MARK in value


def _claims_claude(value: Any) -> bool:
    lines = claude_lines(value)
    return any(map(is_claude_line, lines[:LOOK_AT]))


def claude_lines(value: Any) -> list[Any]:
    """The lines of a document: a list of them, also in an object as sessions of the web are, or one line."""
    if isinstance(value, dict):
        held = next((value[key] for key in HOLDERS if isinstance(value.get(key), list)), None)
        return [value] if held is None else list(held)
    return value if isinstance(value, list) else [value]


def _claims_codex(value: Any) -> bool:
    return is_codex_line(value) or codex_lines(value) is not None


CLAUDE_CODE = Format(
    name="claude-code",
    needs="lines with `type`, `message` and a session id",
    claims=_claims_claude,
    module="readers.claude_code",
    together=True,
)
CODEX = Format(
    name="codex",
    needs="events of `codex exec --json`, or a rollout",
    claims=_claims_codex,
    module="readers.codex",
    together=True,
)
