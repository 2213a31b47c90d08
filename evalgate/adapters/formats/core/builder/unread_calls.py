"""Finds tool calls in a record that its reader did not read, so that no call is dropped silently.

Readers know the shapes of their formats; recorders invent others. Whatever a reader returned, this search
walks the record for objects with a name and arguments. One whose name is not among the calls of the trace
makes the record unreadable; a field that is called like calls and holds no such object makes the evidence of
calls incomplete.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import orjson
from msgspec import Struct

from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.core.format import words
from evalgate.adapters.formats.core.strict_json import decode_leniently, make_printable, require_shallow
from evalgate.errors import TraceError
from evalgate.measures.values.json_values import json_equal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from collections.abc import Set as AbstractSet

TOOL_NAME_KEYS = frozenset({"tool_name", "toolName", "function_name", "functionName", "recipient_name"})
"""Fields that name nothing but a tool; with one of these, arguments of any type are those of a call."""
TOOL_TYPES = ("tool_type", "toolType")
NAME_KEYS = (
    *("name", "tool_name", "toolName", "function_name", "functionName", "function", "tool", "fn"),
    *("action", "recipient_name", "api_name", "command_name"),
)
KIND_KEYS = ("type", "kind", "part_kind", "block_type", "event_kind", "message_type", "$type")
ARGUMENT_KEYS = words("""
    arguments args input tool_input toolInput tool_args toolArgs kwargs parameters params action_input actionInput
    function_args tool_arguments toolArguments tool_kwargs toolKwargs input_parameters inputParameters
    tool_parameters rawInput
""")
CALL_KEYS = words("""
    toolcall toolcalls tooluse tooluses functioncall functioncalls toolinvocation toolinvocations toolrequest
    toolrequests functioninvocations toolcallparts invokedtools toolscalled calledtools actioncalls tooluseblocks
    tooluseblock calls invocations toolsused usedtools toolsinvoked toolcallnames mcpcall mcptoolcall dynamictool
