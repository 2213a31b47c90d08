"""Reads what people record next to the messages or in the metadata: ids, model, cost, scores, tools, calls."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import (
    Conversation,
    build_call,
    mark_failed,
)
from evalgate.adapters.formats.core.fields import (
    END_FIELDS,
    amount,
    count,
    dict_or_empty,
    identifier,
    listing,
    mapping,
    required_text,
    text,
    whole_number,
)
from evalgate.adapters.formats.core.format import Identity, build_identity, words
from evalgate.adapters.formats.core.strict_json import encode_text
from evalgate.adapters.formats.core.usage import distrust_cost, read_cost_usd, read_latency_seconds, read_scores
from evalgate.models.trace.trace import AGENT_COMMAND

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Cost, Latency, ModelError, ToolCall, Trace, Usage, Warning_

SCENARIO_KEY = "evalgate.scenario.id"
TRIAL_KEY = "evalgate.trial"
STATE_KEY = "evalgate.state"
SCENARIO_KEYS = (SCENARIO_KEY, "scenario_id")
TRIAL_KEYS = (TRIAL_KEY,)
RECORDER_PREFIXES = ("ls_", "__", "langgraph_", "LANGSMITH_", "LANGCHAIN_", "checkpoint_ns", "thread_ts")


def set_scenario_and_trial(trace: Trace, metadata: dict[str, Any], *data_set_keys: str) -> None:
    """Sets scenario id and trial from the metadata; raises FieldError if they are invalid.

    `data_set_keys` name the example of a data set; they are used if no scenario key is set.
    """
    for key in (*SCENARIO_KEYS, *data_set_keys):
        if metadata.get(key) is not None and trace.scenario_id is None:
            trace.scenario_id = identifier(metadata[key], f"metadata.{key}")
    for key in TRIAL_KEYS:
        if metadata.get(key) is not None and trace.trial is None:
            trace.trial = whole_number(parse_digits(metadata[key]), f"metadata.{key}")


def identify_by_metadata(metadata: Any, *data_set_keys: str) -> Identity:
    """Scenario id and trial of a damaged record; never raises."""
    if not isinstance(metadata, dict):
        return None, None
    scenario_ids = [metadata[key] for key in (*SCENARIO_KEYS, *data_set_keys) if metadata.get(key) is not None]
    trials = [metadata[key] for key in TRIAL_KEYS if metadata.get(key) is not None]
    return build_identity(scenario_ids[0] if scenario_ids else None, parse_digits(trials[0]) if trials else None)


def drop_recorder_keys(metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata without the keys that LangChain and LangSmith add by themselves."""
    return {key: value for key, value in metadata.items() if not key.startswith(RECORDER_PREFIXES)}


def parse_digits(value: Any) -> Any:
    """A number written as digits (some platforms keep metadata as text only), else the value itself."""
    is_digits = type(value) is str and value.isascii() and value.isdigit() and len(value) < len("1000000000")
    return int(value) if is_digits else value


COMMIT, AGENT_HASH = "evalgate.commit", "evalgate.agent_hash"
ORIGIN_KEYS = (COMMIT, AGENT_HASH, AGENT_COMMAND)
MAX_LENGTH = 512


def set_origin(trace: Trace) -> None:
    """Sets commit and agent hash from the metadata, unless the format's own fields have set them."""
    trace.commit = trace.commit or _text_or_none(trace.metadata.get(COMMIT))
    trace.agent_hash = trace.agent_hash or _text_or_none(trace.metadata.get(AGENT_HASH))


def _text_or_none(value: Any) -> str | None:
    return value if type(value) is str and 0 < len(value) <= MAX_LENGTH else None


