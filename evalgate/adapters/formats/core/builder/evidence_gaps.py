"""Finds what a record may hold that was not read, notes it as a gap in the evidence, and refuses empty records.

Each reader lists the shapes of its format: where its messages, parts and events are in a record, which types
they may have, and which of their fields may hold objects or lists. Anything else may be a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from evalgate.adapters.formats.core.builder.unread_calls import (
    DEFINITION_KEYS,
    JSON_STARTS,
    PRINTED,
    RESULT_FIELDS,
    CallScan,
    find_called_name,
    format_path,
    is_result,
    is_result_key,
    may_be_call,
    repeats_text,
)
from evalgate.adapters.formats.core.content import HARMLESS_PREFIXES, HARMLESS_TYPES, may_hold
from evalgate.adapters.formats.core.format import EACH, Shape, words
from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.errors import TraceError
from evalgate.models.trace.trace import OPAQUE, OPAQUE_START, list_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from evalgate.adapters.formats.core.format import Reader
    from evalgate.models.trace.trace import EvidenceKind, Message, Trace, Warning_

    Place = TypeVar("Place")

PROGRAM_FIELDS = words("""
    config configuration settings options env environment build build_info buildInfo deploy deployment release ci git
    vcs host runtime container sdk telemetry resource run_config runConfig agent_config agentConfig model_config
    modelConfig
