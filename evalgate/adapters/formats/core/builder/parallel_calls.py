"""Reads a call of OpenAI's `multi_tool_use.parallel`, or of a server in Pydantic AI, as the calls in its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import CALL_TOOL, PARALLEL, PARALLEL_FORMS, SERVER, build_call
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.measures.text.similar_names import unwrap_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.trace.trace import CallRef, ToolCall, Trace

UNREAD = f"a call of `{PARALLEL}` or of an MCP server does not say which tools it calls"


def expand_parallel_calls(trace: Trace) -> None:
    """Replaces such calls, each inner call with the result of the outer one; one that can't be read is a gap."""
    if not any(_is_outer(call["name"], call["arguments"]) for call in trace.tool_calls):
        return
    trace.tool_calls = [each for call in trace.tool_calls for each in _expand_call(call)]
    for index, call in enumerate(trace.tool_calls):
        call["index"] = index
        if _is_outer(call["name"], call["arguments"]):
            add_gap(trace, "calls", UNREAD)
    for message in trace.messages:
        if any(_is_outer(each["name"], each["arguments"]) for each in message["tool_calls"]):
            message["tool_calls"] = [each for ref in message["tool_calls"] for each in _expand_reference(ref)]


def _is_outer(name: str, arguments: Any) -> bool:
    """Whether a call stands for calls inside it; a server also lists its tools by such a call."""
    is_of_server = name.startswith(SERVER) and isinstance(arguments, dict) and arguments.get("action") == CALL_TOOL
    return is_of_server or _is_parallel(name)


def _is_parallel(name: str) -> bool:
    return name.endswith(PARALLEL_FORMS) and unwrap_name(name) in PARALLEL_FORMS


def _expand_call(call: ToolCall) -> Iterator[ToolCall]:
    inner = _list_inner(call["name"], call["arguments"])
    if not inner:
        yield call
    for name, arguments in inner:
        read = build_call(name, arguments)
        changed = ("name", "arguments", "arguments_raw", "arguments_error")
        yield {**call, **{key: read[key] for key in changed}}  # type: ignore[typeddict-item, literal-required]


def _expand_reference(reference: CallRef) -> Iterator[CallRef]:
    inner = _list_inner(reference["name"], reference["arguments"])
    if not inner:
        yield reference
    for name, arguments in inner:
        yield {"id": reference["id"], "name": name, "arguments": arguments}


def _list_inner(name: str, arguments: Any) -> list[tuple[str, Any]]:
    """Names and arguments of the calls inside; empty for another tool, or if one of them can't be read."""
    if isinstance(arguments, dict) and not _is_parallel(name) and _is_outer(name, arguments):
        tool = arguments.get("tool_name")
        return [(tool, arguments.get("tool_args"))] if isinstance(tool, str) and tool else []
    uses = arguments.get("tool_uses") if _is_parallel(name) and isinstance(arguments, dict) else None
    found = []
    for each in uses if isinstance(uses, list) else ():
        recipient = each.get("recipient_name") if isinstance(each, dict) else None
        if not isinstance(recipient, str) or not recipient:
            return []
        found.append((unwrap_name(recipient), each.get("parameters", {})))
    return found
