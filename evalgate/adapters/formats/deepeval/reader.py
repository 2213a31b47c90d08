"""Reads DeepEval: each test case of a run is a trace, with the tools called and the scores of its metrics.

So is each trace that it recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.builder.run import MeteredConversation, build_model_error, read_tags, set_cost
from evalgate.adapters.formats.core.builder.side_fields import (
    add_listed_calls,
    identify_by_metadata,
    set_scenario_and_trial,
)
from evalgate.adapters.formats.core.fields import (
    FieldError,
    dict_or_empty,
    do_each,
    get_field,
    identifier,
    in_both_spellings,
    listing,
    mapping,
    milliseconds_between,
    objects,
    required_text,
    text,
    to_camel_case,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, build_identity, words
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import read_latency_seconds, sum_usages
from evalgate.adapters.formats.deepeval import SPANS, find_cases, is_case, is_trace
from evalgate.adapters.formats.deepeval.figures import TIMES, USAGE, read_scores
from evalgate.adapters.formats.deepeval.names import OTHER, name_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import ModelError, Trace, Usage

NO_TOOLS = "`toolsCalled` is not recorded: pass `tools_called` to the test case, an empty list if no tool was called"
NAME = "test_case"


def split(document: Any) -> Sequence[Any]:
    """The test cases of a document, of one turn and of several."""
    cases = find_cases(document)
    if cases is None:
        cases = document if isinstance(document, list) else [document]
    cases = [name_tools(case) if isinstance(case, dict) else case for case in cases]
    # Beside an `input`, a `name` looks like that of a called tool.
    return [{**case, "name": None, NAME: case["name"]} if is_case(case) and "name" in case else case for case in cases]


def identify(record: Any) -> Identity:
    """Scenario id and trial in the metadata, else the name of the test case."""
    if not isinstance(record, dict):
        return None, None
    scenario, trial = identify_by_metadata(record.get("metadata"))
    return build_identity(record.get(NAME) or None, None)[0] if scenario is None else scenario, trial


def build(record: Any) -> Trace:
    """Builds the trace of one test case, or of the spans of one run."""
    require_shallow(record)
    if is_trace(record):
        from evalgate.adapters.formats.deepeval.spans import build_from_spans  # most files have test cases

        return build_from_spans(record)
    if not is_case(record):
        raise FieldError("", "is not a test case with metrics or tools")
    chat = MeteredConversation()
    has_calls = _add_turns(chat, record) if record.get("turns") is not None else _add_exchange(chat, record)
    chat.total = _read_usage(record)
    chat.failure = _read_failure(mapping(record.get("trace"), "trace"))
    trace = chat.build_trace({}, None)
    _add_ids(trace, record)
    _add_figures(trace, record)
    if len(_list_spans(dict_or_empty(record.get("trace")), "agent_spans")) > 1:
        for call in trace.tool_calls:
            call["actor"] = None  # of a test case's calls nothing says which agent made them
    trace.evaluations = read_scores(record)
    if not has_calls:
        add_gap(trace, "calls", NO_TOOLS)
    return trace


def _add_exchange(chat: MeteredConversation, case: dict[str, Any]) -> bool:
    """Adds input, answer and calls; False if the case does not say which tools were called."""
    chat.add_messages([RawMessage("user", _read_words(case.get("input"), "input"))])
    trace = mapping(case.get("trace"), "trace")
    spans = _list_tool_calls(trace)
    recorded = next((found for one in (case, trace) if (found := get_field(one, "tools_called")) is not None), None)
    listed = listing(recorded, "toolsCalled")
    add_listed_calls(chat.conversation, [_read_tool(tool, n) for n, tool in enumerate(listed)], "toolsCalled")
    add_listed_calls(chat.conversation, spans, "trace.toolSpans")
    answer = get_field(case, "actual_output")
    chat.add_messages([RawMessage("assistant", _read_words(answer, "actualOutput"))])
    return recorded is not None or bool(spans)


def _read_words(value: Any, path: str) -> str | None:
    """Text, or a list of texts and images, of which the texts are kept."""
    if isinstance(value, list):
        return "\n".join(each for each in value if isinstance(each, str)) or None
    return text(value, path)


def _read_tool(value: Any, number: int) -> dict[str, Any]:
    """A `ToolCall` in the form of a listed call."""
    tool = mapping(value, f"toolsCalled[{number}]")
    arguments = get_field(tool, "input_parameters")
    return {"name": tool.get("name"), "arguments": arguments, "result": tool.get("output")}


def _list_spans(trace: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The spans of a kind in a trace, in order of time."""
    path = f"trace.{to_camel_case(name)}"
    return sorted(objects(get_field(trace, name), path), key=_find_start)


def _find_start(span: dict[str, Any]) -> str:
    return str(get_field(span, "start_time"))


