"""Reads native traces, `evalgate.trace/1`: the short form people write, or the full form EvalGate writes."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.builder.conversation import get_instructions
from evalgate.adapters.formats.core.builder.side_fields import SCENARIO_KEY
from evalgate.adapters.formats.core.fields import FieldError, identifier, mapping
from evalgate.adapters.formats.core.format import Identity, Reader, build_identity, split_list
from evalgate.adapters.formats.core.strict_json import CONTAINERS, make_printable, require_shallow
from evalgate.adapters.formats.native.messages import read_conversation
from evalgate.adapters.formats.native.parts import (
    FIELDS,
    GAPS,
    KNOWN,
    PARTS,
    UNREADABLE,
    UnknownFields,
    read_gaps,
    settle_spellings,
)
from evalgate.models.trace.trace import SCHEMA, Response, Trace

NO_RESPONSE: Response = {"content": None, "finish_reason": None, "message_index": None}


def build(record: Any) -> Trace:
    """One trace, every field checked; an unknown field is a warning."""
    document = mapping(record, "")
    _require_schema(document.get("schema"))
    unknown = UnknownFields()
    conversation = read_conversation(document, unknown)
    trace = Trace("", conversation.messages, conversation.calls, NO_RESPONSE)
    _fill_fields(trace, document, unknown)
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
    warnings = [*conversation.list_warnings(), *unknown.list_warnings()]
    if warnings:
        trace.warnings = [*trace.warnings, *warnings]
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
                unknown.check(f"{name}[]", item, known, 2)
        elif type(part) is dict:
            unknown.check(name, part, known, 2)


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


READER = Reader(build=build, identify=identify, split=split_list, keeps_record=True)
