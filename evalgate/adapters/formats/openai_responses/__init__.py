"""Items of the OpenAI Responses API, and raw responses. Entry points: `OPENAI_RESPONSES`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, claim_one_or_list, get_first_messages

ITEM_ENDINGS = ("_call", "_call_output")
ROLES = ("system", "developer", "user", "assistant")


def is_responses(value: Any) -> bool:
    """True for items that include a call or reasoning, for a raw response, or for an input with its final output."""
    if isinstance(value, dict):
        if value.get("object") == "response":
            return True
        if isinstance(value.get("output"), list) and any(map(_is_item, get_first_messages(value, ("output",)))):
            return True
        if "final_output" in value and any(map(_is_message, get_first_messages(value, ("input",)))):
            return True
    return any(map(_is_item, get_first_messages(value)))


def _is_message(item: dict[str, Any]) -> bool:
    """True for a message of a run that called no tool: then no item has a type that only this format knows."""
    return item.get("role") in ROLES and type(item.get("content")) in (str, list)


def _is_item(item: dict[str, Any]) -> bool:
    kind = item.get("type")
    if type(kind) is not str or "role" in item:
        return False
    if kind in ("function_call", "custom_tool_call"):
        return "call_id" in item
    if kind == "reasoning":
        return "summary" in item or "encrypted_content" in item
    return kind.endswith(ITEM_ENDINGS) and ("call_id" in item or "status" in item)


OPENAI_RESPONSES = Format(
    name="openai-responses",
    needs="items with a `type` such as `function_call`",
    claims=claim_one_or_list(is_responses),
    module="openai_responses.reader",
)
