"""Reads saved run states of the OpenAI Agents SDK: a paused run with all its messages so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.evalgate_metadata import mark, marks_of
from evalgate.adapters.formats.core.build.raw_message import RawMessage, converse
from evalgate.adapters.formats.core.build.run_end import missing_results
from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, text
from evalgate.adapters.formats.core.format import Identity, Reader
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.provider_response import openai_usage
from evalgate.adapters.formats.core.usage.totals import sum_of_calls
from evalgate.adapters.formats.messages import responses
from evalgate.models.trace.trace import LlmCall, Trace, Usage

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.build.conversation import Conversation

APPROVAL = "tool_approval_item"  # repeats the call that waits for it
FINISHED = "next_step_final_output"


def build(record: Any) -> Trace:
    """Builds one run; a state saved before the end is incomplete. States have neither times nor cost."""
    require_shallow(record)
    state = mapping(record, "")
    conversation = converse(_said(state))
    head = mapping(state.get("trace"), "trace")
    metadata = mapping(head.get("metadata"), "trace.metadata")
    agent = mapping(state.get("current_agent"), "current_agent")
    step = mapping(state.get("current_step"), "current_step").get("type")
    llm_calls = _llm_calls(state, conversation)
    usage, about_usage = sum_of_calls(llm_calls)
    trace = Trace(
        text(head.get("id"), "trace.id") or "",
        conversation.messages,
        conversation.calls,
        conversation.response(),
        name=text(head.get("workflow_name"), "trace.workflow_name"),
        conversation_id=text(state.get("conversation_id"), "conversation_id"),
        provider="openai",
        agent={"name": text(agent.get("name"), "current_agent.name"), "framework": "openai-agents"},
        status="ok" if step == FINISHED else "incomplete",
        llm_calls=llm_calls,
        usage=usage,
        metadata=metadata,
        warnings=[*conversation.warnings(), *missing_results(conversation.calls), *about_usage],
    )
    mark(trace, metadata)
    return trace


def identify(record: Any) -> Identity:
    """Scenario and trial from the trace's metadata."""
    head = record.get("trace") if isinstance(record, dict) else None
    return marks_of(head.get("metadata")) if isinstance(head, dict) else (None, None)


def _said(state: dict[str, Any]) -> list[RawMessage]:
    """The input and all later items; `session_items` are complete, even after a handoff."""
    given = state.get("original_input")
    said = [RawMessage("user", given)] if isinstance(given, str) else _read(given, "original_input")
    name = "session_items" if state.get("session_items") else "generated_items"
    items = []
    for number, value in enumerate(listing(state.get(name), name)):
        item = mapping(value, f"{name}[{number}]")
        if item.get("type") != APPROVAL:
            items.append(item.get("raw_item"))
    return [*said, *_read(items, name)]


def _read(value: Any, path: str) -> list[RawMessage]:
    try:
        return responses.read(listing(value, ""))
    except FieldError as error:
        raise error.under(path) from None


def _llm_calls(state: dict[str, Any], conversation: Conversation) -> list[LlmCall]:
    calls: list[LlmCall] = []
    turn = conversation.messages[-1]["turn"] if conversation.messages else 0
    for number, value in enumerate(listing(state.get("model_responses"), "model_responses")):
        path = f"model_responses[{number}]"
        told = mapping(value, path)
        calls.append(
            {
                "index": number,
                "turn": turn,
                "step": min(number + 1, conversation.step),
                "provider": "openai",
                "model": None,
                "response_id": text(told.get("response_id"), f"{path}.response_id"),
                "usage": _usage(told.get("usage"), f"{path}.usage"),
                "cost_usd": None,
                "duration_ms": None,
                "finish_reason": None,
            }
        )
    return calls


def _usage(value: Any, path: str) -> Usage | None:
    """Usage from a response, None if its total is 0 (not counted); details may be a list of one."""
    told = dict(mapping(value, path))
    for key in ("input_tokens_details", "output_tokens_details"):
        details = told.get(key)
        told[key] = details[0] if isinstance(details, list) and details else details
    try:
        usage = openai_usage(told)
    except FieldError as error:
        raise error.under(path) from None
    return usage if usage["total_tokens"] else None


READER = Reader(build=build, identify=identify)
