"""Reads the fields that DSPy's adapters write into the text of a prompt or an answer, and the calls in them."""

from __future__ import annotations

import re
from typing import Any

import orjson

from evalgate.adapters.formats.core.builder.raw_message import ToolRequest
from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.messages.blocks import check_arguments
from evalgate.adapters.formats.messages.roles import read_request

HEADER = re.compile(r"^\[\[ ## (\w+) ## \]\]", re.MULTILINE)
XML_FIELD = re.compile(r"<(\w+)>\s*(.*?)\s*</\1>", re.DOTALL)
FENCE = re.compile(r"^```(?:json)?\s*(.*?)\s*```$", re.DOTALL)
MAX_TEXT = 200_000
NEXT_TOOL, NEXT_ARGUMENTS = "next_tool_name", "next_tool_args"
FINISH = "finish"
"""The tool that ReAct adds to those of the agent: it ends the run and does nothing else."""
CODE = frozenset({"generated_code", "code"})
CALLS = "tool_calls"
ACTION = ("tool_name", "tool_input_query")


def parse_fields(text: str) -> dict[str, Any]:
    """The fields of a text by name, as `ChatAdapter`, `JSONAdapter` or `XMLAdapter` write them; else empty."""
    headers = list(HEADER.finditer(text[:MAX_TEXT]))
    if headers:
        ends = [header.start() for header in headers[1:]] + [len(text)]
        return {header[1]: text[header.end() : end].strip() for header, end in zip(headers, ends, strict=True)}
    decoded = decode_json(text)
    if isinstance(decoded, dict):
        return decoded
    return {found[1]: found[2] for found in XML_FIELD.finditer(text[:MAX_TEXT])}


def decode_json(value: Any) -> Any:
    """The value of JSON text, which may be fenced as code; other values as they are."""
    if type(value) is not str:
        return value
    stripped = value.strip()
    fenced = FENCE.match(stripped)
    stripped = fenced[1] if fenced else stripped
    if stripped[:1] not in ("{", "["):
        return value
    try:
        return orjson.loads(stripped)
    except orjson.JSONDecodeError:
        return value


def read_field_calls(fields: dict[str, Any]) -> list[ToolRequest]:
    """The calls that the fields of an answer request; raises FieldError for one that can't be read."""
    calls = []
    name = fields.get(NEXT_TOOL)
    if type(name) is str and name and name != FINISH:
        calls.append(ToolRequest(None, name, check_arguments(decode_json(fields.get(NEXT_ARGUMENTS)), NEXT_ARGUMENTS)))
    for key, value in fields.items():
        if key not in (NEXT_TOOL, NEXT_ARGUMENTS):
            calls += _read_value_calls(key, decode_json(value))
    return calls


def _read_value_calls(key: str, value: Any) -> list[ToolRequest]:
    """The calls in the value of one field: a `dspy.ToolCalls`, or an action of `dspy.Avatar`."""
    if type(value) is dict and CALLS in value:
        value, key = value[CALLS], CALLS
    if type(value) is dict and all(part in value for part in ACTION):
        if type(value[ACTION[0]]) is not str:
            raise FieldError(f"{key}.{ACTION[0]}", "is not text")
        return (
            []
            if value[ACTION[0]].lower() == FINISH
            else [ToolRequest(None, value[ACTION[0]], {"query": value[ACTION[1]]})]
        )
    if key != CALLS or not value:
        return []
    if type(value) is not list:
        raise FieldError(key, "is not a list of calls")
    return [read_request(each) for each in value]


def runs_code(fields: dict[str, Any]) -> bool:
    """True for an answer that is code to be run, which may call tools."""
    return any(fields.get(key) for key in CODE)
