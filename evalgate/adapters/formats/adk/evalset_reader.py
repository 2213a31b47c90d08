"""Reads Google ADK eval sets: expected conversations, which are not traces but can become goldens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from evalgate.adapters.formats.adk.events import unwrap_result
from evalgate.adapters.formats.core.builder.conversation import Conversation
from evalgate.adapters.formats.core.builder.raw_message import RawMessage, ToolRequest, ToolResult, add_raw_message
from evalgate.adapters.formats.core.fields import (
    FieldError,
    identifier,
    listing,
    mapping,
    prefix_errors,
    required_text,
    text,
)
from evalgate.adapters.formats.core.format import Reader, no_identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.messages import gemini
from evalgate.errors import TraceError
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_TRACE = "an eval set holds expected conversations, not what an agent did: pass the sessions of its runs instead"


def build(record: Any) -> NoReturn:
    """Always raises TraceError: expectations must not pass as recorded behaviour."""
    del record
    raise TraceError(NO_TRACE)


def expected_traces(document: Any) -> list[Trace]:
    """One expected conversation for each case of an eval set, in either form of the file.

    Each has `expected: true` in its metadata and the tag `expected`. Its scenario is the case's id, or None
    if the older form has no name. Raises TraceError.
    """
    require_shallow(document)
    if isinstance(document, list):
        return _traces_from_list(document)
    evalset = mapping(document, "")
    set_id = text(get_field(evalset, "eval_set_id"), "eval_set_id")
    traces = []
    for number, value in enumerate(listing(get_field(evalset, "eval_cases"), "eval_cases")):
        with prefix_errors(f"eval_cases[{number}]"):
            case = mapping(value, "")
            name = identifier(get_field(case, "eval_id"), "eval_id")
            traces.append(_trace(read_conversation(case.get("conversation"), "conversation"), name, set_id))
    return traces


def read_conversation(invocations: Any, path: str) -> Conversation:
    """Builds a conversation from the invocations of a case, one turn each; raises FieldError."""
    conversation = Conversation()
    values = listing(invocations, path)
    if not values:
        raise FieldError(path, "is missing")
    for number, value in enumerate(values):
        with prefix_errors(f"{path}[{number}]"):
            for message in _read_invocation(mapping(value, "")):
                add_raw_message(conversation, message)
    if not conversation.messages:
        raise FieldError(path, "contains no messages")
    return conversation


def _read_invocation(invocation: dict[str, Any]) -> list[RawMessage]:
    """The user's message, the expected intermediate messages and the final response."""
    messages = _read_content(get_field(invocation, "user_content"), "user_content", "user")
    between = mapping(get_field(invocation, "intermediate_data"), "intermediate_data")
    for value in listing(get_field(between, "invocation_events"), "intermediate_data.invocation_events"):
        event = mapping(value, "intermediate_data.invocation_events")
        agent = text(event.get("author"), "intermediate_data.invocation_events.author")
        messages += _read_content(event.get("content"), "intermediate_data.invocation_events", "model", agent)
    for value in listing(get_field(between, "intermediate_responses"), "intermediate_data.intermediate_responses"):
        author, parts = value if isinstance(value, list) and len(value) == 2 else (None, None)  # noqa: PLR2004
        agent = text(author, "intermediate_data.intermediate_responses")
        messages += _read_content({"parts": parts}, "intermediate_data.intermediate_responses", "model", agent)
    for key, part in (("tool_uses", "function_call"), ("tool_responses", "function_response")):
        for value in listing(get_field(between, key), f"intermediate_data.{key}"):
            messages += _read_content({"parts": [{part: value}]}, f"intermediate_data.{key}", "model")
    return messages + _read_content(get_field(invocation, "final_response"), "final_response", "model")


def _read_content(value: Any, path: str, role: str, agent: str | None = None) -> list[RawMessage]:
    content = mapping(value, path)
    if not content.get("parts"):
        return []
    with prefix_errors(path):
        found = gemini.read_message({**content, "role": role})
    for message in found:
        message.agent = agent
        message.answers = [unwrap_result(answered) for answered in message.answers]
    return found


def _traces_from_list(document: list[Any]) -> list[Trace]:
    """Reads the older form: a list of exchanges is one case, a list of named lists is one case each."""
    first = document[0] if document else None
    if not (isinstance(first, dict) and isinstance(first.get("data"), list)):
        return [_trace(_conversation_from_exchanges(document), None, None)]
    traces = []
    for number, value in enumerate(document):
        with prefix_errors(f"[{number}]"):
            case = mapping(value, "")
            name = identifier(case.get("name"), "name")
            traces.append(_trace(_conversation_from_exchanges(listing(case.get("data"), "data")), name, None))
    return traces


def _conversation_from_exchanges(values: Sequence[Any]) -> Conversation:
    conversation = Conversation()
    for number, value in enumerate(values):
        with prefix_errors(f"[{number}]"):
            for message in _read_exchange(mapping(value, "")):
                add_raw_message(conversation, message)
    return conversation


def _read_exchange(exchange: dict[str, Any]) -> list[RawMessage]:
    messages = [RawMessage("user", required_text(exchange.get("query"), "query"))]
    key = "expected_intermediate_agent_responses"
    for value in listing(exchange.get(key), key):
        response = mapping(value, key)
        messages.append(
            RawMessage("assistant", text(response.get("text"), key), agent=text(response.get("author"), key))
        )
    for value in listing(exchange.get("expected_tool_use"), "expected_tool_use"):
        tool = mapping(value, "expected_tool_use")
        name = required_text(tool.get("tool_name"), "expected_tool_use.tool_name")
        given = mapping(tool.get("tool_input"), "expected_tool_use.tool_input")
        messages.append(RawMessage("assistant", calls=[ToolRequest(None, name, given)]))
        if tool.get("mock_tool_output") is not None:
            messages.append(RawMessage("tool", answers=[ToolResult(None, name, tool["mock_tool_output"])]))
    if exchange.get("reference") is not None:
        messages.append(RawMessage("assistant", text(exchange["reference"], "reference")))
    return messages


def _trace(conversation: Conversation, name: str | None, set_id: str | None) -> Trace:
    trace = Trace("", conversation.messages, conversation.calls, conversation.get_response(), scenario_id=name)
    trace.agent = {"name": None, "framework": "google-adk"}
    trace.tags = ["expected"]
    trace.metadata = {"expected": True, **({"eval_set_id": set_id} if set_id else {})}
    return trace


def get_field(fields: dict[str, Any], name: str) -> Any:
    """A field by its name with underscores, also in camel case."""
    head, *tail = name.split("_")
    value = fields.get(name)
    return fields.get(head + "".join(part.capitalize() for part in tail)) if value is None else value


READER = Reader(build=build, identify=no_identity)
