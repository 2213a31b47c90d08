"""Reads tokens, cost and latency of an Inspect sample: the agent's, without those of its judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import amount, mapping, milliseconds_between
from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.adapters.formats.core.usage.totals import is_known, sum_call_costs, sum_call_usages, warn_of_mismatch
from evalgate.adapters.formats.core.usage.usage_fields import (
    finish_reason,
    read_cost_usd,
    split_provider_and_model,
    sum_usages,
    to_milliseconds,
)
from evalgate.adapters.formats.inspect_ai.events import read_cost, read_usage
from evalgate.models.trace.trace import unknown_usage

if TYPE_CHECKING:
    from evalgate.adapters.formats.inspect_ai.events import InspectEvents, InspectModelCall
    from evalgate.adapters.formats.inspect_ai.sample_messages import SampleMessages
    from evalgate.models.trace.trace import LlmCall, Trace, Usage

SLACK_SECONDS = 1.0


def llm_calls(events: InspectEvents, chat: SampleMessages) -> list[LlmCall]:
    """The agent's own model calls."""
    return [_build_llm_call(number, call, chat) for number, call in enumerate(events.own_calls)]


def _build_llm_call(number: int, call: InspectModelCall, chat: SampleMessages) -> LlmCall:
    provider, model = split_provider_and_model(call.model)
    last = chat.conversation.messages[-1]["turn"] if chat.conversation.messages else 0
    unplaced = (last, min(number + 1, chat.conversation.step))
    turn, step = chat.positions_by_id.get(call.message_id or "", unplaced)
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
    usage, usd = _sum_models(by_model, model, use_all=bool(events.own_calls))
    steps, warnings = sum_call_usages(trace.llm_calls)
    if events.other_calls and is_known(steps):
        judged = [call.usage for call in events.other_calls if call.usage is not None]
        warnings += warn_of_mismatch(usage, sum_usages([steps, *judged]), "model_usage")
        usage, usd = steps, sum_call_costs(trace.llm_calls)
    elif is_known(usage):
        warnings = warn_of_mismatch(usage, steps, "model_usage")
    else:
        usage, usd = steps, sum_call_costs(trace.llm_calls)
    trace.usage = usage
    trace.cost, about_cost = read_cost_usd(usd, usage, "model_usage.total_cost")
    trace.warnings += warnings + about_cost
    _add_latency(trace, sample, events)


def _sum_models(by_model: dict[str, Any], model: str | None, *, use_all: bool) -> tuple[Usage, float | None]:
    """Totals of all models, or only of the agent's model if the others may be judges."""
    names = list(by_model) if use_all or model not in by_model else [model]
    usages, costs = [], []
    for name in names:
        path = f"model_usage.{make_printable(name or '')}"
        usage = read_usage(by_model[name or ""], path)
        usages.append(unknown_usage() if usage is None else usage)
        costs.append(read_cost(by_model[name or ""], path))
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
    between = milliseconds_between(events.first_time, events.last_time)
    if between:
        trace.latency = {"total_ms": between, "source": "timestamps"}
