"""Reads runs of AutoGen and of Microsoft Agent Framework: messages, results, and saved states."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.autogen import (
    is_agent_message,
    is_autogen,
    is_context,
    is_framework_message,
    is_message,
    list_session_messages,
)
from evalgate.adapters.formats.autogen.framework import USAGE, add_framework_message
from evalgate.adapters.formats.autogen.messages import (
    ADVICE,
    AgentMemory,
    SavedRun,
    add_agent_message,
    add_context_message,
)
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.builder.run import measure_user_wait, open_record
from evalgate.adapters.formats.core.builder.run_end import (
    COST,
    TIME,
    TURNS,
    mark_failed_run,
    mark_incomplete,
    mark_stopped,
)
from evalgate.adapters.formats.core.builder.side_fields import SIDE_FIELDS, identify_by_side_fields, select_side_fields
from evalgate.adapters.formats.core.fields import FieldError, dict_or_empty, listing, mapping, text
from evalgate.adapters.formats.core.format import Reader, words
from evalgate.measures.values.json_values import mark_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace.trace import Trace

USERS = frozenset({"user", "User", "human", "Human", "user_proxy", "UserProxy", "user_proxy_agent"})
"""Names of agents that speak for a person, besides those that ask one for input."""
RESULT_FIELDS = SIDE_FIELDS | words("""
    type messages stop_reason response response_id agent_id created_at finish_reason usage_details value
    additional_properties conversation_id continuation_token
""")
STATE_FIELDS = SIDE_FIELDS | words("""
    type version agent_states agent_state message_buffer message_thread current_turn llm_context inner_team_state
    team_id state session_id service_session_id chat_message_store_state service_thread_id
