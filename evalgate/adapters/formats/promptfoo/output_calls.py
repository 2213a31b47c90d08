"""Finds the tool calls in the output of a promptfoo provider, which writes them as values or into its text."""

from __future__ import annotations

import re
from typing import Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest
from evalgate.adapters.formats.core.fields import prefix_errors
from evalgate.adapters.formats.messages import roles
from evalgate.adapters.formats.messages.blocks import is_tool_call, read_request
from evalgate.adapters.formats.messages.sniff_messages import sniff_messages
from evalgate.measures.values.json_values import decode_json_text

SENTENCE = re.compile(r"^Called function (\S+) with arguments: (.*)$", re.MULTILINE)
CALL_TYPES = frozenset({"tool_use", "function_call", "function", "tool_call", "server_tool_use", "mcp_tool_use"})
LINE_END = re.compile(r"\r\n?|\n")  # not `splitlines`, which also splits JSON texts that hold U+2028
MAX_TEXT = 200_000


def read_output(output: Any) -> tuple[list[ToolRequest], bool]:
    """The calls in an output, and whether the whole output is calls."""
    decoded = decode_json_text(output)
    if type(decoded) is str:
        return _read_text(decoded)
    entries = decoded if type(decoded) is list else [decoded]
    if entries and all(map(is_call, entries)):
        return [_read_call(entry, f"[{number}]") for number, entry in enumerate(entries)], True
    if type(decoded) is dict and (decoded.get("tool_calls") or decoded.get("function_call")):
        return roles.read_message_as("assistant", {"content": None, **decoded})[0].calls, False
    return [call for message in sniff_messages(decoded) or () for call in message.calls], False


def read_raw(raw: Any) -> list[RawMessage]:
    """The messages of a provider's raw response, if it is one of a known form."""
    decoded = decode_json_text(raw)
    return sniff_messages(decoded) or [] if type(decoded) in (dict, list) else []


def is_call(value: Any) -> bool:
    """True for a call of any provider: with `function` around it, a typed block, or just name and arguments."""
    if type(value) is not dict:
        return False
    if type(value.get("function")) is dict and "name" in value["function"]:
        return True
    call = value.get("functionCall") or value.get("toolUse")
    if type(call) is dict and "name" in call:
        return True
    kind = value.get("type")
    return (kind is None or (type(kind) is str and kind in CALL_TYPES)) and is_tool_call(value)


def _read_call(value: dict[str, Any], path: str) -> ToolRequest:
    with prefix_errors(path):
        inner = value.get("functionCall") or value.get("toolUse")
        if type(inner) is dict:
            return read_request(inner)
        return roles.read_request(value) if type(value.get("function")) is dict else read_request(value)


def _read_text(text: str) -> tuple[list[ToolRequest], bool]:
    """Calls in text: one JSON object a line (Anthropic, Bedrock, Responses), or a sentence (assistants)."""
    calls, others = [], False
    for number, line in enumerate(LINE_END.split(text[:MAX_TEXT])):
        value = decode_json_text(line)
        found = value if type(value) is list else [value]
        if type(value) is not str and found and all(map(is_call, found)):
            calls += [_read_call(each, f"line {number + 1}") for each in found]
        else:
            others = others or bool(line.strip())
    calls += [ToolRequest(None, name, arguments) for name, arguments in SENTENCE.findall(text[:MAX_TEXT])]
    return calls, bool(calls) and not others
