"""Reads saved run states of the OpenAI Agents SDK: of Python, and of JavaScript, which are read as those of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.core.builder.evidence_gaps import (
    Unknown,
    find_unknown,
    note_unknown,
    pick_worse,
    shorten,
)
from evalgate.adapters.formats.core.builder.run import MeteredConversation, build_trace, open_record
from evalgate.adapters.formats.core.builder.run_end import PERSON, mark_incomplete, mark_stopped
from evalgate.adapters.formats.core.builder.side_fields import identify_by_metadata, set_scenario_and_trial
from evalgate.adapters.formats.core.builder.sub_agents import SubAgent, merge_sub_agents
from evalgate.adapters.formats.core.fields import (
    dict_or_empty,
    do_each,
    listing,
    mapping,
    objects,
    prefix_errors,
    read_at,
    text,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, words
from evalgate.adapters.formats.core.provider_response import RESPONSES_USAGE
from evalgate.adapters.formats.core.usage import sum_call_usages
from evalgate.adapters.formats.messages import responses
from evalgate.adapters.formats.messages.kept_elsewhere import find_earlier, find_replaced, note_elsewhere
from evalgate.adapters.formats.messages.known_fields import ITEM_FIELDS, PART_FIELDS
from evalgate.adapters.formats.openai_agents import FRAMEWORK, is_of_javascript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

APPROVAL = "tool_approval_item"  # repeats the call that waits for it
FINISHED, WAITS = "next_step_final_output", "next_step_interruption"
"""Types of the current step of a run that has ended, and of one that waits for an approval."""
NESTED = "pending_agent_tool_runs"
"""The states of agents that were called as tools and wait for a person, by tool and id of the call."""


def split(document: Any) -> Sequence[Any]:
    """The only state of a document, in the spelling of Python."""
    if not is_of_javascript(document):
        return [document]
    from evalgate.adapters.formats.openai_agents.javascript import respell_state  # most states are Python's

    return [respell_state(document)]


def build(record: Any) -> Trace:
    """Builds one run; a state saved before the end is incomplete. States have neither times nor cost."""
    state = open_record(record)
    chat = _read_run(state)
    agents = _read_agents(chat, state)
    if agents:
        merge_sub_agents(chat, agents)
    usage, about_usage = sum_call_usages(chat.llm_calls)
    head, agent = mapping(state.get("trace"), "trace"), mapping(state.get("current_agent"), "current_agent")
    metadata = mapping(head.get("metadata"), "trace.metadata")
    step = mapping(state.get("current_step"), "current_step").get("type")
    trace = build_trace(
        chat.conversation,
        text(head.get("id"), "trace.id"),
        name=text(head.get("workflow_name"), "trace.workflow_name"),
        conversation_id=text(state.get("conversation_id"), "conversation_id"),
        provider="openai",
        agent={"name": text(agent.get("name"), "current_agent.name"), "framework": FRAMEWORK},
        llm_calls=chat.llm_calls,
        usage=usage,
        metadata=metadata,
    )
    trace.warnings += about_usage
    if step == WAITS:
        mark_stopped(trace, PERSON)
    elif step != FINISHED:
        mark_incomplete(trace, "the state was saved before the run ended")
    set_scenario_and_trial(trace, metadata)
    note_unknown(trace, _find_unknown(state))
    known = {call["response_id"] for call in chat.llm_calls if call["response_id"] is not None}
    kept = {**state, "conversation": state.get("conversation_id")}
    note_elsewhere(trace, (find_earlier(kept, known), find_replaced(state.get("original_input"))))
    for nested in _list_nested(state):
        note_unknown(trace, pick_worse(_find_unknown(nested), find_unknown(nested, SHAPES)))
    return trace


def identify(record: Any) -> Identity:
    """Scenario and trial from the trace's metadata."""
    return identify_by_metadata(dict_or_empty(dict_or_empty(record).get("trace")).get("metadata"))


def _read_run(state: dict[str, Any]) -> MeteredConversation:
    chat = MeteredConversation()
    chat.add_messages(_read_messages(state))
    _add_llm_calls(chat, state)
    return chat


def _read_agents(chat: MeteredConversation, state: dict[str, Any]) -> list[SubAgent]:
    """The agents that were called as tools and wait for a person, and those that they called."""
    calls = {call["id"]: call for call in chat.conversation.calls}
    found: list[SubAgent] = []
    for key, nested in mapping(state.get(NESTED), NESTED).items():
        with prefix_errors(f"{NESTED}.{shorten(key)}"):
            run = _read_run(mapping(nested, ""))
            name = read_at(nested, "current_agent.name", text)
            found += [SubAgent(run, calls.get(key.rpartition(":")[2]), name), *_read_agents(run, nested)]
    return found


def _list_nested(state: dict[str, Any]) -> list[dict[str, Any]]:
    inner = list(mapping(state.get(NESTED), NESTED).values())
    return [*inner, *(deeper for each in inner for deeper in _list_nested(each))]


def _read_messages(state: dict[str, Any]) -> list[RawMessage]:
    """The input and all later items; `session_items` are complete, even after a handoff."""
    given = state.get("original_input")
    messages = [RawMessage("user", given)] if isinstance(given, str) else _read_items(given, "original_input")
    name = _name_list(state)
    return [*messages, *_read_items(_list_raw_items(state, name), name)]


def _list_raw_items(state: dict[str, Any], name: str) -> list[Any]:
    """The model's items of a list; an item without one is listed itself, and so read as a call."""
    items = [item for item in objects(state.get(name), name) if item.get("type") != APPROVAL]
    return [dict_or_empty(item.get("raw_item")) or item for item in items]


def _find_unknown(state: dict[str, Any]) -> Unknown | None:
    """The first item of unknown type that names no tool."""
    name = _name_list(state)
    given = responses.find_unnamed(state.get("original_input"), "original_input")
    return pick_worse(given, responses.find_unnamed(_list_raw_items(state, name), name))


def _name_list(state: dict[str, Any]) -> str:
    return "session_items" if state.get("session_items") else "generated_items"


def _read_items(value: Any, path: str) -> list[RawMessage]:
    with prefix_errors(path):
        return responses.read_messages(listing(value, ""))


def _add_llm_calls(chat: MeteredConversation, state: dict[str, Any]) -> None:
    def add(response: dict[str, Any]) -> None:
        usage = RESPONSES_USAGE.read(response.get("usage"), "usage")
        usage_or_none = usage if usage["total_tokens"] else None  # tokens that were not counted are 0
        response_id = text(response.get("response_id"), "response_id")
        call = chat.add_llm_call(usage_or_none, provider="openai", response_id=response_id)
        call["step"] = min(len(chat.llm_calls), chat.conversation.step)

    do_each(listing(state.get("model_responses"), "model_responses"), "model_responses", add)


SHAPES = (
    Shape(("original_input", EACH), ITEM_FIELDS),
    *(Shape((name, EACH, "raw_item"), ITEM_FIELDS) for name in ("session_items", "generated_items")),
    *(Shape((name, EACH, "raw_item", "content", EACH), PART_FIELDS) for name in ("session_items", "generated_items")),
)
FINGERPRINTS = words("approvalInvocations completed_tool_invocations")
"""Names and arguments of calls as one text each, by which the SDK knows them again."""
READER = Reader(build=build, identify=identify, split=split, shapes=SHAPES, without_calls=FINGERPRINTS)
