"""Reads the events of an Inspect sample: the agent's model calls, tool runs and working time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.adapters.formats.core.builder.run import BLANK_LLM_CALL, measure_between, set_cost
from evalgate.adapters.formats.core.fields import (
    FieldTable,
    amount,
    any_value,
    filled_text,
    first_entry,
    flag,
    listing,
    mapping,
    milliseconds_between,
    number,
    objects,
    prefix_errors,
    read_at,
    text,
    time,
)
from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.adapters.formats.core.usage import (
    TokenTable,
    finish_reason,
    is_known,
    split_provider_and_model,
    sum_call_costs,
    sum_call_usages,
    sum_usages,
    to_milliseconds,
    warn_of_mismatch,
)
from evalgate.models.trace.trace import Usage, unknown_usage

if TYPE_CHECKING:
    from evalgate.adapters.formats.inspect_ai.sample_messages import SampleMessages
    from evalgate.models.trace.trace import LlmCall, Trace

OTHER_ROLES = frozenset({"grader", "judge", "scorer", "user"})
"""Roles of models that judge or play the user."""
STATES = ("state", "store")
"""Events of what changed in the sample, which holds itself what it became."""


class InspectModelCall(Struct):
    """One request to a model with its usage; `message_id` is the id of its answer."""

    model: str | None
    role: str | None
    usage: Usage | None
    cost: float | None
    error: Any
    cache: Any
    pending: bool | None
    seconds: float | None
    tools: list[dict[str, Any]]
    message_id: str | None
    stop_reason: str | None

    @property
    def was_sent(self) -> bool:
        """False for an answer from the cache, or one that is pending."""
        return self.cache != "read" and not self.pending


class InspectEvents:
    """The events of one sample. `other_calls` are model calls of scorers, judges and simulated users.

    `of_agent` are the events that are of none of these, without changes of state. `failure` is the agent's last model
    call if it failed.
    """

    def __init__(self, events: list[Any]) -> None:
        self.own_calls: list[InspectModelCall] = []
        self.other_calls: list[InspectModelCall] = []
        self.of_agent: list[dict[str, Any]] = []
        self.failure: InspectModelCall | None = None
        self.tools: dict[str, dict[str, Any] | None] = {}
        self.tool_runs: list[dict[str, Any]] = []
        self.first_time: str | None = None
        self.last_time: str | None = None
        self.worked_seconds: float | None = None
        self._scoring_spans: set[str] = set()
        self._scoring_steps = 0
        for position, value in enumerate(events):
            self._add(mapping(value, f"events[{position}]"))

    def _add(self, event: dict[str, Any]) -> None:
        kind = event.get("event")
        is_scoring = self._is_scoring(kind, event)
        when = time(event.get("timestamp"), "events.timestamp")
        self.first_time = self.first_time or when
        if not is_scoring:
            self.last_time = when or self.last_time
            worked = number(event.get("working_start"), "events.working_start")
            self.worked_seconds = self.worked_seconds if worked is None else worked
        if not is_scoring and kind not in STATES and not (kind == "model" and event.get("role") in OTHER_ROLES):
            self.of_agent.append(event)
        if kind == "model":
            self._add_model_call(_read_model_call(event), is_own=not is_scoring)
        elif kind == "tool" and isinstance(event.get("id"), str):
            is_repeated = event["id"] in self.tools
            self.tools[event["id"]] = None if is_repeated else event
            if not is_scoring:
                self._add_tool_run(event)

    def _add_model_call(self, call: InspectModelCall, *, is_own: bool) -> None:
        """Adds a request that was sent; one that failed is kept until another answers."""
        is_own = is_own and call.role not in OTHER_ROLES
        is_failure = call.error is not None and call.usage is None
        if call.was_sent and is_own:
            self.failure = call if is_failure else None
        if call.was_sent and not is_failure:
            (self.own_calls if is_own else self.other_calls).append(call)

    def _add_tool_run(self, event: dict[str, Any]) -> None:
        """Adds a tool run and, in early logs, the runs of tools that it used itself."""
        inner_events = listing(event.get("events"), "events.events")
        self.tool_runs.append({**event, "events": None})
        for value in inner_events:
            inner_event = mapping(value, "events.events")
            if inner_event.get("event") == "tool" and isinstance(inner_event.get("id"), str):
                self._add_tool_run(inner_event)

    def _is_scoring(self, kind: Any, event: dict[str, Any]) -> bool:
        """True for events inside a scorer's span, or between begin and end of a scoring step."""
        is_scorer = event.get("type") == "scorer" or event.get("name") == "scorers"
        if kind == "step" and is_scorer:
            self._scoring_steps += 1 if event.get("action") == "begin" else -1
            return True
        span, above = event.get("span_id"), event.get("parent_id")
        if kind == "span_begin" and isinstance(event.get("id"), str):
            if is_scorer or (isinstance(above, str) and above in self._scoring_spans):
                self._scoring_spans.add(event["id"])
            span = event["id"]
        is_within = isinstance(span, str) and span in self._scoring_spans
        return is_within or self._scoring_steps > 0 or kind == "score"