""")
"""Fields that say how the program was built, set up and started, before the agent did anything."""
SHOWN_CHARS = 60


class Unknown(NamedTuple):
    """What a record has that its reader does not know, as a sentence, and whether anything in it can be a call."""

    description: str
    can_be_call: bool


def find_unknown(record: Any, shapes: Sequence[Shape]) -> Unknown | None:
    """The first field or type of the record that no shape lists and that can be a call, else the first; else None."""
    first: Unknown | None = None
    for found in _list_unknown(record, shapes):
        if found.can_be_call:
            return found
        first = first or found
    return first


def _list_unknown(record: Any, shapes: Sequence[Shape]) -> Iterator[Unknown]:
    for shape in shapes:
        if record.__class__ is list and shape.path[0] != shapes[0].path[0]:
            continue
        for value, path in _list_objects(record, shape.path):
            if shape.kinds is not None:
                kind = value.get(shape.kind_key)
                if kind.__class__ is str and kind not in shape.kinds:
                    named = f"{describe_place(path)} has the unknown {shape.kind_key} `{shorten(kind)}`"
                    yield judge_unknown(named, value)
            if shape.fields is not None and not shape.fields.issuperset(value):
                for key in value.keys() - shape.fields:
                    if holds_objects(value[key]) and not repeats_text(value, key):
                        yield judge_unknown(f"`{format_path((path, key))}` is an unknown field", value[key], key)


def judge_unknown(description: str, value: Any, key: str = "") -> Unknown:
    """What no reader knows, with the value itself; `key` is the name of its field."""
    from evalgate.adapters.formats.core.builder.possible_calls import can_be_call  # few records have any

    return Unknown(description, can_be_call(value, key))


def pick_worse(one: Unknown | None, other: Unknown | None) -> Unknown | None:
    """The first of two that can be a call, else the first."""
    return other if one is None or (other is not None and other.can_be_call and not one.can_be_call) else one


def find_unknown_part(messages: Iterable[Any]) -> str | None:
    """Describes the first part of the messages that is not known to be text, reasoning or media; None without one."""
    for message in messages:
        for part in message["parts"] or () if message["role"] != "tool" else ():
            kind = part.get("type")
            if type(kind) is str and kind not in HARMLESS_TYPES and not kind.startswith(HARMLESS_PREFIXES):
                return f"message {message['index'] + 1} has a content part of the unknown type `{shorten(kind)}`"
    return None


def describe_place(path: Any) -> str:
    """A path as the subject of a sentence."""
    shown = format_path(path)
    return f"`{shown}`" if shown else "the record"


def shorten(name: str) -> str:
    """A recorded name, safe to show."""
    return make_printable(name[:SHOWN_CHARS])


def holds_objects(value: Any) -> bool:
    """True for an object, or a list that has more than numbers, unless it is empty."""
    if value.__class__ is list:
        return any(each.__class__ in HOLDERS and each for each in value)
    return value.__class__ is dict and bool(value)


HOLDERS = (dict, list, str)


def _list_objects(record: Any, steps: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], Any]]:
    """The objects at a path, each with its path; the content of tool results is left out."""
    if record.__class__ is list and steps and steps[0] != EACH:
        steps = steps[1:]
    stack: list[tuple[Any, Any, int]] = [(record, (), 0)]
    while stack:
        value, path, position = stack.pop()
        if position == len(steps):
            if value.__class__ is dict:
                yield value, path
            continue
        step = steps[position]
        if step != EACH:
            inner = value.get(step) if value.__class__ is dict else None
            if inner.__class__ in (dict, list) and not (step in RESULT_FIELDS and path and is_result(value)):
                stack.append((inner, (path, step), position + 1))
        elif value.__class__ is list:
            stack.extend((value[index], (path, index), position + 1) for index in range(len(value) - 1, -1, -1))


EMPTY = "it records nothing that the agent did: no message, no tool call, no model call and no tokens"
ASKED_FOR_TOOLS = "the model asked for tools (finish_reason tool_calls), but no call is recorded"
HARMLESS = "it is not read; nothing in it can be a call"
ADVICE = "it may hold calls that are not read; record calls as this format does"
RESULT_WITHOUT_CALL = "the result of a tool is recorded, but not its call: record the messages from the start"
ONLY_FIGURES = "neither messages nor calls are recorded: record the conversation of the run, not only its figures"
OF_MESSAGES: tuple[EvidenceKind, ...] = ("calls", "messages")
COMPACTION = "compaction"
REPLACED = "a part of type `compaction` stands for earlier messages: record them too, their calls are not in this trace"
NO_ANSWER = "nothing that the agent did is recorded, neither a message nor a call: record its answers too"
JSON_FOR_A_NAME = "the name of a called tool is JSON, so the tool is not known: record the name as text"
MAX_FIELDS = 5
CALLS_OF_MESSAGES = words("tool_calls function_call arguments")
"""Fields of messages in a list; `CallScan` searches them for calls that were not read."""
CONVERSATIONS = DEFINITION_KEYS | words("messages contents content parts events")
"""Fields with what readers read message by message, with definitions and with free data."""


def require_content(trace: Trace) -> None:
    """Raises TraceError if the trace holds no message, call, model call or token, nor why.

    That is an outage, an error, or that the run was stopped before any of it, not even its time, was recorded.
    """
    is_cut = trace.status == "incomplete" and trace.gaps.keys() >= {"messages", "calls"}
    says_why = (
        (trace.state is not None and "outage" in trace.state)
        or (trace.status == "error" and trace.error is not None)
        or (is_cut and trace.latency["total_ms"] is None)
    )
    if not (trace.messages or trace.tool_calls or trace.llm_calls or trace.usage["total_tokens"] or says_why):
        raise TraceError(EMPTY)


def find_gaps(trace: Trace, record: Any, reader: Reader) -> None:
    """Searches the record for calls that were not read; raises FieldError for one, or notes a gap."""
    note_opaque(trace)
    names = {call["name"] for call in trace.tool_calls}
    names.update(call["requested"]["name"] for call in trace.tool_calls if "requested" in call)
    note_unknown(trace, find_unknown_part(trace.messages))
    _note_replaced(trace)
    if isinstance(record, dict | list):
        note_unread(trace, record, reader, names)
    else:
        printed = [{"content": one["content"]} for one in trace.messages if PRINTED in (one["content"] or "")]
        search_calls(trace, printed, names | reader.not_tools)
    if any(name.startswith(JSON_STARTS) for name in names):
        add_gap(trace, "calls", JSON_FOR_A_NAME)
    if any(warning["code"] == "result_without_call" for warning in trace.warnings):
        add_gap(trace, "calls", RESULT_WITHOUT_CALL)
    if (not names and asked_for_tools(trace)) or _asks_without_calls(trace):
        add_gap(trace, "calls", ASKED_FOR_TOOLS)
    _note_missing_answers(trace)


def note_unread(trace: Trace, record: Any, reader: Reader, names: AbstractSet[str]) -> None:
    """Searches an object or a list for calls that were not read; `names` are those of the calls that were.

    Raises FieldError for a call, or notes a gap.
    """
    scan = CallScan(names | reader.not_tools, reader.without_calls, reader.copy_flag)
    scan.search(record)
    note_unknown(trace, find_unknown(record, reader.shapes))
    _note_fields_beside(trace, record, reader, names)
    note_places(trace, scan.incomplete)


def search_calls(
    trace: Trace, record: Any, names: AbstractSet[str], without_calls: frozenset[str] = frozenset()
) -> None:
    """Searches data of no known shape as `note_unread` does a record, for what is surely a call."""
    scan = CallScan(names, without_calls)
    scan.search(record)
    note_places(trace, scan.incomplete)


def _note_fields_beside(trace: Trace, record: Any, reader: Reader, names: AbstractSet[str]) -> None:
    """Searches the fields of a record, and of its lines, that the reader's shapes do not begin with."""
    begun = {step for shape in reader.shapes for step in shape.path[:2]}
    if record.__class__ is list:
        begun |= CALLS_OF_MESSAGES
    read = CONVERSATIONS | PROGRAM_FIELDS | reader.reads_fields | reader.without_calls | begun
    beside = [
        (key, value)
        for each in (record if record.__class__ is list else (record,))
        if each.__class__ is dict
        for key, value in each.items()
        if value and key not in read and may_hold(value) and not repeats_text(each, key)
    ]
    note_acts(trace, [each for each in beside if not is_result_key(each[0])], lambda key: f"`{shorten(key)}`", names)
    for key, value in beside:
        if is_result_key(key) and (name := _find_call_of_result(value, names)) is not None:
            add_gap(trace, "calls", f"`{shorten(key)}` has a result of `{shorten(name)}`: {RESULT_WITHOUT_CALL}")


