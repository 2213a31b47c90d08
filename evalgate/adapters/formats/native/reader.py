"""Reads native traces, `evalgate.trace/1`: the short form people write or the full form; warns of unknown fields."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import (
    Conversation,
    get_instructions,
    read_arguments,
    set_outcome,
)
from evalgate.adapters.formats.core.builder.evidence_gaps import holds_objects, judge_unknown, note_unknown
from evalgate.adapters.formats.core.builder.side_fields import SCENARIO_KEY
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    amount,
    any_value,
    count,
    flag,
    identifier,
    listing,
    mapping,
    one_of,
    required_text,
    text,
    time,
    whole_number,
)
from evalgate.adapters.formats.core.format import Identity, Reader, build_identity, split_list
from evalgate.adapters.formats.core.strict_json import CONTAINERS, encode_json, make_printable, require_shallow
from evalgate.adapters.formats.core.usage import read_finish_reason, to_milliseconds, warn_of_doubts
from evalgate.adapters.formats.native.parts import (
    FIELDS,
    GAPS,
    KNOWN,
    PARTS,
    UNREADABLE,
    position,
    read_error_info,
    read_gaps,
    read_mappings,
    settle_actors,
    settle_spellings,
)
from evalgate.models.trace.actors import ROOT
from evalgate.models.trace.trace import SCHEMA, Response, Trace

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Message, Role, ToolCall, Warning_

MAX_WARNINGS = 20
CHECKED_CHARS = 3_000
"""Characters of a name that are kept: more than are shown, so that redaction sees a secret as a whole."""


class UnknownFields:
    """Collects unknown fields while a trace is read; a field of a hundred messages is one warning."""

    __slots__ = ("found", "in_messages")

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], frozenset[str]] = {}
        self.in_messages: str | None = None  # a field that may hold a call

    def check(self, where: str, recorded: dict[str, Any], known: frozenset[str], levels_above: int) -> None:
        """Notes the unknown fields of an object; raises TraceError for one too deep within `levels_above` others.

        `where` is the kind of the object (`messages[]`), empty for the trace itself.
        """
        if known.issuperset(recorded):
            return
        for name in sorted(recorded.keys() - known):
            require_shallow(recorded[name], levels_above)
            is_held = where.startswith("messages") and holds_objects(recorded[name])
            if is_held and judge_unknown(name, recorded[name], name).can_be_call:
                shown = make_printable(name[:CHECKED_CHARS])
                self.in_messages = self.in_messages or f"`{where}.{shown}` is an unknown field"
            if len(self.found) < MAX_WARNINGS:
                self.found.setdefault((where, name), known)

    def list_warnings(self) -> list[Warning_]:
        """One warning a field."""
        return [
            {
                "code": "unknown_field",
                "message": _format_message(name[:CHECKED_CHARS], known),
                "where": where or None,
            }
            for (where, name), known in self.found.items()
        ]


@lru_cache(maxsize=1_024)
def _format_message(name: str, known: frozenset[str]) -> str:
    """The warning's text; cached, as it is slow to find and the same in every trace of a file."""
    import difflib

    close = difflib.get_close_matches(name[:100], sorted(known), n=1)
    hint = f"; did you mean `{close[0]}`?" if close else ""
    return f"the field `{make_printable(name)}` is unknown{hint}"


CALL = FieldTable(
    index=any_value,
    turn=position,
    step=position,
    id=text,
    name=required_text,
    arguments=any_value,
    arguments_raw=text,
    arguments_error=text,
    result=any_value,
    result_text=text,
    status=one_of("ok", "error", "missing", "unknown"),
    error=read_error_info,
    exit_code=whole_number,
    duration_ms=amount,
    started_at=time,
    requestor=one_of("assistant", "user"),
    agent=text,
    actor=text,
    started_by=count,
)
VERSION = FieldTable(name=required_text, arguments=any_value)
VERSIONS = ("requested", "executed")
"""What a call has only if it was executed otherwise than asked for."""
CALL_KEYS = CALL.keys | {"type", "server", "span_id", "source", *VERSIONS}
DETAILS = FieldTable(
    timestamp=time, agent=text, actor=text, model=text, reasoning=text, finish_reason=read_finish_reason
)
"""Fields that few messages have."""
LEVELS_ABOVE_ARGUMENTS = 5  # trace, messages, message, tool_calls, call
LEVELS_ABOVE_FIELDS = 3  # trace, messages, message
ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
RESULT_FIELDS = frozenset({"is_error", "exit_code", "duration_seconds"})
BASIC_RESULT_FIELDS = RESULT_FIELDS | {"role", "content", "tool_calls", "tool_call_id", "name"}
IGNORED_FIELDS = frozenset({"index", "finish_reason_raw", "span_id", "copied_context"})
KNOWN_IN_MESSAGES = DETAILS.keys | BASIC_RESULT_FIELDS | IGNORED_FIELDS | {"parts", "turn", "tool_name"}
REQUEST_FIELDS = frozenset({"id", "name", "arguments"})


