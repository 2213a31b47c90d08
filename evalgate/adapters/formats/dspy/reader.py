"""Reads the history of `dspy.LM`: model calls whose tool calls may be written in the text of the answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.builder.run import open_record, set_cost, set_final_response
from evalgate.adapters.formats.core.builder.side_fields import find_scenario_id, find_trial, identify_by_side_fields
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    dict_or_empty,
    do_each,
    listing,
    mapping,
    prefix_errors,
    text,
    time,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, words
from evalgate.adapters.formats.core.usage import read_provider_usage, split_provider_and_model, sum_call_costs
from evalgate.adapters.formats.dspy import HISTORY, is_entry, is_history
from evalgate.adapters.formats.messages import roles
from evalgate.adapters.formats.messages.blocks import check_arguments
from evalgate.adapters.formats.messages.kept_elsewhere import note_earlier
from evalgate.adapters.formats.messages.known_fields import PART_FIELDS, ROLE_FIELDS
from evalgate.adapters.formats.messages.logged_calls import LoggedCall, build_conversation
from evalgate.adapters.formats.messages.roles import read_request
from evalgate.adapters.formats.messages.sniff_messages import sniff_messages
from evalgate.measures.values.json_values import decode_json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

HEADER = re.compile(r"^\[\[ ## (\w+) ## \]\]", re.MULTILINE)
XML_FIELD = re.compile(r"<(\w+)>\s*(.*?)\s*</\1>", re.DOTALL)
FENCE = re.compile(r"^```(?:json)?\s*(.*?)\s*```$", re.DOTALL)
MAX_TEXT = 200_000
NEXT_TOOL, NEXT_ARGUMENTS = "next_tool_name", "next_tool_args"
FINISH = "finish"
"""The tool that ReAct adds to those of the agent: it ends the run and does nothing else."""
CODE = frozenset({"generated_code", "code"})
CALLS = "tool_calls"
ACTION = ("tool_name", "tool_input_query")


def parse_fields(text: str) -> dict[str, Any]:
    """The fields of a text by name, as `ChatAdapter`, `JSONAdapter` or `XMLAdapter` write them; else empty."""
    headers = list(HEADER.finditer(text[:MAX_TEXT]))
    if headers:
        ends = [header.start() for header in headers[1:]] + [len(text)]
        return {header[1]: text[header.end() : end].strip() for header, end in zip(headers, ends, strict=True)}
    decoded = decode_json(text)
    if isinstance(decoded, dict):
        return decoded
    return {found[1]: found[2] for found in XML_FIELD.finditer(text[:MAX_TEXT])}


def decode_json(value: Any) -> Any:
    """The value of JSON text, which may be fenced as code; other values as they are."""
    fenced = FENCE.match(value.strip()) if type(value) is str else None
    decoded = decode_json_text(value if fenced is None else fenced[1])
    return value if type(decoded) is str else decoded


def read_field_calls(fields: dict[str, Any]) -> list[ToolRequest]:
    """The calls that the fields of an answer request; raises FieldError for one that can't be read."""
    calls = []
    name = fields.get(NEXT_TOOL)
    if type(name) is str and name and name != FINISH:
        calls.append(ToolRequest(None, name, check_arguments(decode_json(fields.get(NEXT_ARGUMENTS)), NEXT_ARGUMENTS)))
    for key, value in fields.items():
        if key not in (NEXT_TOOL, NEXT_ARGUMENTS):
            calls += _read_value_calls(key, decode_json(value))
    return calls


def _read_value_calls(key: str, value: Any) -> list[ToolRequest]:
    """The calls in the value of one field: a `dspy.ToolCalls`, or an action of `dspy.Avatar`."""
    if type(value) is dict and CALLS in value:
        value, key = value[CALLS], CALLS
    if type(value) is dict and all(part in value for part in ACTION):
        if type(value[ACTION[0]]) is not str:
            raise FieldError(f"{key}.{ACTION[0]}", "is not text")
        name, query = value[ACTION[0]], value[ACTION[1]]
        return [] if name.lower() == FINISH else [ToolRequest(None, name, {"query": query})]
    if key != CALLS or not value:
        return []
    if type(value) is not list:
        raise FieldError(key, "is not a list of calls")
    return [read_request(each) for each in value]