def _find_call_of_result(value: Any, names: AbstractSet[str]) -> str | None:
    """The name of a call that was not read, and has its arguments, beside a result of it."""
    entries = [each for each in (value if value.__class__ is list else [value]) if each.__class__ is dict]
    found = (find_called_name(each) for each in entries if may_be_call(each))
    return next((name for name in found if name is not None and name not in names), None)


def note_acts(
    trace: Trace,
    fields: Sequence[tuple[Place, Any]],
    describe: Callable[[Place], str],
    names: AbstractSet[str] = frozenset(),
) -> None:
    """Makes the evidence of calls incomplete if one of the fields, each with its place, says what was done."""
    if not fields:
        return
    from evalgate.adapters.formats.core.builder.recorded_acts import find_act  # many records have no such fields

    known = names | {name for call in trace.tool_calls for name in list_names(call)}
    for place, value in fields:
        if (name := find_act(value, known)) is not None:
            add_gap(trace, "calls", f"{describe(place)} says that `{shorten(name)}` was done: {ADVICE}")
            return


def note_unread_calls(trace: Trace, record: Any, without_calls: frozenset[str]) -> None:
    """Searches what a record that is no object or list was read from, as `find_gaps` does the others.

    Raises FieldError for a call that was not read, or notes a gap.
    """
    names = {call["requested"]["name"] for call in trace.tool_calls if "requested" in call}
    search_calls(trace, record, names | {call["name"] for call in trace.tool_calls}, without_calls)


def _note_missing_answers(trace: Trace) -> None:
    """Notes that the agent may have called tools where a record has figures, or questions, and no answer of it.

    An answer without content does not count, empty text does. Where all model calls failed, none is missing.
    """
    if trace.llm_calls and all("error" in call for call in trace.llm_calls):
        return
    answers = [message for message in trace.messages if message["role"] in ("assistant", "tool")]
    blank = [one for one in answers if one["content"] is None and _is_blank(one)]
    if blank:
        is_all = not trace.tool_calls and len(blank) == len(answers)
        without = f"message {blank[0]['index'] + 1} is an answer of the agent without its content"
        for kind in OF_MESSAGES:
            add_gap(trace, kind, ONLY_FIGURES if is_all else f"{without}: record texts and calls")
    elif not answers and not trace.tool_calls:
        add_gap(trace, "calls", NO_ANSWER if trace.messages else ONLY_FIGURES)


