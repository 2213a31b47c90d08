"""Reads typed content blocks of a message: text, reasoning, tool calls, results, images.

Anthropic, LangChain, the Responses API and the Vercel AI SDK all write a message's content as a list of
blocks; their type names do not collide, so one table reads them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.raw_message import ToolRequest, ToolResult
from evalgate.adapters.formats.core.fields import FieldError, flag, mapping, required_text, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.adapters.formats.messages.message_builder import MessageBuilder

ERROR_OPEN, ERROR_CLOSE = "<tool_use_error>", "</tool_use_error>"
TEXT_BLOCKS = frozenset({"text", "input_text", "output_text", "refusal", "summary_text"})
THOUGHT_BLOCKS = frozenset({"thinking", "reasoning", "reasoning_content", "redacted_thinking"})
CALL_BLOCKS = frozenset(
    {"tool_use", "server_tool_use", "mcp_tool_use", "tool-call", "tool_call", "function_call"}
)
BEDROCK = {"toolUse": "tool_use", "toolResult": "tool_result", "reasoningContent": "reasoning"}
RESULT_ENDING = ("tool_result", "tool-result", "tool-error")
TEXT_KEYS = ("text", "content", "refusal")
THOUGHT_KEYS = ("thinking", "text", "reasoning", "reasoning_content", "reasoningText", "content")
CALL_ID_KEYS = ("toolCallId", "call_id", "tool_call_id", "toolUseId", "id")
CALL_NAME_KEYS = ("toolName", "name", "tool_name")
ARGUMENT_KEYS = ("input", "args", "arguments")
RESULT_ID_KEYS = ("tool_use_id", "toolCallId", "tool_call_id", "call_id", "toolUseId")
RESULT_KEYS = ("content", "result", "output", "error")
DATA_BLOCKS = frozenset(
    {"image", "image_url", "input_image", "document", "file", "input_file", "audio", "input_audio", "video"}
    | {"media", "image-data", "image-url", "file-data", "file-url", "computer_screenshot"}
)
ERROR_OUTPUTS = frozenset({"error-text", "error-json", "execution-denied"})


def read_blocks(spoken: MessageBuilder, blocks: list[Any], path: str) -> None:
    """Adds every block in order; raises FieldError naming the invalid block."""
    for number, block in enumerate(blocks):
        try:
            add_block(spoken, block)
        except FieldError as error:
            raise error.under(f"{path}[{number}]") from None


def add_block(spoken: MessageBuilder, value: Any) -> None:
    """Adds one block; one of unknown type is a call if it names a tool and arguments, else only its type."""
    if type(value) is str:
        spoken.pause()
        spoken.text(value)
        return
    block = _typed(mapping(value, ""))
    kind = text(block.get("type"), "type") or "text"
    if kind.endswith(RESULT_ENDING):
        spoken.answer(answered(block))
        return
    spoken.pause()
    handler = HANDLERS.get(kind)
    if handler is not None:
        handler(spoken, block)
    elif calls_a_tool(block):
        spoken.call(asked(block))
    else:
        spoken.other(kind)


def _typed(block: dict[str, Any]) -> dict[str, Any]:
    """Adds the `type` to a block of Amazon Bedrock, whose only key names it."""
    for key, kind in BEDROCK.items():
        if type(block.get(key)) is dict:
            return {"type": kind, **block[key]}
    return block


def calls_a_tool(block: dict[str, Any]) -> bool:
    """True for a block of any type that names a tool and its arguments."""
    name = first_of(block, CALL_NAME_KEYS)
    return type(name) is str and bool(name) and type(first_of(block, ARGUMENT_KEYS)) in (dict, str)


def asked(block: dict[str, Any]) -> ToolRequest:
    """The tool call of a block; its arguments as recorded."""
    name = required_text(first_of(block, CALL_NAME_KEYS), "name")
    return ToolRequest(
        text(first_of(block, CALL_ID_KEYS), "id") or None, name, arguments(first_of(block, ARGUMENT_KEYS))
    )


def arguments(value: Any, path: str = "arguments") -> Any:
    """The arguments as recorded; raises FieldError if they are neither an object, text nor None."""
    if value is not None and type(value) is not str and type(value) is not dict:
        raise FieldError(path, "is neither an object nor text")
    return value


def answered(block: dict[str, Any]) -> ToolResult:
    """The tool result of a block: text blocks become text; images and encrypted content lose their data."""
    call_id = text(first_of(block, RESULT_ID_KEYS), "tool_use_id") or None
    name = text(block.get("toolName"), "toolName")
    content, has_failed = result(first_of(block, RESULT_KEYS))
    has_failed = has_failed or block.get("type") == "tool-error" or block.get("status") == "error"
    for key in ("is_error", "isError"):
        has_failed = bool(flag(block.get(key), key)) or has_failed
    return ToolResult(call_id, name, content, has_failed)


def result(value: Any) -> tuple[Any, bool]:
    """A result's content, and whether the content itself marks the tool as failed."""
    if type(value) is str:
        return _without_tag(value)
    if type(value) is list:
        return _without_tag(result_list(value))
    if type(value) is dict:
        kind = value.get("type")
        if "value" in value and type(kind) is str:
            inner = value["value"]
            content = result_list(inner) if type(inner) is list and kind == "content" else inner
            return content, kind in ERROR_OUTPUTS
        return _bare(value), type(kind) is str and kind.endswith("_tool_result_error")
    return value, False