IN_CODE = "tools that generated code calls are not recorded in the history: record OpenTelemetry spans"
NOT_JSON = "is not an object: write the entries with `default=lambda value: value.model_dump()`"
NO_PROMPT = "the prompt of a model call is not recorded as messages"
FAILED = "Execution error in "
PROMPT_END = "\n\nRespond with "
"""What the adapters write after the last field of a prompt."""
NOT_ANSWERS = frozenset({"reasoning", "rationale", "completed", NEXT_TOOL, "next_tool_args", "next_thought"})


def split(documents: Any) -> Sequence[Any]:
    """Returns the runs of a file: each object with a `history`, else all entries of a scenario and trial."""
    runs: list[dict[str, Any]] = []
    bare: dict[Identity, dict[str, Any]] = {}
    for document in documents:
        for value in document if isinstance(document, list) else [document]:
            if is_history(value):
                runs.append(value)
                continue
            identity = identify_by_side_fields(value)
            if identity not in bare:
                bare[identity] = {HISTORY: []}
                runs.append(bare[identity])
            bare[identity][HISTORY].append(value)
    return runs


def identify(record: Any) -> Identity:
    """Scenario id and trial next to the history, else of its first entry."""
    found = identify_by_side_fields(record)
    entries = dict_or_empty(record).get(HISTORY)
    if found == (None, None) and isinstance(entries, list) and entries:
        return identify_by_side_fields(entries[0])
    return found


def build(record: Any) -> Trace:
    """Builds one run. The prompt of the first call is kept, and the answers of all."""
    document = open_record(record)
    entries = listing(document.get(HISTORY), HISTORY)
    calls: list[LoggedCall] = []
    do_each(entries, HISTORY, lambda entry: calls.append(_read_call(entry)))
    texts = [call.answer[-1].content if call.answer else None for call in calls]
    answers = [parse_fields(one) if one else {} for one in texts]
    for number, fields in enumerate(answers):
        _add_text_calls(calls, number, fields)
    chat = build_conversation(calls, is_one_thread=True)
    found = {key: value for key, value in document.items() if key != HISTORY}
    if find_scenario_id(found) is None and entries:
        found["scenario_id"], found["trial"] = find_scenario_id(entries[0]), find_trial(entries[0])
    trace = chat.build_trace(found, "dspy")
    if trace.cost["usd"] is None and document.get("cost") is None:
        set_cost(trace, sum_call_costs(trace.llm_calls), "cost")
    times = [time(entry.get("timestamp"), "timestamp") for entry in entries]
    trace.ended_at = times[-1] if times else None
    note_earlier(trace, ((None, [entry.get("kwargs"), entry.get("response")]) for entry in entries))
    _add_answer(trace, answers[-1])
    if any(fields.get(key) for fields in answers for key in CODE):
        add_gap(trace, "calls", IN_CODE)
    if any(not call.request for call in calls):
        add_gap(trace, "messages", NO_PROMPT)
    return trace


def _read_call(entry: dict[str, Any]) -> LoggedCall:
    if not is_entry(entry):
        raise FieldError("", "is not an entry of a history")
    provider, model = split_provider_and_model(entry.get("model"))
    usage = read_provider_usage(entry.get("usage"), "usage")  # an answer from the cache has none, or zeros
    answer = _read_outputs(entry)
    for message in answer[:1]:
        message.model = text(entry.get("response_model"), "response_model") or model
    return LoggedCall(
        _read_request(entry),
        answer,
        usage if usage["input_tokens"] or usage["output_tokens"] else None,
        amount(entry.get("cost"), "cost"),
        provider,
        text(entry.get("response_model"), "response_model") or model,
    )


def _read_request(entry: dict[str, Any]) -> list[RawMessage]:
    prompt = text(entry.get("prompt"), "prompt")
    if entry.get("messages") is None:
        return [RawMessage("user", prompt)] if prompt else []
    with prefix_errors("messages"):
        return roles.read_messages(listing(entry["messages"], ""))


