"""Reads typed content blocks (text, reasoning, tool calls, results, images) and builds messages from them.

Anthropic, LangChain, the Responses API and the Vercel AI SDK all write a message's content as a list of
blocks; their type names do not collide, so one table reads them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evalgate.adapters.formats.core.builder.conversation import (
    RawMessage,
    ToolRequest,
    ToolResult,
    build_recorded_call_key,
    read_arguments,
)
from evalgate.adapters.formats.core.content import name_part
from evalgate.adapters.formats.core.fields import FieldError, flag, mapping, required_text, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.adapters.formats.core.builder.conversation import CallKey


class MessageBuilder:
    """Collects the blocks of one message in order.

    A message may hold a call and its result (tools that run at the provider, parts of a user interface): it
    is split so that the result keeps its place. `template` has the role and other fields of each message.
    """

    def __init__(self, template: RawMessage) -> None:
        self._template = template
        self._done: list[RawMessage] = []
        self._start_message()

    def add_text(self, text: str | None) -> None:
        """Adds text of the message itself."""
        if text is not None:
            self._texts.append(text)
            self._parts.append({"type": "text", "text": text})

    def add_reasoning(self, text: str | None) -> None:
        """Adds reasoning of the model."""
        if text:
            self._reasoning.append(text)

    def add_other(self, kind: str) -> None:
        """Adds a part that is not text: only its type is kept."""
        self._parts.append({"type": kind})
        self._has_other = True

    def add_call(self, request: ToolRequest) -> None:
        """Adds a tool call."""
        self._message.calls.append(request)

    def add_listed_calls(self, calls: Sequence[ToolRequest]) -> None:
        """Adds tool calls from a second list of the same message, except those added already."""
        with_calls = [message for message in (*self._done, self._message) if message.calls]
        if not with_calls and len({request.id for request in calls}) == len(calls):
            self._message.calls += calls
            return
        seen = SeenCalls(request for message in with_calls for request in message.calls)
        for request in calls:
            if not seen.has_call(request):
                self.add_call(request)
                seen.add(request)

    def add_result(self, result: ToolResult) -> None:
        """Adds the result of a call in this message or in an earlier one."""
        (self._after if self._message.calls else self._message.answers).append(result)

    def start_after_results(self) -> None:
        """Starts a new message after the results so far, if there are any."""
        if self._after:
            self._finish_message()
            self._start_message()

    def build_messages(self) -> list[RawMessage]:
        """The message as one or several, at least one. The last one of its role has the finish reason."""
        if self._has_content() or not self._done:
            self._finish_message()
        matching = [message for message in self._done if message.role == self._template.role]
        if matching:
            matching[-1].finish_reason = self._template.finish_reason
        return self._done

    def _has_content(self) -> bool:
        return bool(self._parts or self._reasoning or self._message.calls or self._message.answers)

    def _start_message(self) -> None:
        self._message = replace(self._template, calls=[], answers=[], finish_reason=None)
        self._texts: list[str] = []
        self._reasoning: list[str] = []
        self._parts: list[dict[str, Any]] = []
        self._has_other = False
        self._after: list[ToolResult] = []

    def _finish_message(self) -> None:
        message = self._message
        message.content = "\n".join(self._texts) if self._texts else None
        message.reasoning = "\n".join(self._reasoning) if self._reasoning else None
        message.parts = self._parts if self._has_other else None
        if message.calls and message.role in ASKING:
            self._done += _split_calls(message)
        else:
            self._done.append(message)
        if self._after:
            self._done.append(RawMessage("tool", answers=self._after, agent=message.agent, timestamp=message.timestamp))


ASKING = ("user", "system")
"""Roles whose messages hold no call of their own: one in them is the agent's."""


def _split_calls(message: RawMessage) -> list[RawMessage]:
    """A message of a user without its calls, if anything is left, and one of the agent with them."""
    calls = RawMessage("assistant", calls=message.calls, agent=message.agent, timestamp=message.timestamp)
    has_more = message.content is not None or message.parts or message.answers
    return [replace(message, calls=[]), calls] if has_more else [calls]