def read_conversation(document: dict[str, Any], unknown: UnknownFields) -> Conversation:
    """The messages in order. If the document lists `tool_calls`, these are used and nothing is joined."""
    recorded = document.get("messages")
    if type(recorded) is not list:
        raise FieldError("messages", "is missing" if recorded is None else "is not a list")
    is_joined = document.get("tool_calls") is not None
    conversation = Conversation()
    for number, message in enumerate(recorded):
        try:
            _add_message(conversation, message, unknown, is_joined=is_joined)
        except FieldError as error:
            raise error.with_prefix(f"messages[{number}]") from None
    if is_joined:
        conversation.calls = _read_calls(document["tool_calls"], unknown)
        if any(message["tool_calls"] for message in conversation.messages):
            from evalgate.adapters.formats.native.both_lists import require_equal_lists  # few traces need it

            require_equal_lists(conversation, recorded)
    return conversation


def _read_calls(recorded: Any, unknown: UnknownFields) -> list[ToolCall]:
    """The calls of a full native trace, joined with their results; the index of each is its position in the list."""
    require_shallow(recorded, 1)
    calls = CALL.read_each(recorded, "tool_calls")
    for index, call in enumerate(calls):
        call["index"] = index
        for name in VERSIONS:
            if recorded[index].get(name) is not None:
                call[name] = VERSION.read(recorded[index][name], f"tool_calls[{index}].{name}")
        unknown.check("tool_calls[]", recorded[index], CALL_KEYS, 3)
    settle_actors(calls, recorded)
    return calls


def _add_message(conversation: Conversation, recorded: Any, unknown: UnknownFields, *, is_joined: bool) -> None:
    if type(recorded) is not dict:
        raise FieldError("", "is not an object")
    role, content, calls = recorded.get("role"), recorded.get("content"), recorded.get("tool_calls")
    if type(role) is not str or role not in ROLES:
        raise FieldError("role", "is missing" if role is None else "is not one of system, user, assistant, tool")
    if role == "tool" and not is_joined:
        _add_result(conversation, recorded, content, unknown)
        return
    parts = None
    if type(content) is not str and content is not None:
        require_shallow(content, LEVELS_ABOVE_FIELDS)
        content, parts = read_content(content, "content")
    message = conversation.add_message(ROLES[role], content)
    message["parts"] = parts
    first_call = len(conversation.calls)
    if is_joined:
        _add_references(message, recorded, unknown)
    elif calls is not None:
        _add_calls(conversation, message, calls, unknown)
    if len(recorded) > 1 + ("content" in recorded) + (calls is not None):
        _add_optional_fields(message, recorded, unknown)
    for call in conversation.calls[first_call:]:
        call["agent"], call["actor"] = message["agent"], message["actor"]


def _add_calls(conversation: Conversation, message: Message, recorded: Any, unknown: UnknownFields) -> None:
    for number, call in enumerate(listing(recorded, "tool_calls")):
        try:
            call_id, name = _id_and_name(call)
            conversation.add_call(message, call_id, name, read_arguments(call.get("arguments"), LEVELS_ABOVE_ARGUMENTS))
        except FieldError as error:
            raise error.with_prefix(f"tool_calls[{number}]") from None
        unknown.check("messages[].tool_calls[]", call, REQUEST_FIELDS, LEVELS_ABOVE_ARGUMENTS)