""")
ONLY_OF_MODELS = ("ToolCallRequestEvent", "CodeGenerationEvent", "ThoughtEvent", "ToolCallSummaryMessage")
FRAMEWORK = "agent-framework"
MAX_DEPTH = 8
MAX_NAMED = 3


def split(documents: list[Any]) -> Sequence[Any]:
    """Every run of the file; messages that are lines of it form one run."""
    records: list[Any] = []
    loose: list[Any] = []
    for document in documents:
        if is_message(document):
            if not loose:
                records.append(loose)
            loose.append(document)
        elif isinstance(document, list) and not is_autogen(document):
            records += document
        else:
            if loose and _repeats(document, loose):
                records.remove(loose)
                loose = []
            records.append(document)
    return records


def _repeats(document: Any, messages: list[Any]) -> bool:
    """True for the result at the end of a stream, which has all messages again."""
    import orjson

    listed = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        return False
    repeated = {orjson.dumps(message, option=orjson.OPT_SORT_KEYS) for message in listed}
    kept = [message for message in messages if message.get("type") != "ModelClientStreamingChunkEvent"]
    return all(orjson.dumps(message, option=orjson.OPT_SORT_KEYS) in repeated for message in kept)


def build(record: Any) -> Trace:
    """Builds one trace from messages, a result, or a saved state."""
    document = open_record(record, "messages")
    threads, contexts = list(_list_threads(document)), list(_list_contexts(document))
    run = SavedRun(_find_users(threads))
    _check_fields(run, document)
    for thread, path in threads:
        run.do_each(thread, path, lambda message: _add_message(run, message))
    for context, path, agent in contexts:  # next to a thread only the calls that are missing there, and their results
        add = partial(add_context_message, run, agent=agent, memory=AgentMemory(run) if threads else None)
        run.do_each(context, path, add)
    response = dict_or_empty(document.get("response")) or document
    if response.get("usage_details") is not None:
        run.total = USAGE.read(response["usage_details"], "usage_details")
    is_framework = any(is_framework_message(one) for thread, _ in threads for one in thread if type(one) is dict)
    trace = run.build_trace(select_side_fields(document), FRAMEWORK if is_framework else "autogen")
    _add_facts(trace, document, response)
    run.note_unknown(trace)
    forgetful = _find_forgetful_agents(document, run.users)
    if forgetful:
        names = ", ".join(mark_name(name) for name in forgetful[:MAX_NAMED])
        add_gap(trace, "calls", f"the saved state has no memory of {names}, where calls are: {ADVICE}")
    return trace


def _find_forgetful_agents(document: dict[str, Any], users: frozenset[str]) -> Sequence[str]:
    """Finds agents that speak in the thread of a saved team, with neither memory nor events, which hold the calls."""
    speakers, known = set[str](), set(users)
    for state, path, agent in _walk_states(document, "", None, MAX_DEPTH):
        thread = state.get("message_thread")
        if agent is not None and (thread is not None or type(state.get("inner_team_state")) is dict):
            known.add(agent)  # a manager, or a team
        if agent is not None and dict_or_empty(state.get("llm_context")).get("messages"):
            known.add(agent)
        for message in map(dict_or_empty, listing(thread, f"{path}message_thread")):
            source = message.get("source")
            if type(source) is str:
                (known if message.get("type") in ONLY_OF_MODELS else speakers).add(source)
    return sorted(speakers - known)


def _check_fields(run: SavedRun, document: dict[str, Any]) -> None:
    is_result = type(document.get("messages")) is list or document.get("response") is not None
    run.check_fields(document, RESULT_FIELDS if is_result else STATE_FIELDS)
    with run.at("response"):
        run.check_fields(dict_or_empty(document.get("response")), RESULT_FIELDS)


def _list_threads(document: dict[str, Any]) -> Iterator[tuple[list[Any], str]]:
    """The lists of messages that agents exchanged, with their paths."""
    yield from ((listing(document[key], key), key) for key in ("messages",) if document.get(key) is not None)
    response = dict_or_empty(document.get("response"))
    if response.get("messages") is not None:
        yield listing(response["messages"], "response.messages"), "response.messages"
    for messages in list_session_messages(document):
        yield messages, "state.messages"
    for state, path, _ in _walk_states(document, "", None, MAX_DEPTH):
        if state.get("message_thread"):
            yield listing(state["message_thread"], f"{path}message_thread"), f"{path}message_thread"


def _list_contexts(document: dict[str, Any]) -> Iterator[tuple[list[Any], str, str | None]]:
    """The messages in the memory of each agent of a saved state, with path and agent."""
    for state, path, agent in _walk_states(document, "", None, MAX_DEPTH):
        context = dict_or_empty(state.get("llm_context"))
        if context.get("messages"):
            place = f"{path}llm_context.messages"
            yield listing(context["messages"], place), place, agent


def _walk_states(
    state: dict[str, Any], path: str, agent: str | None, levels_left: int
) -> Iterator[tuple[dict[str, Any], str, str | None]]:
    """A saved state and those of its agents; a nested team's are an agent's."""
    if not levels_left:
        raise FieldError(path.removesuffix("."), "has too many levels of teams")
    yield state, path, agent
    for key in ("agent_state", "inner_team_state"):
        if type(state.get(key)) is dict:
            yield from _walk_states(state[key], f"{path}{key}.", agent, levels_left - 1)
    for name, inner in mapping(state.get("agent_states"), f"{path}agent_states").items():
        if type(inner) is dict:
            yield from _walk_states(inner, f"{path}agent_states.{name}.", name.split("/")[0], levels_left - 1)


def _find_users(threads: list[tuple[list[Any], str]]) -> frozenset[str]:
    """The agents that speak for a person: by name, or as they asked one for input; none that used a model."""
    events = [one for thread, _ in threads for one in thread if type(one) is dict and type(one.get("source")) is str]
    asked = {one["source"] for one in events if one.get("type") == "UserInputRequestedEvent"}
    models = {one["source"] for one in events if one.get("models_usage") or one.get("type") in ONLY_OF_MODELS}
    return (USERS | asked) - models


def _add_message(run: SavedRun, message: dict[str, Any]) -> None:
    if is_framework_message(message) or "contents" in message:
        add_framework_message(run, message)
    elif is_context(message) and not is_agent_message(message):
        add_context_message(run, message)
    else:
        add_agent_message(run, message)


def _add_facts(trace: Trace, document: dict[str, Any], response: dict[str, Any]) -> None:
    """Sets ids, the reason of the end, and the time that the user waited."""
    trace.trace_id = trace.trace_id or text(response.get("response_id"), "response_id") or ""
    trace.conversation_id = text(document.get("session_id"), "session_id") or text(
        response.get("conversation_id"), "conversation_id"
    )
    if trace.finish_reason is None:
        trace.finish_reason = text(response.get("finish_reason"), "finish_reason")
    stop_reason = text(document.get("stop_reason"), "stop_reason")
    if stop_reason:
        trace.metadata = {**trace.metadata, "stop_reason": stop_reason}
        _add_end(trace, stop_reason)
    if trace.latency["total_ms"] is None:
        trace.latency = measure_user_wait(trace.messages)


LIMITS = {
    "Token usage limit": COST,
    "Timeout of": TIME,
    **dict.fromkeys(("Maximum number of turns", "Maximum number of messages"), TURNS),
}
"""Starts of the stop reasons of AutoGen 0.4 to 0.7 that are limits."""
ONE_TURN = "Maximum number of turns 1 reached"
"""How a team ends that answers a person after each turn."""
ABORTED, FAILED = "External termination requested", "An error occurred in the group chat"


def _add_end(trace: Trace, stop_reason: str) -> None:
    limit = next((LIMITS[start] for start in LIMITS if stop_reason.startswith(start)), None)
    if limit is not None and not stop_reason.startswith(ONE_TURN):
        mark_stopped(trace, limit)
    elif stop_reason.startswith(ABORTED):
        mark_incomplete(trace, "the run was terminated from outside")
    elif stop_reason.startswith(FAILED):
        mark_failed_run(trace, None, stop_reason)


READER = Reader(
    build=build,
    identify=identify_by_side_fields,
    shapes=(),
    split=split,
    reads_fields=frozenset({"agent_states"}),
)