def _read_outputs(entry: dict[str, Any]) -> list[RawMessage]:
    """The answer: its first text, and the calls of every completion. Typed requests have a response instead."""
    outputs = entry["outputs"]
    if not isinstance(outputs, list):
        found = sniff_messages(outputs)
        if found is None:
            raise FieldError("outputs", "is not a list")
        return found
    message = RawMessage("assistant")
    for number, output in enumerate(outputs):
        with prefix_errors("outputs", number):
            _add_output(message, output, is_first=number == 0)
    return [message]


def _add_output(message: RawMessage, output: Any, *, is_first: bool) -> None:
    if output is None or isinstance(output, str):
        message.content = output if is_first else message.content
        return
    fields = mapping(output, "")
    if is_first:
        message.content = text(fields.get("text"), "text")
        message.reasoning = text(fields.get("reasoning_content"), "reasoning_content")
    for number, call in enumerate(listing(fields.get("tool_calls"), "tool_calls")):
        if not isinstance(call, dict):
            raise FieldError(f"tool_calls[{number}]", NOT_JSON)
        with prefix_errors("tool_calls", number):
            message.calls.append(roles.read_request(call))


def _add_text_calls(calls: list[LoggedCall], number: int, fields: dict[str, Any]) -> None:
    """Adds the calls in the text of an answer, and the result that a later prompt of the same agent holds."""
    with prefix_errors(f"{HISTORY}[{number}].outputs[0]"):
        found = read_field_calls(fields)
    if not found:
        return
    message = calls[number].answer[-1]
    first = f"{HISTORY}-{number + 1}"
    message.calls += [ToolRequest(f"{first}-{index}", call.name, call.arguments) for index, call in enumerate(found)]
    tool = fields.get(NEXT_TOOL)
    if len(found) == 1 and tool == found[0].name != FINISH:
        observed = _find_observation(calls[number], calls[number + 1 :], found[0].name)
        if observed is not None:
            result = ToolResult(f"{first}-0", found[0].name, observed, observed.startswith(FAILED))
            calls[number].answer.append(RawMessage("tool", answers=[result]))


def _find_observation(call: LoggedCall, later: Sequence[LoggedCall], tool: str) -> str | None:
    """What the tool returned: the observation of this step in the trajectory of the next prompt."""
    step = sum(name.startswith("tool_name_") for name in _read_prompt_fields(call))
    for each in later:
        fields = _read_prompt_fields(each)
        if fields.get(f"tool_name_{step}") == tool:
            found = fields.get(f"observation_{step}")
            return found.rpartition(PROMPT_END)[0] or found if isinstance(found, str) else None
    return None


def _read_prompt_fields(call: LoggedCall) -> dict[str, Any]:
    users = [message.content for message in call.request if message.role == "user" and message.content]
    return parse_fields(users[-1]) if users else {}


def _add_answer(trace: Trace, fields: dict[str, Any]) -> None:
    """Makes the only output field of the last answer the final response, without the adapter's markers."""
    answers = [value for name, value in fields.items() if name not in NOT_ANSWERS]
    last = trace.messages[-1] if trace.messages else None
    if len(answers) == 1 and isinstance(answers[0], str) and last is not None and last["role"] == "assistant":
        set_final_response(trace, answers[0], last)


ENTRY_FIELDS = words("""
    messages kwargs outputs usage response prompt metadata cost_details request adaptations
""")
OUTPUT_FIELDS = frozenset({"text", "reasoning_content", "tool_calls", "logprobs", "citations"})
SHAPES = (
    Shape((HISTORY, EACH), ENTRY_FIELDS),
    Shape((HISTORY, EACH, "messages", EACH), ROLE_FIELDS),
    Shape((HISTORY, EACH, "messages", EACH, "content", EACH), PART_FIELDS),
    Shape((HISTORY, EACH, "outputs", EACH), OUTPUT_FIELDS),
)
READER = Reader(
    build=build,
    identify=identify,
    split=split,
    shapes=SHAPES,
    without_calls=frozenset({"kwargs", "request"}),
    not_tools=frozenset({FINISH, FINISH.title()}),
)