def read_duration_ms(event: dict[str, Any]) -> float | None:
    """How long a tool ran, in milliseconds."""
    seconds = amount(event.get("working_time"), "events.working_time")
    if seconds is not None:
        return to_milliseconds(seconds)
    started = time(event.get("timestamp"), "events.timestamp")
    return milliseconds_between(started, time(event.get("completed"), "events.completed"))


USAGE = TokenTable(
    "inspect",
    input_tokens="input_tokens",
    output_tokens="output_tokens",
    total_tokens="total_tokens",
    cache_read_input_tokens="input_tokens_cache_read",
    cache_write_input_tokens="input_tokens_cache_write",
    reasoning_output_tokens="reasoning_tokens",
)


def read_usage(value: Any, path: str) -> Usage | None:
    """Usage as Inspect writes it; None if it counts neither input nor output."""
    counted = mapping(value, path)
    is_known = counted.get("input_tokens") is not None or counted.get("output_tokens") is not None
    return USAGE.read(counted, path) if is_known else None


CHOICE = FieldTable(message_id=(text, "message.id"), stop_reason=text)
MODEL_CALL = FieldTable(
    model=filled_text,
    role=text,
    usage=(read_usage, "output.usage"),
    cost=(amount, "output.usage.total_cost"),
    error=any_value,
    cache=any_value,
    pending=flag,
    seconds=(amount, "working_time", "output.time"),
    tools=objects,
)


def _read_model_call(event: dict[str, Any]) -> InspectModelCall:
    choice = first_entry(read_at(event, "output.choices", listing), "output.choices")
    return InspectModelCall(**MODEL_CALL.read(event), **CHOICE.read(choice, "output.choices[0]"))


SLACK_SECONDS = 1.0


def llm_calls(events: InspectEvents, chat: SampleMessages) -> list[LlmCall]:
    """The agent's own model calls."""
    last = chat.conversation.messages[-1]["turn"] if chat.conversation.messages else 0
    calls: list[LlmCall] = []
    for index, call in enumerate(events.own_calls):
        provider, model = split_provider_and_model(call.model)
        unplaced = (last, min(index + 1, chat.conversation.step))
        turn, step = chat.positions_by_id.get(call.message_id or "", unplaced)
        calls.append(
            {
                **BLANK_LLM_CALL,
                "index": index,
                "turn": turn,
                "step": step,
                "provider": provider,
                "model": model,
                "usage": call.usage,
                "cost_usd": call.cost,
                "duration_ms": None if call.seconds is None else to_milliseconds(call.seconds),
                "finish_reason": finish_reason(call.stop_reason),
            }
        )
    return calls


def measure(trace: Trace, sample: dict[str, Any], events: InspectEvents, model: str | None) -> None:
    """Adds tokens, cost and latency from the sample and its events to the trace."""
    by_model = mapping(sample.get("model_usage"), "model_usage")
    usage, usd = _sum_models(by_model, model, use_all=bool(events.own_calls))
    steps, warnings = sum_call_usages(trace.llm_calls)
    if events.other_calls and is_known(steps):
        judged = [call.usage for call in events.other_calls if call.usage is not None]
        warnings += warn_of_mismatch(usage, sum_usages([steps, *judged]), "model_usage")
        usage, usd = steps, sum_call_costs(trace.llm_calls)
    elif is_known(usage) or ("doubt" in usage and not is_known(steps)):
        warnings = warn_of_mismatch(usage, steps, "model_usage")
    else:
        usage, usd = steps, sum_call_costs(trace.llm_calls)
    trace.usage = usage
    trace.warnings += warnings
    set_cost(trace, usd, "model_usage.total_cost")
    _add_latency(trace, sample, events)


def _sum_models(by_model: dict[str, Any], model: str | None, *, use_all: bool) -> tuple[Usage, float | None]:
    """Totals of all models, or only of the agent's model if the others may be judges."""
    names = list(by_model) if use_all or model is None or model not in by_model else [model]
    usages, costs = [], []
    for name in names:
        with prefix_errors("model_usage", name):
            usage = read_usage(by_model[name], "") or unknown_usage()
            costs.append(amount(mapping(by_model[name], "").get("total_cost"), "total_cost"))
        if "doubt" in usage:
            usage["doubt"]["where"] = f"model_usage.{make_printable(name)}"
        usages.append(usage)
    total = sum_usages(usages)
    total["source"] = "recorded_total" if usages else "none"
    known = [cost for cost in costs if cost is not None]
    return total, sum(known) if known and len(known) == len(costs) else None


def _add_latency(trace: Trace, sample: dict[str, Any], events: InspectEvents) -> None:
    """Adds the agent's working time, without queueing and without scoring."""
    working = amount(sample.get("working_time"), "working_time")
    worked = events.worked_seconds
    if working is not None:
        is_plausible = worked is not None and 0 < worked <= working + SLACK_SECONDS
        seconds = worked if is_plausible and worked is not None else working
    else:
        total = amount(sample.get("total_time"), "total_time")
        seconds = -1.0 if total is None else total
    if seconds > 0:
        trace.latency = {"total_ms": to_milliseconds(seconds), "source": "recorded"}
        return
    latency = measure_between(events.first_time, events.last_time)
    if latency["total_ms"]:
        trace.latency = latency
