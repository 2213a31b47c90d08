"""Reduces a recorded document to its figures: tokens, cost, models and times stay, texts and calls are left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Sequence

CONTENT = frozenset(
    """
    content contents parts text thought thinking reasoning reasoning_content response answer submission summary prompt
    completion completions query action observation input output inputs outputs input_messages output_messages messages
    tool_calls toolCalls toolCallNames function_call functionCall tool_call arguments args kwargs parameters result
    results all_messages final_result value raw_data raw_output formatted_command aggregated_output new_items chatml
    llm_request llm_response generated_items session_items original_input model_responses
    """.split()  # noqa: SIM905  (a list takes a line for each)
)
FIGURES = re.compile(r"token|usage|cost|count")
ATTRIBUTE = re.compile(r"[.\d]+")


def strip_lines(lines: Sequence[bytes], names: frozenset[str]) -> bytes:
    """A file's lines without content; of several lines those that name one of these tools are left out."""
    marks = [f'"{name}"'.encode() for name in names]
    kept = [line for line in lines if len(lines) == 1 or not any(mark in line for mark in marks)]
    return b"\n".join(orjson.dumps(_strip(orjson.loads(line), names)) for line in kept)


def _strip(value: Any, names: frozenset[str]) -> Any:
    """The document without the fields that hold content, and without entries of lists that name one of these tools."""
    if isinstance(value, dict):
        return {key: _strip(each, names) for key, each in value.items() if not _is_content(key, value)}
    if isinstance(value, list):
        kept = [_strip(each, names) for each in value if not _is_content_attribute(each)]
        return [each for each in kept if not _names_one(each, names)]
    return value


def _is_content(key: str, within: dict[str, Any]) -> bool:
    """Whether the field of this name holds content; an attribute's `value` and a `message` that is an object do not."""
    if key == "value":
        return "key" not in within
    if key == "message":
        return not isinstance(within[key], dict)
    return not FIGURES.search(key) and not CONTENT.isdisjoint(ATTRIBUTE.split(key))


def _is_content_attribute(value: Any) -> bool:
    key = value.get("key") if isinstance(value, dict) else None
    return isinstance(key, str) and _is_content(key, {key: None})


def _names_one(value: Any, names: frozenset[str]) -> bool:
    if isinstance(value, dict):
        return any(_names_one(each, names) for each in value.values())
    if isinstance(value, list):
        return any(_names_one(each, names) for each in value)
    return isinstance(value, str) and value in names
