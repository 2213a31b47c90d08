"""The tools of the recorded agents, and what a user asks them."""

from __future__ import annotations

import json
import os
from typing import Any

SYSTEM = os.environ.get("SYSTEM_PROMPT", "You are a support agent. Be brief.")
QUESTION = os.environ.get("EVALGATE_PROMPT") or "Please refund my order A-7."


def call(name: str, arguments: dict[str, Any]) -> str:
    """The result of a tool; with TOOL_QUOTES it quotes its arguments, as many errors and logs do."""
    quoted = f" for {json.dumps(arguments)}" if os.environ.get("TOOL_QUOTES") else ""
    return find(name, arguments) + quoted


def find(name: str, arguments: dict[str, Any]) -> str:
    if name == "find_order":
        return f"order {arguments['order']}: delivered"
    return f"policy {arguments['topic']}: 30 days"


SCHEMAS: dict[str, dict[str, Any]] = {
    "find_order": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    "read_policy": {"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]},
}
