"""Reads items of OpenAI's Responses API: messages, calls and their outputs in one flat list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.evidence_gaps import Unknown, describe_unknown, pick_worse
from evalgate.adapters.formats.core.fields import do_each, listing, required_text, text
from evalgate.adapters.formats.core.format import words
from evalgate.adapters.formats.messages import roles
from evalgate.adapters.formats.messages.blocks import check_arguments, get_first, join_text, parse_result

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

CALL = "_call"
OUTPUT = "_call_output"
OUTPUTS_OF_PROVIDER = {"tool_search_output": "tool_search", "program_output": "program"}
"""Types of items that are results too, each with the name of the tool whose call it answers."""
CALLS_OF_PROVIDER = {"program": "program_call"}
"""Types of items that are calls without being named so, as those that are."""
NAMED_CALLS = frozenset({"function_call", "custom_tool_call", "mcp_call"})
ASKED, DECIDED = "mcp_approval_request", "mcp_approval_response"
"""Types of items in which a call waits for a person, and is allowed or denied."""
IGNORED_TYPES = words("""
    item_reference mcp_list_tools compaction compaction_summary compaction_trigger context_compaction ghost_snapshot
    additional_tools
""")
OTHER_TYPES = IGNORED_TYPES.union((ASKED, DECIDED), CALLS_OF_PROVIDER)
RESULT_KEYS = ("output", "outputs", "results", "error")
FAILED = ("failed", "incomplete")
ANSWERED_BY_ITEMS = words("local_shell_call shell_call computer_call apply_patch_call tool_search_call program_call")
"""Types of calls whose result is an item of its own."""


def is_shape(value: Any) -> bool:
    """True for an item that is not a plain message: a call, an output, reasoning, a typed message."""
    if type(value) is not dict or type(value.get("type")) is not str:
        return False
    kind = value["type"]
    if kind == "message":
        return roles.is_shape(value)
    if kind == "function_call":
        return "call_id" in value
    if kind == "reasoning":
        return "summary" in value or "encrypted_content" in value
    return kind.endswith((CALL, OUTPUT)) or kind in OTHER_TYPES


def read_messages(value: Any) -> list[RawMessage]:
    """A list of items, or one; the items of one response of the model become one message."""
    items = value if type(value) is list else [value]
    messages: list[RawMessage] = []
    ran = {found for each in items if (found := _find_request_id(each)) is not None}
    do_each(items, "", lambda item: add_item(messages, item, ran))
    return messages


def _find_request_id(item: Any) -> str | None:
    """The id of the request for approval of a call that ran."""
    found = item.get("approval_request_id") if type(item) is dict and item.get("type") == "mcp_call" else None
    return found if type(found) is str else None


def add_item(messages: list[RawMessage], item: dict[str, Any], ran: AbstractSet[Any] = frozenset()) -> None:
    """Adds one item to the messages; `ran` are ids of requests that other items are the calls of. Raises FieldError."""
    kind = text(item.get("type"), "type") or "message"
    kind = CALLS_OF_PROVIDER.get(kind, kind)
    if kind == "message":
        _add_message(messages, item)
    elif kind == "reasoning":
        _get_open_message(messages, is_closed=_has_output).reasoning = _read_reasoning(item)
    elif kind.endswith(OUTPUT):
        _get_results(messages).append(_read_result(item))
    elif kind in OUTPUTS_OF_PROVIDER:
        _get_results(messages).append(_read_provider_output(item, OUTPUTS_OF_PROVIDER[kind]))
    elif kind in (ASKED, DECIDED):
        _add_approval(messages, item, ran)
    elif kind == "agent_message":
        messages.append(RawMessage("system", join_text(listing(item.get("content"), "content"))))
    elif kind.endswith(CALL):
        request = _read_request(item, kind.removesuffix(CALL), is_named=kind in NAMED_CALLS)
        _get_open_message(messages).calls.append(request)
        if kind not in ("function_call", "custom_tool_call"):
            _add_provider_result(messages, item, kind, request)
    elif kind not in IGNORED_TYPES and (_find_name(item) is not None or describe_unknown("it", kind, item).can_be_call):
        _get_open_message(messages).calls.append(_read_unknown(item, kind))


def _add_approval(messages: list[RawMessage], item: dict[str, Any], ran: AbstractSet[Any]) -> None:
    """A call of an MCP server that waits for a person, unless it ran; one that was denied has failed."""
    if item["type"] == ASKED:
        if item.get("id") not in ran:
            _get_open_message(messages).calls.append(_read_request(item, "", is_named=True))
    elif item.get("approve") is False:
        asked_as = text(item.get("approval_request_id"), "approval_request_id")
        reason = text(item.get("reason"), "reason")
        _get_results(messages).append(ToolResult(asked_as, None, reason or "denied", is_error=True))


def _add_message(messages: list[RawMessage], item: dict[str, Any]) -> None:
    added = roles.read_message(item)
    last = messages[-1] if messages else None
    is_thought = last is not None and last.role == "assistant" and not _has_output(last)
    if is_thought and last is not None and added[0].role == "assistant":
        added[0].reasoning = last.reasoning or added[0].reasoning
        messages.pop()
    messages += added


def _has_output(message: RawMessage) -> bool:
    return bool(message.content or message.calls or message.parts)


def _get_open_message(messages: list[RawMessage], *, is_closed: Any = None) -> RawMessage:
    """The last message if it is the assistant's and not closed, else a new one."""
    if not messages or messages[-1].role != "assistant" or (is_closed is not None and is_closed(messages[-1])):
        messages.append(RawMessage("assistant"))
    return messages[-1]