class SeenCalls:
    """Calls by id, name and arguments: the id is not enough, as some recorders give all calls the same.

    Blocks of a streamed response may lack the arguments that the second list has.
    """

    def __init__(self, requests: Iterable[ToolRequest]) -> None:
        self._calls: set[tuple[str | None, CallKey]] = set()
        self._keys: set[CallKey] = set()
        self._names: set[tuple[str | None, str]] = set()
        self._incomplete: dict[tuple[str | None, str], ToolRequest] = {}
        for request in requests:
            key = _build_key(request)
            self._keys.add(key)
            self._remember(request, None)
            if request.id is None:
                self._calls.add((None, key))
            else:
                self.add(request)

    def add(self, request: ToolRequest) -> None:
        """Adds a call; one without an id is ignored, so it never matches another call of the same list."""
        if request.id is not None:
            self._calls.add((request.id, _build_key(request)))
            self._remember(request, request.id)

    def has_call(self, request: ToolRequest) -> bool:
        """True for a call that was added before; fills in its arguments if they were missing."""
        key = _build_key(request)
        if request.id is None:
            is_same = key in self._keys
        else:
            is_same = (request.id, key) in self._calls or (None, key) in self._calls
        if is_same:
            return True
        if not request.arguments:
            return (request.id, request.name) in self._names
        incomplete = self._incomplete.pop((request.id, request.name), None)
        if incomplete is None:
            return False
        incomplete.arguments = request.arguments
        self.add(incomplete)
        return True

    def _remember(self, request: ToolRequest, call_id: str | None) -> None:
        self._names.add((call_id, request.name))
        if not request.arguments or read_arguments(request.arguments).error is not None:
            self._incomplete.setdefault((call_id, request.name), request)


def _build_key(request: ToolRequest) -> CallKey:
    return build_recorded_call_key(request.name, request.arguments)


ERROR_OPEN, ERROR_CLOSE = "<tool_use_error>", "</tool_use_error>"
TEXT_BLOCKS = frozenset({"text", "input_text", "output_text", "refusal", "summary_text"})
THOUGHT_BLOCKS = frozenset({"thinking", "reasoning", "reasoning_content", "redacted_thinking"})
CALL_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool-call", "tool_call", "function_call"})
BEDROCK = {"toolUse": "tool_use", "toolResult": "tool_result", "reasoningContent": "reasoning"}
RESULT_SUFFIXES = ("tool_result", "tool-result", "tool-error")
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


def read_blocks(builder: MessageBuilder, blocks: list[Any], path: str) -> None:
    """Adds every block in order; raises FieldError naming the invalid block."""
    for number, block in enumerate(blocks):
        try:
            add_block(builder, block)
        except FieldError as error:
            raise error.with_prefix(f"{path}[{number}]") from None


def add_block(builder: MessageBuilder, value: Any) -> None:
    """Adds one block; one of unknown type is a call if it names a tool and arguments, else only its type."""
    if type(value) is str:
        builder.start_after_results()
        builder.add_text(value)
        return
    block = _add_bedrock_type(mapping(value, ""))
    kind = text(block.get("type"), "type") or _find_kind(block)
    if kind.endswith(RESULT_SUFFIXES):
        builder.add_result(read_result(block))
        return
    builder.start_after_results()
    handler = HANDLERS.get(kind)
    if handler is not None:
        handler(builder, block)
    elif is_tool_call(block):
        builder.add_call(read_request(block))
    else:
        builder.add_other(kind or name_part(block))


def _add_bedrock_type(block: dict[str, Any]) -> dict[str, Any]:
    """Adds the `type` to a block of Amazon Bedrock, whose only key names it."""
    for key, kind in BEDROCK.items():
        if type(block.get(key)) is dict:
            return {"type": kind, **block[key]}
    return block


def _find_kind(block: dict[str, Any]) -> str:
    """The type of a block without one: text if it has text or nothing, else unknown."""
    return "text" if not block or get_first(block, TEXT_KEYS) is not None else ""


def is_tool_call(block: dict[str, Any]) -> bool:
    """True for a block of any type that names a tool and its arguments."""
    name = get_first(block, CALL_NAME_KEYS)
    return type(name) is str and bool(name) and type(get_first(block, ARGUMENT_KEYS)) in (dict, str)


def read_request(block: dict[str, Any]) -> ToolRequest:
    """The tool call of a block; its arguments as recorded."""
    name = required_text(get_first(block, CALL_NAME_KEYS), "name")
    return ToolRequest(
        text(get_first(block, CALL_ID_KEYS), "id") or None,
        name,
        check_arguments(get_first(block, ARGUMENT_KEYS)),
    )