def _add_references(message: Message, recorded: dict[str, Any], unknown: UnknownFields) -> None:
    """Adds the calls of a message in the full form, which lists the joined calls separately."""
    message["tool_call_id"] = text(recorded.get("tool_call_id"), "tool_call_id")
    for number, call in enumerate(listing(recorded.get("tool_calls"), "tool_calls")):
        try:
            call_id, name = _id_and_name(call)
        except FieldError as error:
            raise error.with_prefix(f"tool_calls[{number}]") from None
        require_shallow(call, LEVELS_ABOVE_ARGUMENTS - 1)
        message["tool_calls"].append({"id": call_id, "name": name, "arguments": call.get("arguments")})
        unknown.check("messages[].tool_calls[]", call, REQUEST_FIELDS, LEVELS_ABOVE_ARGUMENTS)


def _id_and_name(call: Any) -> tuple[str | None, str]:
    if type(call) is not dict:
        raise FieldError("", "is not an object")
    call_id, name = call.get("id"), call.get("name")
    if type(call_id) is str and type(name) is str and name:
        return call_id, name
    return text(call_id, "id"), required_text(name, "name")


def _add_result(conversation: Conversation, recorded: dict[str, Any], content: Any, unknown: UnknownFields) -> None:
    """Adds a tool's message of the short form, which has the call's outcome next to its content."""
    call_id, tool = recorded.get("tool_call_id"), recorded.get("name")
    if type(call_id) is not str or type(tool) is not str:
        call_id, tool = text(call_id, "tool_call_id"), text(tool, "name")
    content_text, parts = (content, None) if type(content) is str else _read_result_content(content)
    message, call = conversation.add_result(call_id, tool, content_text)
    message["parts"] = parts
    if call is not None:
        call["status"] = "ok"  # as is_error is false unless it is recorded
        if type(content) is dict:
            call["result"] = content
    if len(recorded) > 1 + (content is not None) + (call_id is not None) + (tool is not None):
        if call is not None and not RESULT_FIELDS.isdisjoint(recorded):
            _add_outcome(call, recorded)
        if not BASIC_RESULT_FIELDS.issuperset(recorded):
            _add_optional_fields(message, recorded, unknown)


def _read_result_content(content: Any) -> tuple[str | None, list[dict[str, Any]] | None]:
    """The text and parts of a result; an object becomes JSON text, so that it can be searched."""
    require_shallow(content, LEVELS_ABOVE_FIELDS)
    return (encode_json(content), None) if type(content) is dict else read_content(content, "content")


def _add_outcome(call: ToolCall, recorded: dict[str, Any]) -> None:
    code, seconds, is_error = recorded.get("exit_code"), recorded.get("duration_seconds"), recorded.get("is_error")
    if code is not None:
        call["exit_code"] = whole_number(code, "exit_code")
    if seconds is not None:
        call["duration_ms"] = amount(to_milliseconds(amount(seconds, "duration_seconds") or 0.0), "duration_seconds")
    if "is_error" in recorded:
        call["status"] = "unknown"
        set_outcome(call, has_failed=flag(is_error, "is_error"))


def _add_optional_fields(message: Message, recorded: dict[str, Any], unknown: UnknownFields) -> None:
    """Sets fields that few messages have and notes unknown ones."""
    if recorded.get("name") is not None and (message["role"] != "tool" or recorded.get("tool_name") is not None):
        message["name"] = text(recorded["name"], "name")
    if not DETAILS.keys.isdisjoint(recorded):
        message.update(DETAILS.read(recorded))
        if "actor" not in recorded:
            message["actor"] = ROOT
    if recorded.get("tool_name") is not None:
        message["tool_name"] = text(recorded["tool_name"], "tool_name")
    if recorded.get("parts") is not None:
        _add_parts(message, recorded)
    if recorded.get("turn") is not None:
        message["turn"] = position(recorded["turn"], "turn")
    unknown.check("messages[]", recorded, KNOWN_IN_MESSAGES, LEVELS_ABOVE_FIELDS)


def _add_parts(message: Message, recorded: dict[str, Any]) -> None:
    require_shallow(recorded["parts"], LEVELS_ABOVE_FIELDS)
    message["parts"] = read_mappings(recorded["parts"], "parts")
    if "content" not in recorded:
        message["content"], _ = read_content(recorded["parts"], "parts")