def _get_results(messages: list[RawMessage]) -> list[ToolResult]:
    if not messages or messages[-1].role != "tool":
        messages.append(RawMessage("tool"))
    return messages[-1].answers


def _read_reasoning(item: dict[str, Any]) -> str | None:
    for key in ("summary", "content"):
        found = item.get(key)
        words = join_text(found) if type(found) is list else None
        if words:
            return words
    return None


def _read_request(item: dict[str, Any], tool: str, *, is_named: bool) -> ToolRequest:
    call_id = text(get_first(item, ("call_id", "id")), "call_id") or None
    if is_named:
        return ToolRequest(call_id, read_name(item), check_arguments(get_first(item, ("arguments", "input"))))
    tool = _find_name(item) or tool
    known = {key: item[key] for key in ("action", "code", "queries", "operation") if item.get(key) is not None}
    if not known and item.get("arguments") is not None:
        return ToolRequest(call_id, tool, check_arguments(item["arguments"]))
    action = known.get("action")
    return ToolRequest(call_id, tool, action if len(known) == 1 and type(action) is dict else known or None)


def read_name(item: dict[str, Any]) -> str:
    """The name of a called tool; of an MCP server's tool the whole one, which older recordings have in one field."""
    name, server = required_text(item.get("name"), "name"), item.get("namespace")
    if type(server) is str and server.startswith("mcp__") and not name.startswith("mcp__"):
        return f"{server.rstrip('_')}__{name}"
    return name


def find_unnamed(items: Any, path: str) -> Unknown | None:
    """The first item of unknown type that names no tool and can be a call, else the first; else None."""
    found: Unknown | None = None
    for number, item in enumerate(items if type(items) is list else []):
        found = pick_worse(found, describe_unnamed(item, f"`{path}[{number}]`"))
    return found


def describe_unnamed(item: Any, place: str) -> Unknown | None:
    """An item of unknown type that names no tool; None for any other."""
    kind = item.get("type") if type(item) is dict else None
    if type(kind) is not str or not kind or _is_known(kind) or _find_name(item) is not None:
        return None
    return describe_unknown(place, kind, item)


def _is_known(kind: str) -> bool:
    is_read = kind in ("message", "reasoning", "agent_message") or kind in OUTPUTS_OF_PROVIDER
    return is_read or kind.endswith((CALL, OUTPUT)) or kind in OTHER_TYPES


def _find_name(item: dict[str, Any]) -> str | None:
    name = get_first(item, ("name", "tool_name"))
    return name if type(name) is str and name else None


def _read_unknown(item: dict[str, Any], kind: str) -> ToolRequest:
    """An item of unknown type as a call: under the name it has, else under its type."""
    call_id = get_first(item, ("call_id", "id"))
    given = get_first(item, ("arguments", "input", "args", "parameters"))
    return ToolRequest(
        call_id if type(call_id) is str and call_id else None,
        _find_name(item) or kind,
        given if type(given) in (str, dict) else None,
    )


def _read_result(item: dict[str, Any]) -> ToolResult:
    content, has_failed = parse_result(item.get("output"))
    call_id = text(get_first(item, ("call_id", "id")), "call_id") or None
    return ToolResult(call_id, None, content, has_failed or item.get("status") in FAILED or None)


def _read_provider_output(item: dict[str, Any], tool: str) -> ToolResult:
    """What a tool of the provider returned; without the id of its call, it answers the last call of that tool."""
    content, _ = parse_result(get_first(item, ("output", "result", "tools")))
    return ToolResult(text(item.get("call_id"), "call_id"), tool, content, item.get("status") in FAILED or None)


def _add_provider_result(messages: list[RawMessage], item: dict[str, Any], kind: str, request: ToolRequest) -> None:
    """Adds the result of a tool that ran at the provider; it may have a status but no content."""
    is_over = item.get("status") in ("completed", "failed", "incomplete") or kind == "mcp_call"
    if not is_over or kind in ANSWERED_BY_ITEMS:
        return
    content, _ = parse_result(get_first(item, RESULT_KEYS))
    has_failed = item.get("status") in FAILED or item.get("error") is not None
    _get_results(messages).append(ToolResult(request.id, request.name, content, has_failed))
