"""Searches spans for tool calls in attributes and events that no dialect read, also in JSON text.

Names are found in the text before it is decoded: text that names only tools whose calls were read is left alone.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import orjson

from evalgate.adapters.formats.core.builder.evidence_gaps import (
    add_gap,
    holds_objects,
    judge_unknown,
    note_places,
)
from evalgate.adapters.formats.core.builder.side_fields import STATE_KEY
from evalgate.adapters.formats.core.builder.unread_calls import (
    ARGUMENT_KEYS,
    DEFINITION_KEYS,
    NAME_KEYS,
    PRINTED,
    CallScan,
    is_call_key,
    is_result,
    is_tool_name_key,
)
from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.core.format import words
from evalgate.adapters.formats.core.python_literals import unwrap_text
from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.adapters.formats.messages.known_fields import LANGCHAIN_FIELDS
from evalgate.models.trace.trace import list_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.adapters.formats.spans.span import SpanNode
    from evalgate.models.trace.trace import Trace

KeyRole = Literal["plain", "skipped", "kind", "answer", "name", "tool"]
NAMES_IN_TEXT = tuple(
    re.compile(ending + r"""\\*["']\s*:\s*\\*["']([^"'\\]{1,200})""")
    for ending in ("ame", "function", "tool", "fn", "action")
)
ARGUMENTS_IN_TEXT = ("arg", "Arg", "nput", "param")
JSON_STARTS = ("{", "[")
CALLS_IN_TEXT = re.compile(r"""(?:alls?|ses?|nvocations?|equests?|arts|locks?|ools)\\*["']\s*:\s*\\*["']?\s*[\[{]""")
CALL_TYPE = re.compile("tool_?(?:call|use)|function_?call|arguments", re.IGNORECASE)
READ_PREFIXES = ("gen_ai.", "llm.", "input.", "output.", "traceloop.", "ai.", "gcp.vertex.agent.", "pydantic_ai.")
"""Starts of the attributes whose messages dialects read: these report calls without a name."""
TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "mcp.tool.name")
"""Attributes that name the tool of a span, even if nothing else shows that the span is a tool's."""
KIND = "openinference.span.kind"
KINDS = words("""
    LLM TOOL AGENT CHAIN RETRIEVER RERANKER EMBEDDING GUARDRAIL EVALUATOR PROMPT UNKNOWN
""")
OUTPUTS = ("gen_ai.output.messages", "gen_ai.response.finish_reasons", "llm.output_messages.")
"""Attributes that only a model's or an agent's answer has."""
NO_MESSAGES = ("gen_ai.response.finish_reasons",)
NOT_TOOLS = ("(merged", "N/A")
WITHOUT_CALLS = DEFINITION_KEYS | {
    *("arguments", "parameters", "result", "definitions", "invocation_parameters", "model_request_parameters"),
    *("json_schema", "traceName", "usage", "usageDetails", "serialized", "events", "trace"),
}
"""Parts of attributes' names that hold what was offered, given or returned, not what was called."""
MESSAGES_WITHIN = ("inputs", "outputs")
"""Attributes of runs that hold messages as objects."""
MESSAGE_TYPES = words("human ai system tool function HumanMessage AIMessage SystemMessage ToolMessage")
MESSAGE_FIELDS = LANGCHAIN_FIELDS | {"parts", "contents", "blocks", "items"}
NESTED = ("row", "attributes", "metadata")
MAX_DECODED = 64_000_000
TOO_LARGE = "the spans hold too much text to search all of it for calls"


def find_unread_calls(trace: Trace, nodes: Iterable[SpanNode]) -> None:
    """Raises FieldError for a call in the spans that was not read, or notes a gap if there may be one."""
    search = AttributeSearch({name for call in trace.tool_calls for name in list_names(call)})
    for node in nodes:
        if node.is_excluded:
            continue
        if node.span.unknown_fields:
            search.incomplete += [
                f"span `{make_printable(node.span.name[:60])}` {key}" for key in node.span.unknown_fields
            ]
        if node.facts.kind != "tool":
            search.search_span(node)
    note_places(trace, list(dict.fromkeys(search.incomplete)))
    if search.decoded > MAX_DECODED:
        add_gap(trace, "calls", TOO_LARGE)


