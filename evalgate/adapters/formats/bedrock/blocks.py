"""Reads one message of Amazon Bedrock: its content is a list of blocks, whose only key names their type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.raw_message import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.fields import (
    FieldError,
    dict_or_empty,
    listing,
    mapping,
    prefix_errors,
    required_text,
    text,
)
from evalgate.adapters.formats.messages.blocks import check_arguments
from evalgate.adapters.formats.messages.message_builder import MessageBuilder

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.builder.unknown_parts import UnknownParts
    from evalgate.models.trace.trace import Role

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
MESSAGE_FIELDS = frozenset({"role", "content", "metadata", "tracking_id"})
MEDIA = frozenset({"image", "document", "video", "audio", "searchResult"})
WITHOUT_TEXT = frozenset({"cachePoint", "toolAddition", "toolRemoval"})
BLOCKS = frozenset({"text", "toolUse", "toolResult", "reasoningContent", "citationsContent", "guardContent"})
KNOWN_BLOCKS = BLOCKS | MEDIA | WITHOUT_TEXT


def read_message(message: dict[str, Any], unknown: UnknownParts, path: str) -> list[RawMessage]:
    """One message, as several if it holds tool results; paths in errors are relative to the message."""
    role = required_text(message.get("role"), "role")
    if role not in ROLES:
        raise FieldError("role", "is not one of user, assistant, system")
    unknown.check_fields(message, MESSAGE_FIELDS, path)
    builder = MessageBuilder(RawMessage(ROLES[role]))
    content = message.get("content")
    if type(content) is str:
        builder.add_text(content)
        return builder.build_messages()
    for number, value in enumerate(listing(content, "content")):
        place = f"content[{number}]"
        with prefix_errors(place):
            _add_block(builder, mapping(value, ""), unknown, f"{path}.{place}")
    return builder.build_messages()


def read_system(value: Any) -> str | None:
    """The text of the system's blocks, or of a plain prompt."""
    if value is None or type(value) is str:
        return value
    blocks = [mapping(block, f"system[{number}]") for number, block in enumerate(listing(value, "system"))]
    return "\n".join(filter(None, map(_get_text, blocks))) or None


def _add_block(builder: MessageBuilder, block: dict[str, Any], unknown: UnknownParts, path: str) -> None:
    unknown.check_fields(block, KNOWN_BLOCKS, path)
    if block.get("toolResult") is not None:
        builder.add_result(_read_result(mapping(block["toolResult"], "toolResult")))
    if block.keys() == {"toolResult"}:
        return
    builder.start_after_results()
    if block.get("reasoningContent") is not None:
        builder.add_reasoning(_get_reasoning(mapping(block["reasoningContent"], "reasoningContent")))
    builder.add_text(_get_text(block))
    if block.get("toolUse") is not None:
        builder.add_call(_read_call(mapping(block["toolUse"], "toolUse")))
    for kind in sorted(block.keys() - BLOCKS - WITHOUT_TEXT):
        builder.add_other("search_result" if kind == "searchResult" else kind)


def _read_call(call: dict[str, Any]) -> ToolRequest:
    name = required_text(call.get("name"), "toolUse.name")
    call_id = text(call.get("toolUseId"), "toolUse.toolUseId") or None
    return ToolRequest(call_id, name, check_arguments(call.get("input"), "toolUse.input"))


def _read_result(result: dict[str, Any]) -> ToolResult:
    items = result.get("content")
    if type(items) is list:
        items = _read_items(items)
    call_id = text(result.get("toolUseId"), "toolResult.toolUseId") or None
    return ToolResult(call_id, None, items, text(result.get("status"), "toolResult.status") == "error")


def _read_items(items: list[Any]) -> Any:
    """The text of all items if they are text, the value of a single `json`, else the items without media."""
    if items and all(type(item) is dict and type(item.get("text")) is str for item in items):
        return "\n".join(item["text"] for item in items)
    if len(items) == 1 and type(items[0]) is dict and items[0].keys() == {"json"}:
        return items[0]["json"]
    return [_drop_media(item) for item in items]


def _drop_media(item: Any) -> Any:
    kinds = sorted(MEDIA.intersection(item)) if type(item) is dict else []
    return {"type": kinds[0]} if kinds else item


def _get_reasoning(block: dict[str, Any]) -> str | None:
    return text(mapping(block.get("reasoningText"), "reasoningContent.reasoningText").get("text"), "reasoningContent")


def _get_text(block: dict[str, Any]) -> str | None:
    """The text of a block, of its citations or of its guarded content."""
    if block.get("text") is not None:
        return text(block["text"], "text")
    if block.get("citationsContent") is not None:
        cited = mapping(block["citationsContent"], "citationsContent")
        parts = [dict_or_empty(part).get("text") for part in listing(cited.get("content"), "citationsContent.content")]
        return "".join(part for part in parts if type(part) is str) or None
    guarded = dict_or_empty(dict_or_empty(block.get("guardContent")).get("text"))
    return text(guarded.get("text"), "guardContent.text.text")
