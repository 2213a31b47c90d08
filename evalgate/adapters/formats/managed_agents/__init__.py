"""Reads sessions of Claude managed agents. Entry points: `MANAGED_AGENTS`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

CLIENT_CALL_PREFIX = "client.beta.sessions."
SESSION_DOMAINS = ("user.", "agent.", "session.", "span.")


def session_event(value: Any) -> dict[str, Any] | None:
    """The event of a managed agent's session in a line, bare or as a client received it."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):  # noqa: PLR2004
        value = value[1] if value[0].startswith(CLIENT_CALL_PREFIX) else None
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return None
    has_id = str(value.get("id", "")).startswith(("sevt_", "sesn_"))
    known = value["type"] == "session" or value["type"].startswith(SESSION_DOMAINS)
    return value if has_id and known else None


def _claims_managed_agents(value: Any) -> bool:
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        value = value["data"]
    if session_event(value) is not None:
        return True
    return isinstance(value, list) and bool(value) and session_event(value[0]) is not None


MANAGED_AGENTS = Format(
    name="claude-managed-agents",
    needs="events of a session (`sevt_...`), bare or as received",
    claims=_claims_managed_agents,
    module="managed_agents.reader",
    joins_lines=True,
)