class AttributeSearch:
    """One search of the spans of a trace; `incomplete` holds the attributes that may hold calls."""

    def __init__(self, read_names: set[str]) -> None:
        self._read = read_names
        self._seen: set[str] = set()
        self.incomplete: list[str] = []
        self.decoded = 0

    def search_span(self, node: SpanNode) -> None:
        """Raises FieldError at the first call in the span that was not read."""
        attributes = node.span.attributes
        special = find_special(tuple(attributes))
        for key, value in attributes.items():
            kind = value.__class__
            if key in special or kind is dict or kind is list or (kind is str and value[:1] in JSON_STARTS):
                if key in NESTED and kind is dict:
                    self._search_nested(node, key, value)
                else:
                    self._search(node, key, value)
        for event in node.span.events:
            for key, value in event.attributes.items():
                self._search(node, key, value)
            if event.body is not None:
                self._search(node, f"{event.name}.body", event.body)

    def _search_nested(self, node: SpanNode, key: str, value: dict[str, Any]) -> None:
        for inner, each in value.items():
            if inner not in NESTED:
                self._search(node, f"{key}.{inner}", each)

    def _search(self, node: SpanNode, key: str, value: Any) -> None:
        role = find_role(key)
        if role == "skipped":
            return
        if role == "answer" and is_unread_answer(node, key):
            self.incomplete.append(f"{describe(node)}.{key}")
        if value.__class__ is str:
            if value[:1] in JSON_STARTS:
                self._search_text(node, key, value)
            elif role == "name":
                self._check_name(node, key, value)
            elif self._may_name_call(role, value):
                self.incomplete.append(f"{describe(node)}.{key}")
        elif role in ("name", "tool"):
            self.incomplete.append(f"{describe(node)}.{key}")
        elif (value.__class__ is dict or value.__class__ is list) and value:
            self._search_value(node, key, value)

    def _may_name_call(self, role: KeyRole, value: str) -> bool:
        """True for the name of a tool that was not read, and for an unknown kind of span."""
        if role == "kind":
            return value.upper() not in KINDS
        return role == "tool" and bool(value) and value not in self._read and not value.startswith(NOT_TOOLS)

    def _check_name(self, node: SpanNode, key: str, name: str) -> None:
        if name in self._read or not name or name.startswith(NOT_TOOLS):
            return
        message = f"looks like a call of {make_printable(name[:100])}, which was not read as one"
        raise FieldError(f"{describe(node)}.{key}", message)

    def _search_text(self, node: SpanNode, key: str, text: str) -> None:
        if text in self._seen:
            return
        self._seen.add(text)
        if not self._may_hold_call(text) and not (is_unknown_text(key) and CALL_TYPE.search(text)):
            return
        self.decoded += len(text)
        if self.decoded > MAX_DECODED:
            return
        value = decode_text(text)
        if value.__class__ is dict or value.__class__ is list:
            self._search_value(node, key, value)

    def _may_hold_call(self, text: str) -> bool:
        """True if the text has a printed call, or arguments or a field of calls and a name that is not a read one."""
        if PRINTED in text:
            return True
        if any(hint in text for hint in ARGUMENTS_IN_TEXT):
            for pattern in NAMES_IN_TEXT:
                if not self._read.issuperset(pattern.findall(text)):
                    return True
        return not self._read and CALLS_IN_TEXT.search(text) is not None

    def _search_value(self, node: SpanNode, key: str, value: Any) -> None:
        field = key.rpartition(".")[2]
        if value.__class__ is list and not is_call_key(field) and not any(map(may_hold_objects, value)):
            return
        scan = CallScan(self._read, frozenset())
        try:
            scan.search({field: value})
        except FieldError as error:
            raise FieldError(f"{describe(node)}.{key}{error.path.removeprefix(field)}", error.problem) from None
        self.incomplete += [f"{describe(node)}.{key}{path.removeprefix(field)}" for path in scan.incomplete]
        if field in MESSAGES_WITHIN:
            self.incomplete += [f"{describe(node)}.{key} {name}" for name in find_unknown_in_messages(value)]
        for text in _list_texts(value):
            self._search_text(node, key, text)