""")
"""Names of fields that hold calls, in lower case without separators."""
TOOL_NAMES = frozenset({"toolname", "toolcallname", "calledtool", "toolused", "usedtool", "invokedtool"})
"""Names of fields with the name of a called tool, in the same spelling."""
CERTAIN_ARGUMENT_KEYS = ARGUMENT_KEYS - {"input", "parameters", "params", "args", "kwargs", "rawInput"}
"""Fields that hold nothing but arguments of a call."""
TOOL_LISTS = frozenset({"tools", "functions"})
SEARCHED_DEFINITIONS = TOOL_LISTS | {"metadata"}
TOOL_PREFIX = "tool-"
TYPE_OF_CALL = "_call"
"""Ends the type of a call of a provider's tool, such as `tool_search_call`, which begins with its name."""
TOOL_BLOCKS = frozenset({"tool-call", "tool-result", "tool-error", "tool-invocation", "tool-approval-request"})
DEFINITION_KEYS = words("""
    tools tool_definitions toolDefinitions functions available_tools toolConfig tool_config tool_schemas schema
    json_schema input_schema inputSchema tool_choice toolChoice expected_tools expected_tool_calls
    reference_tool_calls metadata invocation_params
""")
"""Fields with descriptions of tools, expectations and free data: what is in them was not called."""
RESULT_ROLES = frozenset({"tool", "function", "toolResult", "tool_result", "ipython", "environment", "observation"})
RESULT_KEYS = frozenset({"tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "tool_responses"})
RESULT_FIELDS = frozenset({"content", "output", "result", "response", "results", "artifact", "value", "data"})
RESULT_WORD = re.compile(r"result|return|observation|(tool|function|call).*(response|output)", re.IGNORECASE)
SPAN_KEYS = frozenset({"output", "outputs", "startTime", "start_time", "traceId", "trace_id", "run_type", "spans"})
"""Fields of observations and spans, in which `name` and `input` are not those of a call."""
MODEL_SETTINGS = frozenset({"temperature", "max_tokens", "max_completion_tokens", "top_p", "top_k", "seed"})
"""Arguments by which an object with a name is the settings of a model."""
MAX_CACHED_KEYS, MAX_LAYOUTS = 60, 4_096
SEPARATORS = re.compile(r"[^a-z]")
CALL_WORDS = (b"tool", b"function", b"arguments", b"args", b"action", b'"call')
"""Of which JSON as text has one, in any case, if it holds a call."""
PRINTED = "Call("
PRINTED_CALL = re.compile(r"(?:Tool|Function)Call\([^()]{0,2000}?\bname='([^']+)'")
"""A call as Python prints it: `ResponseFunctionToolCall(arguments='{}', name='search', ...)`."""
JSON_STARTS, JSON_ENDS = ("{", "["), ("}", "]")
TEXT_KEYS = frozenset({"content", "text", "thinking", "reasoning", "prompt", "description", "instructions"})
"""Fields with words of people, models and tools: JSON in them is not a recorded call."""
IDENTIFIERS = frozenset({"role", "tool_call_id"})
"""Fields that every reader checks, so that they are not searched."""
COPY_KEYS = frozenset({"parsed", "parsed_output", "parsed_arguments", "output_parsed"})
"""Fields in which SDKs add what they parsed of a text of the same object."""
PARSED_TEXTS = ("content", "text", "arguments")
MESSAGE_FIELDS = frozenset({"role", "tool_call_id", "content", "tool_calls"})
CALL_FIELDS = frozenset({"id", "type", "name", "arguments", "function"})
FUNCTION_FIELDS = frozenset({"name", "arguments"})
REMEDY = "record calls as this format does, and other data in `metadata`"


FieldRole = Literal["plain", "calls", "result", "tool", "text", "definitions", "copy"]
"""What a field holds, by its name."""
Fields = tuple[tuple[str, FieldRole], ...]


class KeyLayout(Struct):
    """What the keys of an object say about it.

    `fields` are those to search, `call_fields` and `result_fields` those of an object that is a call or a result.
    `may_be_call`: it has arguments. `is_plain`: no value of the object can make it a call or a result.
    """

    fields: Fields
    call_fields: Fields
    result_fields: Fields
    kinds: tuple[str, ...]
    may_be_call: bool
    has_certain_arguments: bool
    is_result: bool
    has_role: bool
    is_plain: bool


class CallScan:
    """One search of a record; `incomplete` holds the fields that may hold calls in an unknown form."""

    def __init__(self, read_names: AbstractSet[str], without_calls: frozenset[str], copy_flag: str = "") -> None:
        self._read = read_names
        self._copy_flag = copy_flag
        self._without_calls = without_calls
        self._layouts = find_layouts(without_calls)
        self.incomplete: list[str] = []
        self._stack: list[tuple[Any, Any]] = []

    def search(self, record: Any) -> None:
        """Raises FieldError at the first call that was not read."""
        stack = self._stack = [(record, ())]
        while stack:
            value, path = stack.pop()
            if value.__class__ is list:
                self._enter_list(value, path)
            elif not self._copy_flag or value.get(self._copy_flag) is not True:
                self._enter_object(value, path)

    def _enter_list(self, values: list[Any], path: Any) -> None:
        for index, each in enumerate(values):
            if each.__class__ is dict or each.__class__ is list:
                if not self._is_plain_message(each):
                    self._stack.append((each, (path, index)))
            elif each.__class__ is str and each.startswith(JSON_STARTS) and has_word_of_calls(each):
                self._enter_json(each, (path, index), is_call=False)

    def _is_plain_message(self, value: Any) -> bool:
        """True for a message of text and of calls that were read, as most are: nothing in it needs a search."""
        if value.__class__ is not dict or not MESSAGE_FIELDS.issuperset(value):
            return False
        content, calls = value.get("content"), value.get("tool_calls")
        if content and (content.__class__ is not str or PRINTED in content):
            return False
        return not calls or (calls.__class__ is list and all(map(self._is_read_call, calls)))

    def _enter_object(self, value: dict[str, Any], path: Any) -> None:
        layout = self._layouts[tuple(value)]
        for key, role in layout.fields if layout.is_plain else self._check_object(value, path, layout):
            each = value[key]
            kind = each.__class__
            if kind is str:
                if role == "tool" or PRINTED in each or (each[:1] in JSON_STARTS and role != "text"):
                    self._enter_text(key, role, each, path)
            elif (kind is dict or kind is list) and each:
                if role == "calls":
                    self._enter_calls(each, (path, key))
                elif role == "definitions":
                    self._enter_definitions(key, each, (path, key))
                elif role != "result" and not (role == "copy" and repeats_text(value, key)):
                    self._stack.append((each, (path, key)))

    def _check_object(self, value: dict[str, Any], path: Any, layout: KeyLayout) -> Fields:
        """Checks the object itself; returns the fields that may hold calls or objects with calls."""
        if layout.may_be_call and (name := find_called_name(value)) is not None:
            if not self._is_read_by_another_name(value):
                self._require_read(name, path)
            return layout.call_fields
        if layout.is_result or (layout.has_role and str(value["role"]) in RESULT_ROLES):
            return layout.result_fields
        for key in layout.kinds:
            kind = value[key]
            if kind.__class__ is str:
                if is_result_kind(kind):
                    return layout.result_fields
                if is_call_key(kind):
                    self._enter_call(value, path)
                    return layout.fields
        if layout.has_certain_arguments:
            self._enter_nameless(value, path)
        return layout.fields

    def _is_read_by_another_name(self, value: dict[str, Any]) -> bool:
        """Whether a call was read by a name within it, or by that of an MCP server's tool which has the server's."""
        if f"mcp__{value.get('server')}__{value.get('tool')}" in self._read:
            return True
        if f"{str(value.get('namespace')).rstrip('_')}__{value.get('name')}" in self._read:
            return True
        return any(find_name(each) in self._read for each in value.values() if each.__class__ is dict)

    def _enter_definitions(self, key: str, value: Any, path: Any) -> None:
        """A field of descriptions or free data, in which only obvious calls count."""
        if value.__class__ is list and key in TOOL_LISTS and key not in self._without_calls:
            self._enter_tools(value, path)
        elif value.__class__ is dict and key == "metadata":
            self._enter_metadata(value, path)

    def _enter_calls(self, value: Any, path: Any) -> None:
        """A field that is called like calls: each of its entries is one."""
        entries = value if value.__class__ is list else [value]
        for index, each in enumerate(entries):
            if self._is_read_call(each):
                continue
            at = (path, index) if value.__class__ is list else path
            if each.__class__ is str and each.isidentifier():
                self._require_read(each, at)
            elif each.__class__ is dict and each:
                self._enter_call(each, at)
            if each.__class__ is dict or each.__class__ is list:
                self._stack.append((each, at))

    def _is_read_call(self, value: Any) -> bool:
        """True for a call in a usual form that was read, as nearly all are: nothing in it needs a search."""
        if value.__class__ is not dict or not CALL_FIELDS.issuperset(value):
            return False
        function = value.get("function")
        if function is None:
            function = value
        elif function.__class__ is not dict or not FUNCTION_FIELDS.issuperset(function):
            return False
        name = function.get("name")
        return name.__class__ is str and name in self._read

    def _enter_call(self, value: dict[str, Any], path: Any) -> None:
        """An object that is a call, or holds one: its name must have been read."""
        inner = [find_name(each) for each in value.values() if each.__class__ is dict]
        name = find_name(value) or next(filter(None, inner), None)
        if name is not None:
            self._require_read(name, path)
        elif not (self._is_read_by_type(value) or any(is_call_key(key) for key in value)):
            self.incomplete.append(format_path(path))

    def _is_read_by_type(self, value: dict[str, Any]) -> bool:
        """Whether a call of a provider's own tool, which has a type and no name, was read by that."""
        kinds = (value.get(key) for key in TOOL_TYPES)
        return any(kind.__class__ is str and kind.lower() in self._read for kind in kinds)

    def _enter_nameless(self, value: dict[str, Any], path: Any) -> None:
        """Arguments without a name; the name may be the key of the object, be in its type, or be unknown."""
        kind = value.get("type")
        if kind.__class__ is str and kind.removesuffix(TYPE_OF_CALL) in self._read:
            return
        if find_name(value) is None and not any(find_name(each) for each in value.values() if each.__class__ is dict):
            self.incomplete.append(format_path(path))

    def _enter_tools(self, tools: list[Any], path: Any) -> None:
        """A list that usually describes tools: an entry with arguments and without a description is a call."""
        for index, each in enumerate(tools):
            if each.__class__ is not dict or "description" in each or not may_be_call(each):
                continue
            if (name := find_called_name(each)) is not None:
                self._require_read(name, (path, index))

    def _enter_metadata(self, metadata: dict[str, Any], path: Any) -> None:
        """Free data, in which only a name of a called tool counts."""
        stack = [(metadata, path)]
        while stack:
            value, place = stack.pop()
            for key, each in value.items():
                if each.__class__ is dict:
                    stack.append((each, (place, key)))
                elif each.__class__ is str and is_tool_name_key(key) and each.isidentifier() and each not in self._read:
                    self.incomplete.append(format_path((place, key)))

    def _enter_text(self, key: str, role: FieldRole, text: str, path: Any) -> None:
        """Text that names a tool, or holds calls as JSON or as Python prints them."""
        if role == "calls":
            if text.startswith(JSON_STARTS):
                self._enter_json(text, (path, key), is_call=True)
        elif role == "tool":
            if text.isidentifier():
                self._require_read(text, (path, key))
        elif role in ("plain", "result") and text.startswith(JSON_STARTS) and has_word_of_calls(text):
            self._enter_json(text, (path, key), is_call=False)
        elif (
            role != "definitions"
            and PRINTED in text
            and any(name not in self._read for name in PRINTED_CALL.findall(text))
        ):
            self.incomplete.append(format_path((path, key)))

    def _enter_json(self, text: str, path: Any, *, is_call: bool) -> None:
        try:
            decoded = orjson.loads(text)
        except orjson.JSONDecodeError:
            if is_call:
                self.incomplete.append(format_path(path))
            return
        if decoded.__class__ is not dict and decoded.__class__ is not list:
            return
        if is_call:
            self._enter_calls(decoded, path)
        else:
            self._stack.append((decoded, path))

    def _require_read(self, name: str, path: Any) -> None:
        if name in self._read:
            return
        if not name.endswith(tuple(f"{joint}{read}" for read in self._read for joint in (".", "__"))):
            raise FieldError(
                format_path(path) or "it",
                f"looks like a call of {make_printable(name[:100])}, which was not read as one: {REMEDY}",
            )


class KeyLayouts(dict[tuple[str, ...], KeyLayout]):
    """The layouts of objects by their keys; records repeat few sets of keys, so that the first ones are kept."""

    def __init__(self, without_calls: frozenset[str]) -> None:
        self._skipped = IDENTIFIERS | (without_calls | DEFINITION_KEYS) - SEARCHED_DEFINITIONS

    def __missing__(self, keys: tuple[str, ...]) -> KeyLayout:
        fields = [(key, find_role(key)) for key in keys if key not in self._skipped]
        result_fields = tuple([each for each in fields if each[0] not in RESULT_FIELDS | TOOL_NAME_KEYS])
        kinds = tuple(key for key in KIND_KEYS if key in keys)
        is_call, is_result = may_be_call(keys), not RESULT_KEYS.isdisjoint(keys)
        has_certain_arguments = not CERTAIN_ARGUMENT_KEYS.isdisjoint(keys)
        layout = KeyLayout(
            result_fields if is_result and not is_call else tuple(fields),
            tuple([each for each in fields if each[0] not in ARGUMENT_KEYS | RESULT_FIELDS]),
            result_fields,
            kinds,
            is_call,
            has_certain_arguments,
            is_result,
            "role" in keys,
            not is_call and (is_result or not (kinds or "role" in keys or has_certain_arguments)),
        )
        if len(self) < MAX_LAYOUTS and len(keys) <= MAX_CACHED_KEYS:
            self[keys] = layout
        return layout


find_layouts = lru_cache(maxsize=64)(KeyLayouts)


def has_word_of_calls(text: str) -> bool:
    """Whether a text that begins like JSON may be JSON with a call; one that was cut is none.

    Bytes become lower case ten times faster than texts beyond ASCII, and long ones are searched for each word faster
    than for all at once.
    """
    text = text.rstrip()  # some recorders fill up with blanks
    if not text.endswith(JSON_ENDS):
        return False
    lower = text.encode("utf-8", "surrogatepass").lower()
    return any(word in lower for word in CALL_WORDS)


def find_role(key: str) -> FieldRole:
    """What a field of this name holds."""
    if key in SEARCHED_DEFINITIONS:
        return "definitions"
    if key in COPY_KEYS:
        return "copy"
    if is_call_key(key):
        return "calls"
    if is_result_key(key):
        return "result"
    if key in TOOL_NAME_KEYS or is_tool_name_key(key):
        return "tool"
    return "text" if key in TEXT_KEYS else "plain"


def repeats_text(holder: dict[str, Any], key: str) -> bool:
    """Whether a field is only what an SDK parsed of a text of the same object, which was read.

    >>> repeats_text({"content": '{"action": "refund"}', "parsed": {"action": "refund", "note": None}}, "parsed")
    True
    >>> repeats_text({"content": "{}", "parsed": {"action": "refund"}}, "parsed")
    False
    """
    if key not in COPY_KEYS:
        return False
    from evalgate.adapters.formats.core.builder.conversation import drop_nulls  # few records have such a field

    try:
        require_shallow(holder[key])
        parsed = drop_nulls(holder[key])
        return any(json_equal(drop_nulls(each), parsed) for each in _list_parsed_texts(holder))
    except TraceError:
        return False


def _list_parsed_texts(holder: dict[str, Any]) -> Iterator[Any]:
    """The values of the texts of an object that are JSON; raises TraceError for one that is nested too deep."""
    for field in PARSED_TEXTS:
        found = holder.get(field)
        for each in found if found.__class__ is list else (found,):
            text = each.get("text") if each.__class__ is dict else each
            if text.__class__ is str and text.lstrip().startswith(JSON_STARTS):
                value = decode_leniently(text.encode("utf-8", "surrogatepass"))
                require_shallow(value)
                yield value


def may_be_call(keys: Collection[str]) -> bool:
    """Whether an object with these keys has arguments, and is no span and no whole trace."""
    arguments = ARGUMENT_KEYS.intersection(keys)
    is_span = arguments == {"input"} and not SPAN_KEYS.isdisjoint(keys)
    return bool(arguments) and not is_span and "messages" not in keys


def find_called_name(value: dict[str, Any]) -> str | None:
    """The name in an object that `may_be_call`; None for descriptions of tools and settings of models."""
    parameters = value.get("parameters") or value.get("input_schema")
    if parameters.__class__ is dict and ("properties" in parameters or "description" in value or "type" in parameters):
        return None
    name = find_name(value)
    arguments = [value[key] for key in ARGUMENT_KEYS.intersection(value)]
    if any(each.__class__ is dict and not MODEL_SETTINGS.isdisjoint(each) for each in arguments):
        name = None if CERTAIN_ARGUMENT_KEYS.isdisjoint(value) else name
    if not TOOL_NAME_KEYS.isdisjoint(value):
        return name if any(each is not None for each in arguments) else None
    return name if any(each.__class__ is dict or each.__class__ is str for each in arguments) else None


def find_name(value: dict[str, Any]) -> str | None:
    """The tool's name, under the first of its usual keys that holds text."""
    for key in NAME_KEYS:
        name = value.get(key)
        if name.__class__ is str and name:
            return name
    kind = value.get("type")
    if kind.__class__ is str and kind.startswith(TOOL_PREFIX) and kind not in TOOL_BLOCKS:
        return kind.removeprefix(TOOL_PREFIX)
    return None


@lru_cache(maxsize=4_096)
def is_call_key(key: str) -> bool:
    """True for the names of fields that hold calls, in any spelling."""
    return SEPARATORS.sub("", key[:100].lower()) in CALL_KEYS


@lru_cache(maxsize=4_096)
def is_tool_name_key(key: str) -> bool:
    """True for fields with the name of a called tool, such as `toolCallName` and `tool_name_0`."""
    return SEPARATORS.sub("", key[:100].lower()) in TOOL_NAMES


@lru_cache(maxsize=4_096)
def is_result_key(key: str) -> bool:
    """True for fields with the result of a call, such as `toolResult` and `functionResponse`."""
    plain = SEPARATORS.sub("", key[:100].lower())
    return plain.startswith(("tool", "function")) and plain.endswith(("result", "results", "response", "output"))


def is_result(value: dict[str, Any]) -> bool:
    """True for an object that holds what a tool returned."""
    if str(value.get("role")) in RESULT_ROLES or not RESULT_KEYS.isdisjoint(value):
        return True
    return any(kind.__class__ is str and is_result_kind(kind) for kind in map(value.get, KIND_KEYS))


@lru_cache(maxsize=4_096)
def is_result_kind(kind: str) -> bool:
    """True for types of objects that hold what a tool returned."""
    return RESULT_WORD.search(kind[:100]) is not None


def format_path(path: Any) -> str:
    """Formats a path of nested pairs as `messages[2].toolUse`."""
    parts: list[str] = []
    while path:
        path, key = path
        parts.append(f"[{key}]" if key.__class__ is int else f".{make_printable(str(key)[:60])}")
    return "".join(reversed(parts)).removeprefix(".")
