"""Reads OpenHands: a list of events, or a line of `output.jsonl` with history, metrics and result."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.builder.conversation import get_instructions
from evalgate.adapters.formats.core.builder.llm_calls import add_failed_call, find_litellm_error
from evalgate.adapters.formats.core.builder.run_end import mark_incomplete, set_final_response, warn_of_missing_results
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    identifier,
    listing,
    mapping,
    milliseconds_between,
    text,
    time,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, build_identity
from evalgate.adapters.formats.core.strict_json import make_printable, require_shallow
from evalgate.adapters.formats.core.usage.totals import is_known, sum_call_usages
from evalgate.adapters.formats.core.usage.usage_fields import (
    build_score,
    read_cost_usd,
    read_provider_usage,
    split_provider_and_model,
)
from evalgate.adapters.formats.openhands.events import FINISH, OpenHandsEvents
from evalgate.models.trace.trace import Trace, Warning_

MAX_DEVIATION = 0.01
"""The allowed relative difference between a total and the sum of its parts."""


def build(record: Any) -> Trace:
    """Builds one run. If several events repeat a model response, its text and usage count once."""
    require_shallow(record)
    is_bare = isinstance(record, list)
    document = {"history": record} if is_bare else mapping(record, "")
    events, history = OpenHandsEvents(), listing(document.get("history"), "history")
    if not is_bare:
        _add_task(events, document, history)
    events.add_all(history, "" if is_bare else "history")
    conversation = events.conversation
    failure = find_litellm_error(text(document.get("error"), "error") or events.error)
    if not conversation.messages and failure is None:
        raise FieldError("history", "contains no message and no action")
    trace = Trace(
        "",
        conversation.messages,
        conversation.calls,
        conversation.get_response(),
        scenario_id=identifier(_find_scenario_id(document), "instance_id"),
        agent={"framework": "openhands"},
        system_instructions=get_instructions(conversation.messages),
        llm_calls=events.llm_calls,
        warnings=[*conversation.list_warnings(), *warn_of_missing_results(conversation.calls)],
    )
    if events.answer is not None:
        set_final_response(trace, *events.answer)
    _add_model(trace, document)
    _add_times(trace, history)
    _add_usage(trace, document, history, events.unmetered)
    _add_end(trace, events, document)
    if failure is not None:
        add_failed_call(trace, failure)
    return trace


def identify(record: Any) -> Identity:
    """The benchmark instance or the issue that the agent worked on."""
    return build_identity(_find_scenario_id(record) if isinstance(record, dict) else None, None)


def _find_scenario_id(document: dict[str, Any]) -> Any:
    issue = document.get("issue")
    if document.get("instance_id") is not None or not isinstance(issue, dict):
        return document.get("instance_id")
    owner, repo, number = (issue.get(name) for name in ("owner", "repo", "number"))
    known = isinstance(owner, str) and isinstance(repo, str) and type(number) is int
    return f"{owner}/{repo}#{number}" if known else None


def _add_task(events: OpenHandsEvents, document: dict[str, Any], history: list[Any]) -> None:
    """Adds the task if the history does not begin with it."""
    first = history[0] if history else None
    if isinstance(first, list):
        first = first[0] if first else None
    instruction = text(document.get("instruction"), "instruction")
    has_task = isinstance(first, dict) and first.get("action") in ("message", "system")
    if instruction and not has_task:
        events.conversation.add_message("user", instruction)


def _add_model(trace: Trace, document: dict[str, Any]) -> None:
    metadata = mapping(document.get("metadata"), "metadata")
    config = mapping(metadata.get("llm_config"), "metadata.llm_config")
    trace.provider, trace.model = split_provider_and_model(text(config.get("model"), "metadata.llm_config.model"))
    if trace.model is None and trace.llm_calls:
        trace.provider, trace.model = split_provider_and_model(trace.llm_calls[-1]["model"])


def _add_times(trace: Trace, history: list[Any]) -> None:
    """Adds the times of the first and last event; some versions record no times."""
    times = [
        moment for event in history if isinstance(event, dict) and (moment := time(event.get("timestamp"), "timestamp"))
    ]
    if times:
        trace.started_at, trace.ended_at = times[0], times[-1]
        took = milliseconds_between(times[0], times[-1])
        if took:
            trace.latency = {"total_ms": took, "source": "timestamps"}


def _add_usage(trace: Trace, document: dict[str, Any], history: list[Any], unmetered: int) -> None:
    trace.usage, about_usage = sum_call_usages(trace.llm_calls, unmetered)
    path = "metrics"
    metrics = mapping(document.get(path), path)
    for event in reversed(history):
        if not metrics and isinstance(event, dict) and event.get("llm_metrics") is not None:
            path = "llm_metrics"
            metrics = mapping(event[path], path)
    _add_counted_tokens(trace, metrics, path)
    trace.cost, warnings = read_cost_usd(metrics.get("accumulated_cost"), trace.usage, f"{path}.accumulated_cost")
    about_usage = [] if is_known(trace.usage) else about_usage
    trace.warnings += [*about_usage, *warnings, *_check_cost_sum(metrics, path)]


def _add_counted_tokens(trace: Trace, metrics: dict[str, Any], path: str) -> None:
    counted = metrics.get("accumulated_token_usage")
    if counted is not None:
        total = read_provider_usage(counted, f"{path}.accumulated_token_usage")
        if total["input_tokens"] or total["output_tokens"]:
            trace.usage = total


def _check_cost_sum(metrics: dict[str, Any], path: str) -> list[Warning_]:
    total = amount(metrics.get("accumulated_cost"), f"{path}.accumulated_cost")
    costs = []
    for number, value in enumerate(listing(metrics.get("costs"), f"{path}.costs")):
        cost = value.get("cost") if isinstance(value, dict) else value
        costs.append(amount(cost, f"{path}.costs[{number}]") or 0.0)
    if not costs or total is None or abs(sum(costs) - total) <= MAX_DEVIATION * max(total, sum(costs)):
        return []
    message = f"the recorded cost {total:g} is not the sum {sum(costs):g} of its parts"
    return [{"code": "total_mismatch", "message": message, "where": f"{path}.costs"}]


def _add_end(trace: Trace, events: OpenHandsEvents, document: dict[str, Any]) -> None:
    success = document.get("success")
    if isinstance(success, bool):
        trace.evaluations.append(build_score("success", float(success), "success"))
    error = text(document.get("error"), "error") or events.error
    if error:
        trace.status, trace.error = "error", {"type": None, "message": error}
    elif any(call["name"] == FINISH for call in trace.tool_calls[-1:]):
        trace.finish_reason = "stop"
    elif trace.tool_calls and trace.messages[-1]["role"] != "assistant":
        mark_incomplete(trace, f"the history ends with a result of `{make_printable(trace.tool_calls[-1]['name'])}`")
    elif trace.tool_calls and trace.tool_calls[-1]["status"] == "missing":
        mark_incomplete(trace, f"the history ends with a call of `{make_printable(trace.tool_calls[-1]['name'])}`")


NOT_TOOLS = frozenset({"message", "system", "think", "finish", "recall", "change_agent_state", "condensation", "null"})
EVENT_FIELDS = frozenset(
    {
        *("args", "extras", "tool_call_metadata", "llm_metrics", "metadata", "outputs", "inputs"),
        *("content", "message", "thought", "action", "observation", "final_thought"),
    }
)
SHAPES = (Shape(("history", EACH), EVENT_FIELDS), Shape(("history", EACH, EACH), EVENT_FIELDS))
READER = Reader(build=build, identify=identify, not_tools=NOT_TOOLS, shapes=SHAPES)