NO_RESPONSE: Response = {"content": None, "finish_reason": None, "message_index": None}


def build(record: Any) -> Trace:
    """One trace, every field checked; an unknown field is a warning."""
    document = mapping(record, "")
    _require_schema(document.get("schema"))
    unknown = UnknownFields()
    conversation = read_conversation(document, unknown)
    trace = Trace("", conversation.messages, conversation.calls, NO_RESPONSE)
    _fill_fields(trace, document, unknown)
    if trace.error is not None and document.get("status") in (None, "ok"):
        trace.status = "error"
    if trace.response is NO_RESPONSE:
        trace.response = conversation.get_response()
    if trace.system_instructions is None and "tool_calls" not in document:
        trace.system_instructions = get_instructions(trace.messages)
    settle_spellings(trace, document)
    _settle_scenario(trace)
    if document.get(GAPS) is not None:
        trace.gaps = read_gaps(document[GAPS], GAPS)
    _note_unknown_parts(document, unknown)
    if "response" in document:
        _check_message_index(trace)
    if document.get("status") is None and trace.error is None and trace.llm_calls:
        _set_status(trace)
    warnings = [*conversation.list_warnings(), *unknown.list_warnings()]
    if warnings:
        trace.warnings = [*trace.warnings, *warnings]
    note_unknown(trace, unknown.in_messages)
    warn_of_doubts(trace)
    return trace


def _fill_fields(trace: Trace, document: dict[str, Any], unknown: UnknownFields) -> None:
    for name, value in document.items():
        if type(value) in CONTAINERS and name not in ("messages", "tool_calls"):
            require_shallow(value, 1)
        read = FIELDS.get(name)
        if read is not None:
            if value is not None:
                setattr(trace, name, read(value, name))
        elif name in UNREADABLE and value:
            raise FieldError(name, "is not a field of a native trace: put what the agent did into `messages`")
        elif name not in KNOWN:
            unknown.check("", {name: value}, KNOWN, 1)


def _note_unknown_parts(document: dict[str, Any], unknown: UnknownFields) -> None:
    for name, known in PARTS.items():
        part = document.get(name)
        if type(part) is list:
            for item in part:
                unknown.check(f"{name}[]", mapping(item, name), known, 2)
        elif type(part) is dict:
            unknown.check(name, part, known, 2)


def _set_status(trace: Trace) -> None:
    """Marks a run that failed: after the error of its last model call is neither an answer nor a call."""
    last, answer = trace.llm_calls[-1], trace.response["message_index"]
    error = last.get("error")
    if error is None or (trace.response["content"] and answer in (None, len(trace.messages) - 1)):
        return
    if not last["step"] or all(call["step"] < last["step"] for call in trace.tool_calls):
        trace.status, trace.error = "error", {"type": error["type"], "message": error["message"]}


def _check_message_index(trace: Trace) -> None:
    index = trace.response["message_index"]
    if index is not None and index >= len(trace.messages):
        raise FieldError("response.message_index", "is not the index of a message")


def identify(record: Any) -> Identity:
    """Scenario id and trial; the id from its field or from the metadata."""
    if not isinstance(record, dict):
        return None, None
    metadata = record.get("metadata")
    named = metadata.get(SCENARIO_KEY) if isinstance(metadata, dict) else None
    return build_identity(record.get("scenario_id", named), record.get("trial"))


def _require_schema(schema: Any) -> None:
    if schema == SCHEMA:
        return
    if isinstance(schema, str):
        raise FieldError("schema", f"is `{make_printable(schema)}`; this version reads `{SCHEMA}`")
    raise FieldError("schema", "is missing" if schema is None else "is not text")


def _settle_scenario(trace: Trace) -> None:
    named = trace.metadata.get(SCENARIO_KEY)
    if named is None:
        return
    scenario_id = identifier(named, f"metadata.{SCENARIO_KEY}")
    if trace.scenario_id is not None and trace.scenario_id != scenario_id:
        raise FieldError("scenario_id", f"and metadata `{SCENARIO_KEY}` differ")
    trace.scenario_id = scenario_id


READER = Reader(
    build=build, identify=identify, shapes=(), split=split_list, keeps_record=True, reads_fields=frozenset(KNOWN)
)