def _list_tool_calls(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool spans of a trace, in the form of listed calls."""
    calls = []
    for span in _list_spans(trace, "tool_spans"):
        if span.get("type") == OTHER:
            continue
        call = {"name": span.get("name"), "arguments": span.get("input"), "result": span.get("output")}
        if not isinstance(call["arguments"], dict | str | None):
            call["arguments"] = {"input": call["arguments"]}
        if span.get("status") == "ERRORED" or span.get("error"):
            call["error"] = text(span.get("error"), "trace.toolSpans.error") or "the tool failed"
        elif span.get("status") is not None:
            call["status"] = "ok"
        call["duration_ms"] = milliseconds_between(*TIMES.read(span, "trace.toolSpans").values())
        calls.append(call)
    return calls


def _read_failure(trace: dict[str, Any]) -> ModelError | None:
    """Why the last model call failed; None if it did not, or if a tool ran later."""
    models, tools = _list_spans(trace, "llm_spans"), _list_spans(trace, "tool_spans")
    if not models or models[-1].get("status") != "ERRORED":
        return None
    if tools and _find_start(tools[-1]) > _find_start(models[-1]):
        return None
    return build_model_error(None, text(models[-1].get("error"), "trace.llmSpans.error"))


def _add_turns(chat: MeteredConversation, case: dict[str, Any]) -> bool:
    """Adds the turns of a conversation; False if no turn of the assistant says which tools were called."""
    known: list[bool] = []

    def add_turn(turn: dict[str, Any]) -> None:
        role = required_text(turn.get("role"), "role")
        if role not in ("user", "assistant"):
            raise FieldError("role", "is neither user nor assistant")
        tools = get_field(turn, "tools_called")
        if role == "assistant":
            known.append(tools is not None)
        calls = [_read_tool(tool, number) for number, tool in enumerate(listing(tools, "toolsCalled"))]
        for number, call in enumerate(calls):
            name = required_text(call["name"], f"toolsCalled[{number}].name")
            call_id = f"turn-{len(known)}-{number}"
            chat.add_messages([RawMessage("assistant", calls=[ToolRequest(call_id, name, call["arguments"])])])
            if call["result"] is not None:
                chat.add_messages([RawMessage("tool", answers=[ToolResult(call_id, name, call["result"])])])
        words = text(turn.get("content"), "content")
        chat.add_messages([RawMessage("user" if role == "user" else "assistant", words)])

    turns = listing(case["turns"], "turns")
    in_order = all(isinstance(turn, dict) and isinstance(turn.get("order"), int) for turn in turns)
    do_each(sorted(turns, key=lambda turn: turn["order"]) if in_order else turns, "turns", add_turn)
    return any(known) or not known


def _read_usage(case: dict[str, Any]) -> Usage | None:
    """The agent's tokens: those of the case, else of all model calls in its trace."""
    usage = USAGE.read(case, "")
    if usage["input_tokens"] is None and usage["output_tokens"] is None:
        spans = _list_spans(dict_or_empty(case.get("trace")), "llm_spans")
        usage = {**sum_usages([USAGE.read(span, "trace.llmSpans") for span in spans]), "source": "recorded_total"}
    return None if usage["input_tokens"] is None and usage["output_tokens"] is None else usage


def _add_ids(trace: Trace, case: dict[str, Any]) -> None:
    metadata = mapping(case.get("metadata"), "metadata")
    set_scenario_and_trial(trace, metadata)
    if trace.scenario_id is None:
        trace.scenario_id = identifier(case.get(NAME) or None, "name")
    trace.metadata = metadata
    trace.tags = read_tags(case.get("tags"), "tags")
    recorded = mapping(case.get("trace"), "trace")
    trace.trace_id = text(recorded.get("uuid"), "trace.uuid") or ""
    trace.conversation_id = text(get_field(recorded, "thread_id"), "trace.threadId")
    spans = listing(get_field(recorded, "llm_spans"), "trace.llmSpans")
    models = [text(dict_or_empty(span).get("model"), "trace.llmSpans.model") for span in spans]
    trace.model = next((model for model in models if model), None)


def _add_figures(trace: Trace, case: dict[str, Any]) -> None:
    """Adds cost and latency of the agent, not those of the metrics (`evaluationCost`, `runDuration`)."""
    set_cost(trace, get_field(case, "token_cost"), "tokenCost")
    trace.latency = read_latency_seconds(get_field(case, "completion_time"), "completionTime")
    recorded = mapping(case.get("trace"), "trace")
    if recorded:
        trace.started_at, trace.ended_at = TIMES.read(recorded, "trace").values()
        took = milliseconds_between(trace.started_at, trace.ended_at)
        if trace.latency["total_ms"] is None and took is not None:
            trace.latency = {"total_ms": took, "source": "span"}
    if recorded.get("status") == "ERRORED":
        trace.status = "error"
        trace.error = {"type": None, "message": text(recorded.get("error"), "trace.error")}


CASE_FIELDS = in_both_spellings(
    words("""
        input actual_output expected_output context turns trace retrieval_context tools_called expected_tools tags
        images_mapping metrics_data metadata comments additional_metadata expectations_data expectations classifications
        scenario user_description expected_outcome custom_column_key_values
    """)
)
TURN_FIELDS = in_both_spellings(words("content tools_called retrieval_context metadata comments additional_metadata"))
TOOL_KEYS = in_both_spellings(words("input_parameters output description reasoning"))
WITHOUT_CALLS = in_both_spellings(
    words("""
        expected_tools metrics_data expectations_data expectations classifications additional_metadata available_tools
        prompt images_mapping
    """)
)


SPAN_FIELDS = in_both_spellings(
    words("""
        input output metadata error context retrieval_context tools_called expected_tools available_tools agent_handoffs
        prompt token_intervals metrics metrics_data llm_test_case
    """)
)
SHAPES = (
    Shape((), CASE_FIELDS | in_both_spellings(SPANS) | {"output", "attachments"}),
    Shape(("turns", EACH), TURN_FIELDS | {"mcp_tools_called"}),
    *(Shape((key, EACH), TOOL_KEYS) for key in ("toolsCalled", "tools_called")),
    *(Shape((key, EACH), SPAN_FIELDS) for key in in_both_spellings(SPANS)),
)
READER = Reader(build=build, identify=identify, split=split, shapes=SHAPES, without_calls=WITHOUT_CALLS)