def _note_replaced(trace: Trace) -> None:
    """Notes that a summary of the provider stands for what was before it, unless calls or reasoning stand there."""
    for message in trace.messages:
        if any(part.get("type") == COMPACTION for part in message["parts"] or ()):
            after = sum(len(each["tool_calls"]) for each in trace.messages[message["index"] :])
            if len(trace.tool_calls) > after:  # calls before messages were made shorter may stand in none
                return
            for kind in OF_MESSAGES:
                add_gap(trace, kind, REPLACED)
        if message["role"] == "tool" or message["tool_calls"] or message["reasoning"]:
            return


def _is_blank(message: Message) -> bool:
    """Whether a message without text has no call, reasoning or other parts either."""
    is_agents = message["role"] == "assistant"
    return is_agents and not (message["tool_calls"] or message["reasoning"] or message["parts"])


def asked_for_tools(trace: Trace) -> bool:
    """True if a model response ended in order to call tools."""
    if trace.finish_reason == "tool_calls" or any(call["finish_reason"] == "tool_calls" for call in trace.llm_calls):
        return True
    return any(message["finish_reason"] == "tool_calls" for message in trace.messages)


def _asks_without_calls(trace: Trace) -> bool:
    """True if an answer ended in order to call tools, and has no call, though others of the run have.

    Where model calls are recorded by themselves, the last answer may be what a framework made of the call's arguments.
    """
    answers = [message for message in trace.messages if message["role"] == "assistant"]
    if any(answer["finish_reason"] == "tool_calls" and not answer["tool_calls"] for answer in answers):
        return True
    ended_so = bool(answers) and trace.finish_reason == "tool_calls" and not trace.llm_calls
    return ended_so and not answers[-1]["tool_calls"]


def describe_unknown(subject: str, kind: str, value: Any) -> Unknown:
    """Something in a record that has a type which its reader does not know."""
    return judge_unknown(f"{subject} has the unknown type `{shorten(kind)}`", value)


def note_unknown(trace: Trace, unknown: Unknown | str | None) -> None:
    """Makes the evidence of calls incomplete if something unknown may be a call; a warning is enough for the rest."""
    if isinstance(unknown, str):
        add_gap(trace, "calls", f"{unknown}: {ADVICE}")
    elif unknown is not None and unknown.can_be_call:
        add_gap(trace, "calls", f"{unknown.description}: {ADVICE}")
    elif unknown is not None:
        note: Warning_ = {"code": "unknown_field", "message": f"{unknown.description}: {HARMLESS}", "where": None}
        trace.warnings = [*trace.warnings, note]


def note_places(trace: Trace, places: Sequence[str], advice: str = "") -> None:
    """Makes the evidence of calls incomplete if there are places that may hold some; names the first of them."""
    if places:
        named = ", ".join(f"`{place}`" for place in places[:MAX_FIELDS])
        add_gap(trace, "calls", f"{named} may hold calls in a form that is not read{advice}")


def note_opaque(trace: Trace) -> None:
    """Makes calls incomplete if warnings name agents of which nothing is recorded."""
    if "calls" in trace.gaps or not any(warning["code"] == OPAQUE for warning in trace.warnings):
        return
    from evalgate.measures.opaque_agents import describe_opaque, list_opaque  # few traces have any

    trace.gaps = {**trace.gaps, "calls": describe_opaque(list_opaque(trace))}


def add_gap(trace: Trace, kind: EvidenceKind, reason: str) -> None:
    """Notes that evidence of this kind is incomplete, with a warning; the first reason is kept.

    Except for that of opaque agents, which a suite may allow: any other reason replaces it.
    """
    if kind in trace.gaps and not trace.gaps[kind].startswith(OPAQUE_START):
        return
    trace.gaps = {**trace.gaps, kind: reason}
    trace.warnings = [*trace.warnings, {"code": "missing_evidence", "message": reason, "where": kind}]