def add_side_fields(trace: Trace, fields: dict[str, Any]) -> None:
    """Sets the recorded fields on the trace; raises FieldError. Set usage before: reading cost needs it."""
    trace.trace_id = text(fields.get("id"), "id") or trace.trace_id
    trace.model = text(fields.get("model"), "model") or trace.model
    trace.provider = text(fields.get("provider"), "provider") or trace.provider
    trace.metadata = mapping(fields.get("metadata"), "metadata") or trace.metadata
    trace.scenario_id = identifier(find_scenario_id(fields), "scenario_id")
    trace.trial = count(find_trial(fields), "trial")
    trace.tool_definitions = read_tool_definitions(fields.get("tools"))
    trace.evaluations = read_scores(fields.get("scores"), "scores")
    trace.latency = read_latency_fields(fields)
    cost, warnings = read_cost_fields(fields, trace.usage)
    trace.cost = cost
    trace.warnings += warnings
    part = dict_or_empty(fields.get("usage")).get("cost")
    if isinstance(part, int | float):
        distrust_cost(trace, [part], "usage.cost")
    failed = find_failed_response(fields)
    if failed is not None or not END_FIELDS.isdisjoint(fields):
        from evalgate.adapters.formats.core.builder.run_end import add_recorded_end  # few runs need it

        add_recorded_end(trace, fields, failed)


def find_failed_response(fields: dict[str, Any]) -> ModelError | None:
    """The error that a provider returned in place of an answer; OpenAI's Responses API has one for every answer."""
    response = dict_or_empty(fields.get("response"))
    error = response.get("error") or response.get("Error")
    if not isinstance(error, dict) or response.get("object") == "response":
        return None
    about = {key.lower(): each for key, each in error.items()}
    code, names = about.get("code"), ("type", "status", "code")
    return {
        "type": next((about[key] for key in names if isinstance(about.get(key), str)), None),
        "message": message if isinstance(message := about.get("message"), str) else None,
        "status_code": code if type(code) is int else None,
    }


SIDE_FIELDS = words("""
    id model provider metadata scenario_id trial tools scores cost cost_usd latency_ms latency_seconds
""").union(END_FIELDS)


def select_side_fields(document: dict[str, Any]) -> dict[str, Any]:
    """The side fields of a document that has a value for them."""
    return {key: document[key] for key in SIDE_FIELDS if document.get(key) is not None}


def identify_by_side_fields(record: Any) -> Identity:
    """Scenario id and trial recorded next to the messages."""
    if not isinstance(record, dict):
        return None, None
    return build_identity(find_scenario_id(record), find_trial(record))


def find_scenario_id(fields: dict[str, Any]) -> Any:
    """The recorded scenario id, from the metadata or the field."""
    return _find_id(fields, SCENARIO_KEY, "scenario_id")


def find_trial(fields: dict[str, Any]) -> Any:
    """The recorded trial, from the metadata or the field."""
    return _find_id(fields, TRIAL_KEY, "trial")


def read_cost_fields(fields: dict[str, Any], usage: Usage) -> tuple[Cost, list[Warning_]]:
    """The recorded cost, and warnings about it."""
    key = "cost_usd" if fields.get("cost_usd") is not None else "cost"
    value = fields.get(key)
    if isinstance(value, dict):
        key, value = "cost.usd", value.get("usd")
    return read_cost_usd(value, usage, key)


def read_latency_fields(fields: dict[str, Any]) -> Latency:
    """Reads only keys that name their unit: the unit of a bare `latency` is unknown."""
    if fields.get("latency_ms") is not None:
        return {"total_ms": amount(fields["latency_ms"], "latency_ms"), "source": "recorded"}
    return read_latency_seconds(fields.get("latency_seconds"), "latency_seconds")


def read_tool_definitions(value: Any, path: str = "tools") -> list[dict[str, Any]]:
    """Tool definitions, without the `function` wrapper that some recorders add."""
    found = []
    for number, tool in enumerate(listing(value, path)):
        outer = mapping(tool, f"{path}[{number}]")
        inner = mapping(outer.get("function", outer), f"{path}[{number}].function")
        definition: dict[str, Any] = {key: inner[key] for key in ("name", "description", "parameters") if key in inner}
        if "parameters" not in definition and inner.get("input_schema") is not None:
            definition["parameters"] = inner["input_schema"]
        found.append(definition)
    return found


