"""Gemini CLI: session files, and `--output-format stream-json`. Entry points: `GEMINI_CLI`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object


def is_session(value: Any) -> bool:
    """True for a session, or the line that begins one."""
    return isinstance(value, dict) and isinstance(value.get("sessionId"), str) and "projectHash" in value


def is_stream_line(value: Any) -> bool:
    """True for an event of `--output-format stream-json` that only Gemini CLI writes."""
    if not isinstance(value, dict) or "timestamp" not in value:
        return False
    kind = value.get("type")
    if kind == "init":
        return "session_id" in value and "model" in value
    return (kind == "tool_use" and "tool_id" in value and "tool_name" in value) or (
        kind == "tool_result" and "tool_id" in value and "status" in value
    )


def _claims_gemini_cli(value: Any) -> bool:
    first = first_object(value)
    return is_session(first) or is_stream_line(first) or (first.get("type") == "gemini" and "timestamp" in first)


GEMINI_CLI = Format(
    name="gemini-cli",
    needs="a session with `sessionId`, `projectHash` and `messages`, or events of `--output-format stream-json`",
    claims=_claims_gemini_cli,
    module="gemini_cli.reader",
    joins_lines=True,
)
