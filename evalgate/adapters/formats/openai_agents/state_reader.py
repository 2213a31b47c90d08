"""Reads saved run states of the OpenAI Agents SDK: a paused run with all its messages so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.evalgate_metadata import identify_by_metadata, set_scenario_and_trial
from evalgate.adapters.formats.core.builder.evidence_gaps import note_unknown
from evalgate.adapters.formats.core.builder.raw_message import RawMessage, conversation_from_messages
from evalgate.adapters.formats.core.builder.run_end import warn_of_missing_results
from evalgate.adapters.formats.core.fields import listing, mapping, prefix_errors, text
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.provider_response import read_responses_usage
from evalgate.adapters.formats.core.usage.totals import sum_call_usages
from evalgate.adapters.formats.messages import responses
from evalgate.adapters.formats.messages.known_fields import ITEM_FIELDS, PART_FIELDS
from evalgate.models.trace.trace import LlmCall, Trace, Usage

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.builder.conversation import Conversation

APPROVAL = "tool_approval_item"  # repeats the call that waits for it
FINISHED = "next_step_final_output"


def build(record: Any) -> Trace:
    """Builds one run; a state saved before the end is incomplete. States have neither times nor cost."""
    require_shallow(record)
    state = mapping(record, "")
    conversation = conversation_from_messages(_read_messages(state))
    head = mapping(state.get("trace"), "trace")
    metadata = mapping(head.get("metadata"), "trace.metadata")
    agent = mapping(state.get("current_agent"), "current_agent")
    step = mapping(state.get("current_step"), "current_step").get("type")
    llm_calls = _llm_calls(state, conversation)
    usage, about_usage = sum_call_usages(llm_calls)
    trace = Trace(
        text(head.get("id"), "trace.id") or "",
        conversation.messages,
        conversation.calls,
        conversation.get_response(),
        name=text(head.get("workflow_name"), "trace.workflow_name"),
        conversation_id=text(state.get("conversation_id"), "conversation_id"),
        provider="openai",
        agent={"name": text(agent.get("name"), "current_agent.name"), "framework": "openai-agents"},
        status="ok" if step == FINISHED else "incomplete",
        llm_calls=llm_calls,
        usage=usage,
        metadata=metadata,
        warnings=[*conversation.list_warnings(), *warn_of_missing_results(conversation.calls), *about_usage],
    )
    set_scenario_and_trial(trace, metadata)
    note_unknown(trace, _find_unknown(state))
    return trace


def identify(record: Any) -> Identity:
    """Scenario and trial from the trace's metadata."""
    head = record.get("trace") if isinstance(record, dict) else None
    return identify_by_metadata(head.get("metadata")) if isinstance(head, dict) else (None, None)


def _read_messages(state: dict[str, Any]) -> list[RawMessage]:
    """The input and all later items; `session_items` are complete, even after a handoff."""
    given = state.get("original_input")
    messages = [RawMessage("user", given)] if isinstance(given, str) else _read_items(given, "original_input")
    name = _name_list(state)
    return [*messages, *_read_items(_list_raw_items(state, name), name)]


def _list_raw_items(state: dict[str, Any], name: str) -> list[Any]:
    """The model's items of a list; an item without one is listed itself, and so read as a call."""
    items = []
    for number, value in enumerate(listing(state.get(name), name)):
        item = mapping(value, f"{name}[{number}]")
        if item.get("type") != APPROVAL:
            raw = item.get("raw_item")
            items.append(raw if isinstance(raw, dict) and raw else item)
    return items


def _find_unknown(state: dict[str, Any]) -> str | None:
    """Describes the first item of unknown type that names no tool."""
    name = _name_list(state)
    given = responses.find_unnamed(state.get("original_input"), "original_input")
    return given or responses.find_unnamed(_list_raw_items(state, name), name)


def _name_list(state: dict[str, Any]) -> str:
    return "session_items" if state.get("session_items") else "generated_items"


def _read_items(value: Any, path: str) -> list[RawMessage]:
    with prefix_errors(path):
        return responses.read_messages(listing(value, ""))


def _llm_calls(state: dict[str, Any], conversation: Conversation) -> list[LlmCall]:
    calls: list[LlmCall] = []
    turn = conversation.messages[-1]["turn"] if conversation.messages else 0
    for number, value in enumerate(listing(state.get("model_responses"), "model_responses")):
        path = f"model_responses[{number}]"
        response = mapping(value, path)
        calls.append(
            {
                "index": number,
                "turn": turn,
                "step": min(number + 1, conversation.step),
                "provider": "openai",
                "model": None,
                "response_id": text(response.get("response_id"), f"{path}.response_id"),
                "usage": _read_usage(response.get("usage"), f"{path}.usage"),
                "cost_usd": None,
                "duration_ms": None,
                "finish_reason": None,
            }
        )
    return calls


def _read_usage(value: Any, path: str) -> Usage | None:
    """Usage from a response, None if its total is 0 (not counted); details may be a list of one."""
    counts = dict(mapping(value, path))
    for key in ("input_tokens_details", "output_tokens_details"):
        details = counts.get(key)
        counts[key] = details[0] if isinstance(details, list) and details else details
    with prefix_errors(path):
        usage = read_responses_usage(counts)
    return usage if usage["total_tokens"] else None


SHAPES = (
    Shape(("original_input", EACH), ITEM_FIELDS),
    *(Shape((name, EACH, "raw_item"), ITEM_FIELDS) for name in ("session_items", "generated_items")),
    *(Shape((name, EACH, "raw_item", "content", EACH), PART_FIELDS) for name in ("session_items", "generated_items")),
)
READER = Reader(build=build, identify=identify, shapes=SHAPES)
