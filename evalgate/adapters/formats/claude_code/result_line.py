"""Reads the result line of a Claude Code run: cost, duration and how the run ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.raw_message import written
from evalgate.adapters.formats.core.build.run_end import handed_in, incomplete
from evalgate.adapters.formats.core.fields import FieldError, amount, count, flag, listing, mapping, text
from evalgate.adapters.formats.core.strict_json import shown
from evalgate.adapters.formats.core.usage.provider_response import anthropic_usage
from evalgate.adapters.formats.core.usage.totals import mismatch
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason, recorded_cost, total_tokens
from evalgate.models.trace.trace import Usage, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

MODEL_KEYS = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
BOUNDS = ("error_max_turns", "error_max_budget_usd", "error_max_structured_output_retries")


def add_results(trace: Trace, results: Sequence[dict[str, Any]]) -> None:
    """Adds the result lines; if there are several, each ended one exchange of the same session."""
    last = results[-1]
    _add_usage(trace, results)
    costs = [_cost(result) for result in results]
    known = [cost for cost in costs if cost is not None]
    if _is_running_total(trace, results):
        cost = known[-1] if known else None
    else:
        cost = sum(known) if len(known) == len(costs) else None
    trace.cost, warnings = recorded_cost(cost, trace.usage, "total_cost_usd")
    trace.warnings += warnings
    durations = [amount(result.get("duration_ms"), "duration_ms") for result in results]
    if None not in durations:
        trace.latency = {"total_ms": sum(filter(None, durations)), "source": "recorded"}
    _add_end(trace, last)
    _add_metadata(trace, results)


def model_of(results: Sequence[dict[str, Any]]) -> str | None:
    """The model with the most output tokens."""
    models = mapping(results[-1].get("modelUsage"), "modelUsage") if results else {}
    told = {name: mapping(usage, "modelUsage") for name, usage in models.items()}
    most = {
        name: count(usage.get("outputTokens"), "modelUsage.outputTokens") or 0 for name, usage in told.items()
    }
    return max(most, key=lambda name: (most[name], name)) if most else None


def _cost(result: dict[str, Any]) -> float | None:
    key = "total_cost_usd" if result.get("total_cost_usd") is not None else "cost_usd"
    return amount(result.get(key), key)


def _add_usage(trace: Trace, results: Sequence[dict[str, Any]]) -> None:
    """`modelUsage` counts helper models too, `usage` only the main model."""
    parts, usages = trace.usage, [_usage(result) for result in results]
    known = [usage for usage in usages if usage is not None]
    if not known:
        return
    trace.usage = known[-1] if _is_running_total(trace, results) else _sum(known)
    tokens_in = trace.usage["input_tokens"]
    if tokens_in is not None and parts["input_tokens"] is not None and tokens_in < parts["input_tokens"]:
        trace.warnings += mismatch(trace.usage, {**parts, "output_tokens": None}, "result")


def _is_running_total(trace: Trace, results: Sequence[dict[str, Any]]) -> bool:
    """True if the last of several results includes those before it; else it is below the metered sum."""
    if len(results) == 1:
        return True
    metered = [call["usage"]["input_tokens"] or 0 for call in trace.llm_calls if call["usage"] is not None]
    last = _usage(results[-1])
    return last is not None and (last["input_tokens"] or 0) >= sum(metered)


def _usage(result: dict[str, Any]) -> Usage | None:
    models = mapping(result.get("modelUsage"), "modelUsage")
    if models:
        return _sum([_model_usage(usage, f"modelUsage.{shown(name)}") for name, usage in models.items()])
    if result.get("usage") is None:
        return None
    try:
        return anthropic_usage(mapping(result["usage"], "usage"))
    except FieldError as error:
        raise error.under("usage") from None


def _model_usage(value: Any, path: str) -> Usage:
    told = mapping(value, path)
    fresh, read, made = (count(told.get(key), f"{path}.{key}") for key in MODEL_KEYS)
    usage = unknown_usage()
    usage["input_tokens"] = None if fresh is None else fresh + (read or 0) + (made or 0)
    usage["output_tokens"] = count(told.get("outputTokens"), f"{path}.outputTokens")
    usage["cache_read_input_tokens"], usage["cache_write_input_tokens"] = read, made
    usage["total_tokens"] = total_tokens(usage)
    usage["source"] = "recorded_total"
    return usage


def _sum(usages: list[Usage]) -> Usage:
    from evalgate.adapters.formats.core.usage.usage_fields import summed

    total = summed(usages)
    total["source"] = "recorded_total"
    return total


def _add_end(trace: Trace, result: dict[str, Any]) -> None:
    subtype = text(result.get("subtype"), "subtype") or "success"
    said = text(result.get("result"), "result")
    has_failed = flag(result.get("is_error"), "is_error") or False
    reason = text(result.get("stop_reason"), "stop_reason")
    trace.finish_reason = finish_reason(reason) or trace.finish_reason
    if subtype in BOUNDS:
        trace.finish_reason = subtype.removeprefix("error_")
        incomplete(trace, f"the run was stopped: {trace.finish_reason}")
    elif has_failed or subtype != "success":
        errors = [one for one in listing(result.get("errors"), "errors") if isinstance(one, str)]
        trace.status = "error"
        trace.error = {"type": subtype, "message": said or "\n".join(errors) or None}
    else:
        structured = result.get("structured_output")
        answer = said or (None if structured is None else written(structured))
        if answer and answer != trace.response["content"]:
            handed_in(trace, answer)


def _add_metadata(trace: Trace, results: Sequence[dict[str, Any]]) -> None:
    last = results[-1]
    turns = count(last.get("num_turns"), "num_turns")
    if turns is not None:
        trace.metadata["num_turns"] = turns
    denials = [
        one for result in results for one in listing(result.get("permission_denials"), "permission_denials")
    ]
    names = [text(mapping(one, "permission_denials").get("tool_name"), "tool_name") for one in denials]
    tools = sorted({name for name in names if name})
    if names:
        trace.metadata["permission_denials"] = names
        said = f"{len(names)} tool calls were denied permission: {', '.join(map(shown, tools))}"
        trace.warnings.append({"code": "permission_denied", "message": said, "where": "permission_denials"})
