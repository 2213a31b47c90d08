"""Reads tokens, cost and latency of an Inspect sample: the agent's, without those of its judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import amount, mapping, milliseconds_between
from evalgate.adapters.formats.core.strict_json import shown
from evalgate.adapters.formats.core.usage.totals import cost_of_calls, is_known, mismatch, sum_of_calls
from evalgate.adapters.formats.core.usage.usage_fields import (
    finish_reason,
    milliseconds,
    provider_and_model,
    recorded_cost,
    summed,
)
from evalgate.adapters.formats.inspect_ai.events import cost_of, usage_of
from evalgate.models.trace.trace import unknown_usage

if TYPE_CHECKING:
    from evalgate.adapters.formats.inspect_ai.events import InspectEvents, InspectModelCall
    from evalgate.adapters.formats.inspect_ai.sample_messages import SampleMessages
    from evalgate.models.trace.trace import LlmCall, Trace, Usage

SLACK_SECONDS = 1.0


def llm_calls(events: InspectEvents, told: SampleMessages) -> list[LlmCall]:
    """The agent's own model calls."""
    return [_llm_call(number, call, told) for number, call in enumerate(events.own)]


def _llm_call(number: int, call: InspectModelCall, told: SampleMessages) -> LlmCall:
    provider, model = provider_and_model(call.model)
    last = told.conversation.messages[-1]["turn"] if told.conversation.messages else 0
    unplaced = (last, min(number + 1, told.conversation.step))
    turn, step = told.by_id.get(call.message_id or "", unplaced)
    return {
        "index": number,
        "turn": turn,
        "step": step,
        "provider": provider,
        "model": model,
        "response_id": None,
        "usage": call.usage,
        "cost_usd": call.cost,
        "duration_ms": call.duration_ms,
        "finish_reason": finish_reason(call.stop_reason),
    }


def measure(trace: Trace, sample: dict[str, Any], events: InspectEvents, model: str | None) -> None:
    """Adds tokens, cost and latency from the sample and its events to the trace."""
    by_model = mapping(sample.get("model_usage"), "model_usage")
    usage, usd = _recorded(by_model, model, is_alone=bool(events.own))
    steps, warnings = sum_of_calls(trace.llm_calls)
    if events.others and is_known(steps):
        judged = [call.usage for call in events.others if call.usage is not None]
        warnings += mismatch(usage, summed([steps, *judged]), "model_usage")
        usage, usd = steps, cost_of_calls(trace.llm_calls)
    elif is_known(usage):
        warnings = mismatch(usage, steps, "model_usage")
    else:
        usage, usd = steps, cost_of_calls(trace.llm_calls)
    trace.usage = usage
    trace.cost, about_cost = recorded_cost(usd, usage, "model_usage.total_cost")
    trace.warnings += warnings + about_cost
    _clock(trace, sample, events)


def _recorded(by_model: dict[str, Any], model: str | None, *, is_alone: bool) -> tuple[Usage, float | None]:
    """Totals of all models, or only of the agent's model if the others may be judges."""
    names = list(by_model) if is_alone or model not in by_model else [model]
    usages, costs = [], []
    for name in names:
        path = f"model_usage.{shown(name or '')}"
        usage = usage_of(by_model[name or ""], path)
        usages.append(unknown_usage() if usage is None else usage)
        costs.append(cost_of(by_model[name or ""], path))
    total = summed(usages)
    total["source"] = "recorded_total" if usages else "none"
    known = [cost for cost in costs if cost is not None]
    return total, sum(known) if known and len(known) == len(costs) else None


def _clock(trace: Trace, sample: dict[str, Any], events: InspectEvents) -> None:
    """Adds the agent's working time, without queueing and without scoring."""
    working = amount(sample.get("working_time"), "working_time")
    worked = events.worked_seconds
    if working is not None:
        is_told = worked is not None and 0 < worked <= working + SLACK_SECONDS
        seconds = worked if is_told and worked is not None else working
    else:
        total = amount(sample.get("total_time"), "total_time")
        seconds = -1.0 if total is None else total
    if seconds > 0:
        trace.latency = {"total_ms": milliseconds(seconds), "source": "recorded"}
        return
    between = milliseconds_between(events.first, events.last)
    if between:
        trace.latency = {"total_ms": between, "source": "timestamps"}
