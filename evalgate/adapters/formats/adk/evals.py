"""Reads results of `adk eval`: the agent's run in each case of an eval set, and its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from evalgate.adapters.formats.adk.reader import SHAPES as SESSION_SHAPES
from evalgate.adapters.formats.adk.reader import build as build_session
from evalgate.adapters.formats.adk.reader import unwrap_result
from evalgate.adapters.formats.core.builder.conversation import Conversation, RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.run import MeteredConversation, build_trace, identify_by, open_record
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    do_each,
    get_field,
    identifier,
    listing,
    mapping,
    objects,
    prefix_errors,
    required_text,
    text,
)
from evalgate.adapters.formats.core.format import Reader, no_identity
from evalgate.adapters.formats.core.strict_json import decode, require_shallow
from evalgate.adapters.formats.core.usage import build_score, to_milliseconds
from evalgate.adapters.formats.messages import gemini
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace, TraceScore

NO_TRACE = "an eval set holds expected conversations, not what an agent did: pass the sessions of its runs instead"


def refuse_expectations(record: Any) -> NoReturn:
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
    traces: list[Trace] = []

    def add_case(case: dict[str, Any]) -> None:
        name = identifier(get_field(case, "eval_id"), "eval_id")
        traces.append(_trace(read_conversation(case.get("conversation"), "conversation"), name, set_id))

    do_each(listing(get_field(evalset, "eval_cases"), "eval_cases"), "eval_cases", add_case)
    return traces


def read_conversation(invocations: Any, path: str) -> Conversation:
    """Builds a conversation from the invocations of a case, one turn each; raises FieldError."""
    values = listing(invocations, path)
    if not values:
        raise FieldError(path, "is missing")
    chat = MeteredConversation()
    do_each(values, path, lambda invocation: chat.add_messages(_read_invocation(invocation)))
    if not chat.conversation.messages:
        raise FieldError(path, "contains no messages")
    return chat.conversation


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
    traces: list[Trace] = []

    def add_case(case: dict[str, Any]) -> None:
        name = identifier(case.get("name"), "name")
        traces.append(_trace(_conversation_from_exchanges(listing(case.get("data"), "data")), name, None))

    do_each(document, "", add_case)
    return traces


def _conversation_from_exchanges(values: list[Any]) -> Conversation:
    chat = MeteredConversation()
    do_each(values, "", lambda exchange: chat.add_messages(_read_exchange(exchange)))
    return chat.conversation


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
    metadata = {"expected": True, **({"eval_set_id": set_id} if set_id else {})}
    agent = {"name": None, "framework": "google-adk"}
    return build_trace(conversation, scenario_id=name, agent=agent, tags=["expected"], metadata=metadata, warnings=[])


EVALSET_READER = Reader(build=refuse_expectations, identify=no_identity, shapes=())


STATUSES = {1: "passed", 2: "failed", 3: "not_evaluated"}
PER_INVOCATION = "eval_metric_result_per_invocation"


def split(document: Any) -> Sequence[Any]:
    """The cases; early versions wrote the whole document as text within JSON."""
    value = mapping(decode(document.encode()) if isinstance(document, str) else document, "")
    return listing(get_field(value, "eval_case_results"), "eval_case_results")


def build(record: Any) -> Trace:
    """Builds one run of a case from its session, else from its recorded invocations."""
    case = open_record(record)
    metric_results = objects(get_field(case, PER_INVOCATION), PER_INVOCATION)
    invocations = [get_field(value, "actual_invocation") for value in metric_results]
    actual = [mapping(value, "actual_invocation") for value in invocations if value is not None]
    session = mapping(get_field(case, "session_details"), "session_details")
    if session.get("events"):
        trace = build_session(session)
    else:
        conversation = read_conversation(actual, "actual_invocation")
        agent = {"name": None, "framework": "google-adk"}
        trace = build_trace(conversation, agent=agent, warnings=conversation.list_warnings())
    trace.scenario_id = identifier(get_field(case, "eval_id"), "eval_id") or trace.scenario_id
    set_id = text(get_field(case, "eval_set_id"), "eval_set_id")
    if set_id:
        trace.metadata["eval_set_id"] = set_id
    trace.evaluations = _evaluations(case)
    seconds = [amount(invocation.get("duration"), "actual_invocation.duration") for invocation in actual]
    known = [one for one in seconds if one is not None]
    if known and len(known) == len(seconds):
        trace.latency = {"total_ms": to_milliseconds(sum(known)), "source": "recorded"}
        trace.warnings = [found for found in trace.warnings if found["code"] != "suspicious_latency"]
    return trace


def _evaluations(case: dict[str, Any]) -> list[TraceScore]:
    found: list[TraceScore] = []
    key = "overall_eval_metric_results"

    def add(metric: dict[str, Any]) -> None:
        name, status = get_field(metric, "metric_name"), get_field(metric, "eval_status")
        score = build_score(required_text(name, "metric_name"), metric.get("score"), "score")
        found.append({**score, "score_label": STATUSES.get(status) if type(status) is int else None})

    do_each(listing(get_field(case, key), key), key, add)
    return found


SESSIONS = ("session_details", "sessionDetails")
SHAPES = tuple(shape._replace(path=(key, *shape.path)) for shape in SESSION_SHAPES for key in SESSIONS)
READER = Reader(build=build, identify=identify_by("eval_id", other_key="evalId"), split=split, shapes=SHAPES)
