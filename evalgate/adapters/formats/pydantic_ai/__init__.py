"""Messages of Pydantic AI. Entry points: `PYDANTIC_AI`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, claim_one_or_list, get_first_messages


def is_pydantic_ai(value: Any) -> bool:
    """True for requests and responses that consist of `parts`."""
    messages = get_first_messages(value, ("messages", "all_messages", "new_messages"))
    first = messages[0] if messages else {}
    parts = first.get("parts")
    if first.get("kind") not in ("request", "response") or not isinstance(parts, list):
        return False
    return not parts or (isinstance(parts[0], dict) and "part_kind" in parts[0])


PYDANTIC_AI = Format(
    name="pydantic-ai",
    needs="messages with `kind` and `parts` of a `part_kind`",
    claims=claim_one_or_list(is_pydantic_ai),
    module="pydantic_ai.reader",
)