def result_list(blocks: list[Any]) -> Any:
    """Text if all blocks are text; else the blocks without their data."""
    texts = [words_of(block) for block in blocks]
    words = [found for found in texts if found is not None]
    if blocks and len(words) == len(blocks):
        return "\n".join(words)
    return [_bare(block) for block in blocks]


def words_of(block: Any) -> str | None:
    """The text of a text block; None for any other block."""
    if type(block) is str:
        return block
    if type(block) is not dict:
        return None
    kind = block.get("type", "text")
    if type(kind) is str and kind in TEXT_BLOCKS:
        found = first_of(block, TEXT_KEYS)
        return found if type(found) is str else None
    return None


def first_of(block: dict[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first of the keys that has one."""
    return next((block[key] for key in keys if block.get(key) is not None), None)


def _without_tag(content: Any) -> tuple[Any, bool]:
    if type(content) is str and content.startswith(ERROR_OPEN):
        return content.removeprefix(ERROR_OPEN).removesuffix(ERROR_CLOSE), True
    return content, False


def _bare(value: Any) -> Any:
    """A block without image data and encrypted content; values of a tool stay complete."""
    if type(value) is not dict:
        return value
    if _is_data(value.get("type")):
        return {"type": value["type"]}
    return {key: inner for key, inner in value.items() if key != "encrypted_content"}


def _is_data(kind: Any) -> bool:
    return type(kind) is str and kind in DATA_BLOCKS


def _text(spoken: MessageBuilder, block: dict[str, Any]) -> None:
    spoken.text(text(first_of(block, TEXT_KEYS), "text"))


def _thought(spoken: MessageBuilder, block: dict[str, Any]) -> None:
    found = first_of(block, THOUGHT_KEYS)
    if type(found) is dict:
        found = found.get("text")
    if type(found) is list:
        found = joined(found)
    spoken.thought(text(found, "thinking"))


def joined(blocks: list[Any]) -> str | None:
    """The joined text of all text blocks; None without any."""
    words = [found for found in map(words_of, blocks) if found is not None]
    return "\n".join(words) if words else None


def _call(spoken: MessageBuilder, block: dict[str, Any]) -> None:
    spoken.call(asked(block))


HANDLERS: dict[str, Callable[[MessageBuilder, dict[str, Any]], None]] = {
    **dict.fromkeys(TEXT_BLOCKS, _text),
    **dict.fromkeys(THOUGHT_BLOCKS, _thought),
    **dict.fromkeys(CALL_BLOCKS, _call),
}