def _find_id(fields: dict[str, Any], metadata_key: str, field_key: str) -> Any:
    metadata = fields.get("metadata")
    value = metadata.get(metadata_key) if isinstance(metadata, dict) else None
    return fields.get(field_key) if value is None else value


def add_listed_calls(conversation: Conversation, listed: list[Any], path: str) -> None:
    """Joins each listed call with a call in the messages: by id, else the next with its name.

    A call that is in no message is added.
    """
    message_calls = _MessageCalls(conversation.calls)
    for number, value in enumerate(listed):
        item_path = f"{path}[{number}]"
        recorded = mapping(value, item_path)
        name = required_text(recorded.get("name"), f"{item_path}.name")
        call = message_calls.take(text(recorded.get("id"), f"{item_path}.id"), name)
        add_call_details(call or _add_unmatched_call(conversation, recorded, item_path), recorded, item_path)


class _MessageCalls:
    """The calls in the messages; each can be taken once."""

    def __init__(self, calls: list[ToolCall]) -> None:
        self._by_id: dict[str, deque[ToolCall]] = {}
        self._by_name: dict[str, deque[ToolCall]] = {}
        self._taken: set[int] = set()
        for call in calls:
            self._by_name.setdefault(call["name"], deque()).append(call)
            if call["id"] is not None:
                self._by_id.setdefault(call["id"], deque()).append(call)

    def take(self, call_id: str | None, name: str) -> ToolCall | None:
        """The next call with this id, else with this name."""
        return self._take_next(self._by_id, call_id) or self._take_next(self._by_name, name)

    def _take_next(self, queues: dict[str, deque[ToolCall]], key: str | None) -> ToolCall | None:
        queue = queues.get(key, deque()) if key else deque()
        while queue:
            call = queue.popleft()
            if call["index"] not in self._taken:
                self._taken.add(call["index"])
                return call
        return None


def _add_unmatched_call(conversation: Conversation, recorded: dict[str, Any], path: str) -> ToolCall:
    call = build_call(
        required_text(recorded.get("name"), f"{path}.name"),
        recorded.get("arguments"),
        text(recorded.get("id"), f"{path}.id"),
        count(recorded.get("turn"), f"{path}.turn") or 0,
        count(recorded.get("step"), f"{path}.step") or len(conversation.calls) + 1,
    )
    call["index"] = len(conversation.calls)
    conversation.calls.append(call)
    return call


def add_call_details(call: ToolCall, recorded: dict[str, Any], path: str) -> None:
    """Sets a call's recorded result, status, error, exit code, duration and requestor."""
    result = recorded.get("result")
    if result is not None:
        call["result"] = result
        call["result_text"] = encode_text(result)
    status, error = recorded.get("status"), recorded.get("error")
    if status == "error" or error:
        mark_failed(call)
    elif status == "ok" and call["status"] in ("missing", "unknown"):
        call["status"] = "ok"
    elif result is not None and call["status"] == "missing":
        call["status"] = "unknown"
    if isinstance(error, dict):
        kind, message = text(error.get("type"), f"{path}.error.type"), error.get("message")
        call["error"] = {"type": kind, "message": text(message, f"{path}.error.message")}
    elif error:
        call["error"] = {"type": None, "message": text(error, f"{path}.error")}
    code = whole_number(recorded.get("exit_code"), f"{path}.exit_code")
    call["exit_code"] = call["exit_code"] if code is None else code
    took = amount(recorded.get("duration_ms"), f"{path}.duration_ms")
    call["duration_ms"] = call["duration_ms"] if took is None else took
    if recorded.get("requestor") == "user":
        call["requestor"] = "user"
