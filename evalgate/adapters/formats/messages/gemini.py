"""Reads contents of Gemini and Google's ADK: a role and parts, keys in camel case or snake case."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.fields import FieldError, do_each, flag, listing, mapping, required_text, text
from evalgate.adapters.formats.messages.blocks import MessageBuilder, check_arguments, read_each
from evalgate.adapters.formats.messages.roles import ROLES

SPELLINGS = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "executableCode": "executable_code",
    "codeExecutionResult": "code_execution_result",
    "thoughtSignature": "thought_signature",
}
KINDS = frozenset({"text", *SPELLINGS.values()})
CODE_TOOL = "code_execution"


def is_shape(value: Any) -> bool:
    """True for a content: its parts are identified by their keys and have no `type`."""
    if type(value) is not dict or type(value.get("parts")) is not list:
        return False
    role = value.get("role")
    if role is not None and (type(role) is not str or role not in ROLES):
        return False
    return all(_is_part(part) for part in value["parts"]) and (role is not None or bool(value["parts"]))


def read_messages(value: Any) -> list[RawMessage]:
    """One content or a list of them; raises FieldError."""
    return read_each(value, read_message)


def read_message(recorded: dict[str, Any]) -> list[RawMessage]:
    """One content, as several messages if code ran within it."""
    parts = [_normalize_keys(part) if type(part) is dict else part for part in listing(recorded.get("parts"), "parts")]
    role = text(recorded.get("role"), "role")
    if role is None:
        role = "model" if any("function_call" in part for part in parts if type(part) is dict) else "user"
    if role not in ROLES:
        raise FieldError("role", "is not one of user, model, system, tool")
    builder = MessageBuilder(RawMessage(ROLES[role]))
    do_each(parts, "parts", lambda part: _add_part(builder, part))
    return builder.build_messages()


def _is_part(value: Any) -> bool:
    return type(value) is dict and "type" not in value and not KINDS.isdisjoint(_normalize_keys(value))


def _normalize_keys(part: dict[str, Any]) -> dict[str, Any]:
    """A part with keys in snake case and without keys whose value is None."""
    return {SPELLINGS.get(key, key): inner for key, inner in part.items() if inner is not None}


def _add_part(builder: MessageBuilder, part: dict[str, Any]) -> None:
    if "function_response" in part:
        builder.add_result(_read_result(mapping(part["function_response"], "function_response")))
    elif "code_execution_result" in part:
        found = mapping(part["code_execution_result"], "code_execution_result")
        outcome = found.get("outcome")
        has_failed = type(outcome) is str and not outcome.endswith("OK")
        builder.add_result(ToolResult(None, CODE_TOOL, text(found.get("output"), "output"), has_failed))
    else:
        builder.start_after_results()
        _add_message_part(builder, part)


def _add_message_part(builder: MessageBuilder, part: dict[str, Any]) -> None:
    if "function_call" in part:
        call = mapping(part["function_call"], "function_call")
        name = required_text(call.get("name"), "function_call.name")
        given = check_arguments(call.get("args"), "function_call.args")
        builder.add_call(ToolRequest(text(call.get("id"), "function_call.id") or None, name, given))
    elif "executable_code" in part:
        builder.add_call(ToolRequest(None, CODE_TOOL, mapping(part["executable_code"], "executable_code")))
    elif "text" in part:
        words = text(part["text"], "text")
        (builder.add_reasoning if flag(part.get("thought"), "thought") else builder.add_text)(words)
    elif "inline_data" in part or "file_data" in part:
        builder.add_other("inline_data" if "inline_data" in part else "file_data")


def _read_result(found: dict[str, Any]) -> ToolResult:
    name = text(found.get("name"), "function_response.name") or None
    answer = found.get("response")
    has_failed = type(answer) is dict and bool(answer.get("error")) and not {"result", "output"} & set(answer)
    return ToolResult(text(found.get("id"), "function_response.id") or None, name, answer, has_failed)
