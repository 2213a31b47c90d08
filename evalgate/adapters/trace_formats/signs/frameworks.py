"""Signs of messages as frameworks and providers write them, where those of OpenAI's chat do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.trace_formats.shapes import Format

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_AT = 50
LISTS = ("messages", "input", "items")
ANTHROPIC_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use"}
)
VERCEL_BLOCKS = frozenset({"tool-call", "tool-result", "tool-error"})
VERCEL_STEP = frozenset({"toolCalls", "toolResults", "finishReason"})
LANGCHAIN_TYPES = frozenset({"human", "ai", "tool", "system", "AIMessageChunk"})
ITEM_ENDINGS = ("_call", "_call_output")
SPEAKERS = frozenset({"system", "developer", "user", "assistant", "tool"})


def conversations(document: Any, is_one: Callable[[Any], bool]) -> list[Any]:
    """The conversations of a document: itself, or each entry of a list of them."""
    return [document] if is_one(document) or not isinstance(document, list) else document


def _one_or_many(is_one: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def claims(value: Any) -> bool:
        return is_one(value) or (isinstance(value, list) and bool(value) and _holds(value[0], is_one))

    return claims


def _holds(value: Any, is_one: Callable[[Any], bool]) -> bool:
    """A message alone is no conversation: it must not make its list one of many."""
    return (isinstance(value, list) or _is_document(value)) and is_one(value)


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and ("role" not in value or is_anthropic_answer(value))


def _spoken(value: Any, keys: tuple[str, ...] = LISTS) -> list[dict[str, Any]]:
    """The first messages of one conversation, whatever they are."""
    if isinstance(value, dict):
        value = next((value[key] for key in keys if isinstance(value.get(key), list)), [])
    found = value[:LOOK_AT] if isinstance(value, list) else []
    return [one for one in found if isinstance(one, dict)]


def _blocks(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return (
        [block.get("type") for block in content if isinstance(block, dict)]
        if isinstance(content, list)
        else []
    )


def _has_block(value: Any, kinds: frozenset[str]) -> bool:
    messages = _spoken(value, ("messages",))
    return any(
        type(kind) is str and kind in kinds
        for message in messages
        if _is_spoken(message)
        for kind in _blocks(message)
    )


def _is_spoken(message: dict[str, Any]) -> bool:
    role = message.get("role")
    return type(role) is str and role in SPEAKERS


def is_anthropic_answer(value: Any) -> bool:
    """True for a raw answer of the Messages interface."""
    return (
        isinstance(value, dict)
        and value.get("type") == "message"
        and value.get("role") == "assistant"
        and isinstance(value.get("content"), list)
        and "stop_reason" in value
    )


def is_anthropic(value: Any) -> bool:
    """True for messages with blocks of tools or thoughts, a request with `system`, or a raw answer."""
    if is_anthropic_answer(value):
        return True
    if isinstance(value, dict):
        if is_anthropic_answer(value.get("response")):
            return True
        messages = _spoken(value, ("messages",))
        if messages and _is_spoken(messages[0]) and isinstance(value.get("system"), str | list):
            return "choices" not in value and "output" not in value
    if isinstance(value, list) and all(map(is_anthropic_answer, value[:LOOK_AT])):
        return False  # answers side by side, each a recording of its own
    return _has_block(value, ANTHROPIC_BLOCKS)


def is_responses(value: Any) -> bool:
    """True for items with a call or a thought among them, or a raw response."""
    if isinstance(value, dict):
        if value.get("object") == "response":
            return True
        if isinstance(value.get("output"), list) and any(map(_is_item, _spoken(value, ("output",)))):
            return True
    return any(map(_is_item, _spoken(value)))


def _is_item(item: dict[str, Any]) -> bool:
    kind = item.get("type")
    if type(kind) is not str or "role" in item:
        return False
    if kind in ("function_call", "custom_tool_call"):
        return "call_id" in item
    if kind == "reasoning":
        return "summary" in item or "encrypted_content" in item
    return kind.endswith(ITEM_ENDINGS) and ("call_id" in item or "status" in item)


def is_langchain(value: Any) -> bool:
    """True for messages of LangChain's own, or plain ones whose calls have `args`."""
    return any(_is_langchain_message(message) for message in _spoken(value, ("messages", "output")))


def _is_langchain_message(message: dict[str, Any]) -> bool:
    path, kind = message.get("id"), message.get("type")
    if isinstance(message.get("kwargs"), dict) and isinstance(path, list):
        return bool(path) and str(path[-1]).removesuffix("Chunk").endswith("Message")
    if "role" not in message and type(kind) is str and kind in LANGCHAIN_TYPES:
        data = message.get("data")
        return "content" in message or (isinstance(data, dict) and "content" in data)
    calls = message.get("tool_calls")
    first = calls[0] if isinstance(calls, list) and calls else None
    return _is_spoken(message) and isinstance(first, dict) and "args" in first and "function" not in first


def is_pydantic_ai(value: Any) -> bool:
    """True for requests and responses in parts."""
    messages = _spoken(value, ("messages", "all_messages", "new_messages"))
    first = messages[0] if messages else {}
    parts = first.get("parts")
    if first.get("kind") not in ("request", "response") or not isinstance(parts, list):
        return False
    return not parts or (isinstance(parts[0], dict) and "part_kind" in parts[0])


def is_vercel(value: Any) -> bool:
    """True for steps of a run, messages of a user interface, or model messages with tool blocks."""
    if isinstance(value, dict) and isinstance(value.get("steps"), list) and "history" not in value:
        steps = _spoken(value, ("steps",))
        return bool(steps) and not VERCEL_STEP.isdisjoint(steps[0]) and "session_id" not in value
    messages = _spoken(value, ("messages",))
    return any(map(_is_ui_message, messages)) or _has_block(value, VERCEL_BLOCKS)


def _is_ui_message(message: dict[str, Any]) -> bool:
    if not _is_spoken(message):
        return False
    if isinstance(message.get("toolInvocations"), list):
        return True
    parts = message.get("parts")
    first = parts[0] if isinstance(parts, list) and parts else None
    kind = first.get("type") if isinstance(first, dict) else None
    return type(kind) is str and "content" not in (first or {}) and "part_kind" not in (first or {})


ANTHROPIC = Format(
    name="anthropic",
    needs="messages with `tool_use`, `tool_result` or `thinking`",
    claims=_one_or_many(is_anthropic),
    module="readers.anthropic",
)
OPENAI_RESPONSES = Format(
    name="openai-responses",
    needs="items with a `type` such as `function_call`",
    claims=_one_or_many(is_responses),
    module="readers.openai_responses",
)
LANGCHAIN = Format(
    name="langchain",
    needs="messages of type human, ai and tool",
    claims=_one_or_many(is_langchain),
    module="readers.langchain",
)
PYDANTIC_AI = Format(
    name="pydantic-ai",
    needs="messages with `kind` and `parts` of a `part_kind`",
    claims=_one_or_many(is_pydantic_ai),
    module="readers.pydantic_ai",
)
VERCEL = Format(
    name="vercel",
    needs="`steps` with `toolCalls`, or messages with `parts`",
    claims=_one_or_many(is_vercel),
    module="readers.vercel",
)