def find_unknown_in_messages(value: Any) -> Iterator[str]:
    """Fields of messages in the value that no reader knows and in which something can be a call."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one.__class__ is list:
            waiting += one
        elif one.__class__ is dict:
            message = one.get("kwargs") if "lc" in one else one
            if message.__class__ is dict and _is_message(message, is_known="lc" in one):
                yield from _find_unknown_fields(message)
            else:
                waiting += one.values()


def _is_message(value: dict[str, Any], *, is_known: bool) -> bool:
    """True for an object with content and a role; `is_known`: its constructor says that it is a message."""
    is_named = value.get("role").__class__ is str or str(value.get("type")) in MESSAGE_TYPES
    return "content" in value and (is_known or is_named)


def _find_unknown_fields(message: dict[str, Any]) -> Iterator[str]:
    for name in message.keys() - MESSAGE_FIELDS:
        if holds_objects(message[name]) and judge_unknown(name, message[name], name).can_be_call:
            yield make_printable(name[:60])


def decode_text(text: str) -> Any:
    """The value of JSON or of a Python literal; the text if it is neither."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return unwrap_text(text)


def may_hold_objects(value: Any) -> bool:
    """True for an object, a list, or text that may be one."""
    return isinstance(value, dict | list) or (value.__class__ is str and value[:1] in JSON_STARTS)


def describe(node: SpanNode) -> str:
    """Names a span for an error."""
    return f"span `{make_printable(node.span.name[:60])}` attributes"


def _list_texts(value: Any) -> Iterator[str]:
    """The texts in a value that may be JSON, without those of arguments, results and definitions."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one.__class__ is str:
            if one[:1] in JSON_STARTS:
                yield one
        elif one.__class__ is list:
            waiting += one
        elif one.__class__ is dict and not is_result(one):
            waiting += [each for key, each in one.items() if key not in WITHOUT_CALLS and key not in ARGUMENT_KEYS]


def is_unread_answer(node: SpanNode, key: str) -> bool:
    """True for an answer in a span that was not read as a request, or whose answer was not read."""
    if node.facts.kind == "other":
        return node.within is None or node.within.facts.kind != "inference"
    return node.facts.kind == "inference" and not node.facts.output and key not in NO_MESSAGES


@lru_cache(maxsize=4_096)
def is_unknown_text(key: str) -> bool:
    """True for an attribute that no dialect reads as messages."""
    return not key.startswith(READ_PREFIXES)


@lru_cache(maxsize=4_096)
def find_role(key: str) -> KeyRole:
    """What an attribute holds, by its name; `name`: the tool's name, also in a flattened call."""
    parts = key.split(".")
    if key == STATE_KEY or not WITHOUT_CALLS.isdisjoint(parts):
        return "skipped"
    if key == KIND:
        return "kind"
    if key.startswith(OUTPUTS) and parts[-1] not in NAME_KEYS:
        return "answer"
    if parts[-1] in NAME_KEYS and any(map(is_call_key, parts)) and key not in TOOL_NAMES:
        return "name"
    return (
        "tool" if is_tool_name_key(parts[-1]) or is_tool_name_key("".join(parts[-2:])) or key in TOOL_NAMES else "plain"
    )


@lru_cache(maxsize=4_096)
def find_special(keys: tuple[str, ...]) -> frozenset[str]:
    """The attributes whose names say more than that they may hold text; spans repeat few sets of names."""
    return frozenset(key for key in keys if find_role(key) != "plain")
