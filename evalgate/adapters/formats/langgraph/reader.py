"""Reads the state of a LangGraph graph: a snapshot, a checkpoint, or the history of a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.run import CheckedConversation, measure_between
from evalgate.adapters.formats.core.builder.run_end import PERSON, mark_incomplete, mark_stopped
from evalgate.adapters.formats.core.builder.side_fields import SIDE_FIELDS, identify_by_side_fields, select_side_fields
from evalgate.adapters.formats.core.fields import dict_or_empty, do_each, listing, mapping, prefix_errors, text, time
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, split_each, words
from evalgate.adapters.formats.core.strict_json import make_printable, require_shallow
from evalgate.adapters.formats.langgraph import get_state, get_thread, is_langgraph
from evalgate.adapters.formats.messages import langchain, roles
from evalgate.adapters.formats.messages.known_fields import LANGCHAIN_FIELDS, PART_FIELDS
from evalgate.adapters.formats.messages.langchain import add_message
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

ADVICE = "put the messages of each agent into `messages`, or record OpenTelemetry spans"
STATE_FIELDS = SIDE_FIELDS | words("""
    values next config created_at parent_config tasks interrupts checkpoint checkpoint_id parent_checkpoint
    parent_checkpoint_id pending_writes thread_id v ts channel_values channel_versions versions_seen updated_channels
    pending_sends
""")
SETTINGS = frozenset({"config", "parent_config", "channel_versions", "versions_seen", "parent_checkpoint"})
MESSAGES = "messages"
INTERRUPTED = "interrupted"
"""The status of a thread of LangGraph's server that waits for a person; `busy` is one that still runs."""
PENDING_WRITE = 3
"""The number of fields of a pending write: task, channel and value."""


def identify(record: Any) -> Identity:
    """Scenario id and trial, next to the state or in its metadata."""
    return identify_by_side_fields(_order_states(record)[-1] if isinstance(record, list) and record else record)


def build(record: Any) -> Trace:
    """Builds one trace from the last state, and from messages that earlier states had."""
    require_shallow(record)
    states = [mapping(state, "") for state in _order_states(record if isinstance(record, list) else [record])]
    if not states:
        raise TraceError("the history has no states")
    chat = CheckedConversation(ADVICE)
    messages: dict[tuple[str, int], Any] = {}
    for state in states:
        _collect_messages(chat, messages, state)
    do_each(messages.values(), MESSAGES, lambda message: add_message(chat, message))
    last = states[-1]
    trace = chat.build_trace(select_side_fields(last), "langgraph")
    trace.trace_id = trace.trace_id or _find_checkpoint_id(last)
    trace.conversation_id = get_thread(last)
    _add_times(trace, states)
    _add_end(trace, last)
    chat.note_unknown(trace)
    return trace


def _order_states(states: list[Any]) -> list[Any]:
    """The states from the first to the last; LangGraph lists the last one first."""
    times = [_get_time(dict_or_empty(state)) for state in states]
    if all(type(when) is str for when in times):
        order = sorted(range(len(states)), key=lambda index: (times[index], -index))
        return [states[index] for index in order]
    return states[::-1]


def _get_time(state: dict[str, Any]) -> Any:
    found = get_state(state)
    return state.get("created_at") or (found[0].get("ts") if found else None)


def _collect_messages(chat: CheckedConversation, messages: dict[tuple[str, int], Any], state: dict[str, Any]) -> None:
    """Adds the messages of one state; a later copy of a message replaces an earlier one."""
    chat.check_fields(state, STATE_FIELDS)
    found = get_state(state)
    values = mapping(found[0][found[1]], found[1]) if found else {}
    key = found[1] if found else "values"
    with chat.at(key):
        _check_channels(chat, values)
    pending = [
        value
        for write in listing(state.get("pending_writes"), "pending_writes")
        if type(write) is list and len(write) == PENDING_WRITE and write[1] == MESSAGES
        for value in (write[2] if type(write[2]) is list else [write[2]])
    ]
    seen: dict[str, int] = {}
    listed = listing(values.get(MESSAGES), f"{key}.messages")
    for number, message in enumerate([*listed, *pending]):
        with prefix_errors(f"{key}.messages[{number}]"):
            name = _name_message(mapping(message, ""))
        seen[name] = seen.get(name, 0) + 1
        messages[name, seen[name]] = message


