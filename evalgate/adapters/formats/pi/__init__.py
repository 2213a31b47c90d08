"""pi, and agents built on it, such as OpenClaw: sessions and `--mode json`. Entry points: `PI`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object

OWN_ROLES = frozenset({"toolResult", "bashExecution", "branchSummary", "compactionSummary"})


def is_session(value: Any) -> bool:
    """True for the line that begins a session."""
    return isinstance(value, dict) and value.get("type") == "session" and "id" in value and "cwd" in value


def _claims_pi(value: Any) -> bool:
    first = first_object(value)
    if is_session(first):
        return True
    message = first.get("message") if first.get("type") in ("message", "message_end") else None
    if not isinstance(message, dict):
        return False
    role = message.get("role")
    return isinstance(role, str) and (role in OWN_ROLES or (role == "assistant" and "stopReason" in message))


PI = Format(
    name="pi",
    needs="lines of `type` session and message, with `stopReason` and role toolResult",
    claims=_claims_pi,
    module="pi.reader",
    joins_lines=True,
)
