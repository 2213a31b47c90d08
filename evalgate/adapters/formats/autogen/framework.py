"""Reads the messages of Microsoft Agent Framework: a role and typed contents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.autogen import get_role
from evalgate.adapters.formats.autogen.messages import name_call
from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.fields import (
    FieldError,
    dict_or_empty,
    listing,
    mapping,
    prefix_errors,
    required_text,
    text,
    whole_number,
)
from evalgate.adapters.formats.core.format import words
from evalgate.adapters.formats.core.usage import TokenTable
from evalgate.adapters.formats.messages.blocks import MessageBuilder, check_arguments
from evalgate.adapters.formats.messages.roles import ROLES

if TYPE_CHECKING:
    from evalgate.adapters.formats.autogen.messages import SavedRun

MESSAGE_FIELDS = frozenset(
    {"type", "role", "contents", "author_name", "message_id", "additional_properties", "created_at"}
)
CONTENT_FIELDS = words("""
    type text protected_data uri media_type message error_code error_details usage_details call_id name arguments
    exception informational_only result items file_id vector_store_id inputs outputs image_id commands timeout_ms
    max_output_length status actions screenshot pending_safety_checks acknowledged_safety_checks stdout stderr
    exit_code timed_out tool_name server_name output hosted function_call user_input_request approved id consent_link
    merge_mode additional_properties annotations details
""")
MEDIA = {"data": "data", "uri": "uri", "hosted_file": "file", "hosted_vector_store": "file"}
WORDS = MEDIA.keys() | {"text", "text_reasoning", "error", "oauth_consent_request"}
APPROVALS = ("function_approval_request", "function_approval_response")
CALLS = {
    "function_call": ("name", "arguments"),
    "mcp_server_tool_call": ("tool_name", "arguments"),
    "search_tool_call": ("tool_name", "arguments"),
}
"""Types of calls with a name, and the fields of name and arguments."""
HOSTED_CALLS = {
    "code_interpreter_tool_call": ("code_interpreter", "inputs"),
    "image_generation_tool_call": ("image_generation", "image_id"),
    "shell_tool_call": ("shell", "commands"),
    "computer_tool_call": ("computer", "actions"),
}
"""Types of calls of a provider's tool, with its name and the field that is its argument."""
RESULTS = frozenset(
    {
        *("function_result", "mcp_server_tool_result", "search_tool_result", "code_interpreter_tool_result"),
        *("image_generation_tool_result", "shell_tool_result", "computer_tool_result"),
    }
)
RESULT_KEYS = ("result", "output", "outputs", "items", "screenshot")


def add_framework_message(run: SavedRun, message: dict[str, Any]) -> None:
    """Adds one message of Agent Framework, with the tokens that it records."""
    run.check_fields(message, MESSAGE_FIELDS)
    role = get_role(message)
    if role is None or role not in ROLES:
        raise FieldError("role", "is not one of system, user, assistant, tool")
    author = text(message.get("author_name"), "author_name")
    builder = MessageBuilder(RawMessage(ROLES[role], name=author, agent=author if role == "assistant" else None))
    for number, value in enumerate(listing(message.get("contents"), "contents")):
        with run.at(f"contents[{number}]"):
            content = {"type": "text", "text": value} if type(value) is str else mapping(value, "")
            _add_content(run, builder, role, content)
    run.add_messages(builder.build_messages())


USAGE = TokenTable(
    "agent-framework",
    input_tokens="input_token_count",
    output_tokens="output_token_count",
    total_tokens="total_token_count",
    cache_read_input_tokens="cache_read_input_token_count",
    cache_write_input_tokens="cache_creation_input_token_count",
    reasoning_output_tokens="reasoning_output_token_count",
)
"""Tokens as Agent Framework counts them: input includes the cache."""


def _add_content(run: SavedRun, builder: MessageBuilder, role: str, content: dict[str, Any]) -> None:
    run.check_fields(content, CONTENT_FIELDS)
    kind = required_text(content.get("type"), "type")
    if kind in RESULTS:
        _add_result(builder, content)
        return
    builder.start_after_results()
    if kind in CALLS or kind in HOSTED_CALLS:
        _add_call(run, builder, content, kind)
    elif kind in APPROVALS:
        with prefix_errors("function_call"):
            _add_approval(run, builder, role, mapping(content.get("function_call"), ""))
    elif kind == "usage":
        run.add_llm_call(USAGE.read(content.get("usage_details", content.get("details")), "usage_details"))
    elif not _add_words(builder, content, kind):
        run.add_unknown(kind)


def _add_words(builder: MessageBuilder, content: dict[str, Any], kind: str) -> bool:
    """Adds content that is no call and no result; false if its type is unknown."""
    if kind == "text":
        builder.add_text(text(content.get("text"), "text"))
    elif kind == "text_reasoning":
        builder.add_reasoning(text(content.get("text"), "text"))
    elif kind == "error":
        builder.add_text(text(content.get("message"), "message"))
    elif kind in MEDIA:
        builder.add_other(MEDIA[kind])
    return kind in WORDS


def _add_call(run: SavedRun, builder: MessageBuilder, content: dict[str, Any], kind: str) -> None:
    """Adds a call, unless a request for its approval was read as it."""
    call = _read_call(content, kind)
    key = name_call(call)
    if run.approvals[key] > 0:
        run.approvals[key] -= 1
    else:
        run.remember([call])
        builder.add_call(call)


def _add_approval(run: SavedRun, builder: MessageBuilder, role: str, content: dict[str, Any]) -> None:
    """Adds the call that a person is asked to approve, unless it was read before."""
    call = _read_call(content, text(content.get("type"), "type") or "function_call")
    key = name_call(call)
    if run.read[key]:
        return
    run.remember([call])
    run.approvals[key] += 1
    if role == "assistant":
        builder.add_call(call)
    else:
        run.add_messages([RawMessage("assistant", calls=[call])])


def _read_call(content: dict[str, Any], kind: str) -> ToolRequest:
    if kind in CALLS:
        name_key, argument_key = CALLS[kind]
        name = required_text(content.get(name_key), name_key)
        arguments = check_arguments(content.get(argument_key), argument_key)
    elif kind in HOSTED_CALLS:
        name, argument_key = HOSTED_CALLS[kind]
        arguments = {argument_key: content[argument_key]} if content.get(argument_key) is not None else None
    else:
        raise FieldError("type", "is not the type of a call")
    return ToolRequest(text(content.get("call_id"), "call_id") or None, name, arguments)


def _add_result(builder: MessageBuilder, content: dict[str, Any]) -> None:
    call_id = text(content.get("call_id"), "call_id") or None
    found = next((content[key] for key in RESULT_KEYS if content.get(key) is not None), None)
    exit_code = None
    if type(found) is list:
        outputs = [dict_or_empty(output) for output in found]
        exit_code = next((whole_number(one["exit_code"], "exit_code") for one in outputs if "exit_code" in one), None)
        found = [_shorten(output) for output in found]
    failed = content.get("exception") is not None or content.get("status") in ("failed", "error")
    builder.add_result(ToolResult(call_id, None, found, failed, exit_code))


def _shorten(value: Any) -> Any:
    """An output without the data of images; its text if it has nothing else."""
    kind = value.get("type") if type(value) is dict else None
    if type(kind) is str and kind in MEDIA:
        return {"type": MEDIA[kind]}
    return value["text"] if kind == "text" and type(value.get("text")) is str else value