def check_arguments(value: Any, path: str = "arguments") -> Any:
    """The arguments as recorded; raises FieldError if they are neither an object, text nor None."""
    if value is not None and type(value) is not str and type(value) is not dict:
        raise FieldError(path, "is neither an object nor text")
    return value


def read_result(block: dict[str, Any]) -> ToolResult:
    """The tool result of a block: text blocks become text; images and encrypted content lose their data."""
    call_id = text(get_first(block, RESULT_ID_KEYS), "tool_use_id") or None
    name = text(block.get("toolName"), "toolName")
    content, has_failed = parse_result(get_first(block, RESULT_KEYS))
    has_failed = has_failed or block.get("type") == "tool-error" or block.get("status") == "error"
    for key in ("is_error", "isError"):
        has_failed = bool(flag(block.get(key), key)) or has_failed
    return ToolResult(call_id, name, content, has_failed)


def parse_result(value: Any) -> tuple[Any, bool]:
    """A result's content, and whether the content itself marks the tool as failed."""
    if type(value) is str:
        return _strip_error_tag(value)
    if type(value) is list:
        return _strip_error_tag(parse_result_list(value))
    if type(value) is dict:
        kind = value.get("type")
        if "value" in value and type(kind) is str:
            inner = value["value"]
            content = parse_result_list(inner) if type(inner) is list and kind == "content" else inner
            return content, kind in ERROR_OUTPUTS
        return _drop_data(value), type(kind) is str and kind.endswith("_tool_result_error")
    return value, False


def parse_result_list(blocks: list[Any]) -> Any:
    """Text if all blocks are text; else the blocks without their data."""
    texts = [get_text(block) for block in blocks]
    words = [found for found in texts if found is not None]
    if blocks and len(words) == len(blocks):
        return "\n".join(words)
    return [_drop_data(block) for block in blocks]


def get_text(block: Any) -> str | None:
    """The text of a text block; None for any other block."""
    if type(block) is str:
        return block
    if type(block) is not dict:
        return None
    kind = block.get("type", "text")
    if type(kind) is str and kind in TEXT_BLOCKS:
        found = get_first(block, TEXT_KEYS)
        return found if type(found) is str else None
    return None


def get_first(block: dict[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first of the keys that has one."""
    return next((block[key] for key in keys if block.get(key) is not None), None)


def _strip_error_tag(content: Any) -> tuple[Any, bool]:
    if type(content) is str and content.startswith(ERROR_OPEN):
        return content.removeprefix(ERROR_OPEN).removesuffix(ERROR_CLOSE), True
    return content, False


def _drop_data(value: Any) -> Any:
    """A block without image data and encrypted content; values of a tool stay complete."""
    if type(value) is not dict:
        return value
    kind = value.get("type")
    if type(kind) is str and kind in DATA_BLOCKS:
        return {"type": kind}
    return {key: inner for key, inner in value.items() if key != "encrypted_content"}


def _add_text(builder: MessageBuilder, block: dict[str, Any]) -> None:
    builder.add_text(text(get_first(block, TEXT_KEYS), "text"))


def _add_reasoning(builder: MessageBuilder, block: dict[str, Any]) -> None:
    found = get_first(block, THOUGHT_KEYS)
    if type(found) is dict:
        found = found.get("text")
    if type(found) is list:
        found = join_text(found)
    builder.add_reasoning(text(found, "thinking"))


def join_text(blocks: list[Any]) -> str | None:
    """The joined text of all text blocks; None without any."""
    words = [found for found in map(get_text, blocks) if found is not None]
    return "\n".join(words) if words else None


def _add_call(builder: MessageBuilder, block: dict[str, Any]) -> None:
    builder.add_call(read_request(block))


HANDLERS: dict[str, Callable[[MessageBuilder, dict[str, Any]], None]] = {
    **dict.fromkeys(TEXT_BLOCKS, _add_text),
    **dict.fromkeys(THOUGHT_BLOCKS, _add_reasoning),
    **dict.fromkeys(CALL_BLOCKS, _add_call),
}


def read_each(value: Any, read_one: Callable[[dict[str, Any]], Iterable[RawMessage]]) -> list[RawMessage]:
    """Reads a list of messages, or one message; raises FieldError naming the message."""
    messages: list[RawMessage] = []
    for number, message in enumerate(value if type(value) is list else [value]):
        try:
            messages += read_one(mapping(message, ""))
        except FieldError as error:
            raise error.with_prefix(f"[{number}]") from None
    return messages
