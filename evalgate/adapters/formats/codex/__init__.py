"""Codex: events of `codex exec --json` and rollouts of sessions. Entry points: `CODEX`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

LOOK_AT = 20
ROLLOUT_LINES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
CODEX_MARK = "internal_chat_message_metadata_passthrough"


def is_codex_line(value: Any) -> bool:
    """True for an event of `codex exec --json`, or a line of a rollout."""
    if not isinstance(value, dict) or not isinstance(kind := value.get("type"), str):
        return False
    if kind in ROLLOUT_LINES:
        return isinstance(value.get("payload"), dict)
    if kind.startswith("item."):
        return isinstance(value.get("item"), dict)
    return (kind == "thread.started" and "thread_id" in value) or kind in ("turn.completed", "turn.failed")


def list_codex_lines(value: Any) -> list[Any] | None:
    """The events or items that a document holds; None if it is not a list of them."""
    if isinstance(value, dict):
        for key in ("events", "items"):
            if isinstance(value.get(key), list) and _is_codex_list(value[key]):
                return list(value[key])
    elif isinstance(value, list) and _is_codex_list(value):
        return value
    return None


def _is_codex_list(values: list[Any]) -> bool:
    return any(is_codex_line(one) or (isinstance(one, dict) and CODEX_MARK in one) for one in values[:LOOK_AT])


def _claims_codex(value: Any) -> bool:
    return is_codex_line(value) or list_codex_lines(value) is not None


CODEX = Format(
    name="codex",
    needs="events of `codex exec --json`, or a rollout",
    claims=_claims_codex,
    module="codex.reader",
    joins_lines=True,
)