def _name_message(message: dict[str, Any]) -> str:
    """The id of a message, else its content."""
    import orjson

    found = langchain.get_body(message).get("id") or message.get("id")
    return found if type(found) is str else orjson.dumps(message, option=orjson.OPT_SORT_KEYS).decode()


def _check_channels(chat: CheckedConversation, values: dict[str, Any]) -> None:
    """Notes other channels that hold messages: their calls are not read."""
    for name, value in values.items():
        if name in (MESSAGES, "__start__"):
            continue
        stack = [value]
        while stack:
            inner = stack.pop()
            if type(inner) is dict:
                if langchain.is_shape(inner) or roles.is_shape(inner):
                    chat.add_unknown(name)
                    break
                stack.extend(inner.values())
            elif type(inner) is list:
                stack.extend(inner)


def _find_checkpoint_id(state: dict[str, Any]) -> str:
    """The id of the checkpoint, wherever the recorder puts it."""
    config = dict_or_empty(dict_or_empty(state.get("config")).get("configurable"))
    checkpoint = dict_or_empty(state.get("checkpoint"))
    found = (state.get("checkpoint_id"), config.get("checkpoint_id"), checkpoint.get("checkpoint_id"))
    return next((one for one in (*found, checkpoint.get("id")) if type(one) is str and one), "")


def _add_times(trace: Trace, states: list[dict[str, Any]]) -> None:
    """Sets the times of the first and the last state; the latency only if there was no wait for a user."""
    first, last = (time(_get_time(state), "created_at") for state in (states[0], states[-1]))
    trace.ended_at = last
    if len(states) == 1:
        return
    trace.started_at = first
    if trace.turn_count <= 1 and trace.latency["total_ms"] is None:
        trace.latency = measure_between(first, last)


def _add_end(trace: Trace, state: dict[str, Any]) -> None:
    """Marks a graph that has not finished, and one whose task failed."""
    for task in listing(state.get("tasks"), "tasks"):
        error = dict_or_empty(task).get("error")
        if error:
            trace.status = "error"
            trace.error = {"type": None, "message": error if type(error) is str else None}
            return
    waiting = [text(node, "next") or "" for node in listing(state.get("next"), "next")]
    if (waiting and _has_interrupts(state)) or state.get("status") == INTERRUPTED:
        mark_stopped(trace, PERSON)
    elif waiting:
        mark_incomplete(trace, f"the graph stopped before `{make_printable(waiting[0])}`")


def _has_interrupts(state: dict[str, Any]) -> bool:
    """Whether the graph asked a person, in the state or in a task of it."""
    holders = [state, *(dict_or_empty(task) for task in listing(state.get("tasks"), "tasks"))]
    return any(each.get("interrupts") for each in holders)


STATES: tuple[tuple[str, ...], ...] = (("values",), ("channel_values",), ("checkpoint", "channel_values"))
WRAPPERS: tuple[tuple[str, ...], ...] = ((), ("data",), ("kwargs",))
SHAPES = tuple(
    Shape((*start, *state, MESSAGES, EACH, *wrapper, *part), fields)
    for start in ((), (EACH,))
    for state in STATES
    for wrapper in WRAPPERS
    for part, fields in (((), LANGCHAIN_FIELDS), (("content", EACH), PART_FIELDS))
)
READER = Reader(
    build=build,
    identify=identify,
    split=split_each(is_langgraph),
    without_calls=SETTINGS,
    shapes=SHAPES,
    is_of_one_agent=True,
)
