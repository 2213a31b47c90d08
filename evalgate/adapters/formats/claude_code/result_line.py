"""Reads the result line of a Claude Code run: cost, duration and how the run ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.llm_calls import build_model_error
from evalgate.adapters.formats.core.builder.raw_message import encode_json
from evalgate.adapters.formats.core.builder.run_end import mark_incomplete, set_final_response
from evalgate.adapters.formats.core.fields import amount, count, flag, listing, mapping, prefix_errors, text
from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.adapters.formats.core.usage.provider_response import read_anthropic_usage
from evalgate.adapters.formats.core.usage.totals import warn_of_mismatch
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason, read_cost_usd, total_tokens
from evalgate.models.trace.trace import Usage, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import ModelError, Trace

MODEL_KEYS = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
API_ERROR = "API Error"
BOUNDS = ("error_max_turns", "error_max_budget_usd", "error_max_structured_output_retries")


def add_results(trace: Trace, results: Sequence[dict[str, Any]]) -> None:
    """Adds the result lines; if there are several, each ended one exchange of the same session."""
    last = results[-1]
    _add_usage(trace, results)
    costs = [_read_cost(result) for result in results]
    known = [cost for cost in costs if cost is not None]
    if _is_running_total(trace, results):
        cost = known[-1] if known else None
    else:
        cost = sum(known) if len(known) == len(costs) else None
    trace.cost, warnings = read_cost_usd(cost, trace.usage, "total_cost_usd")
    trace.warnings += warnings
    durations = [amount(result.get("duration_ms"), "duration_ms") for result in results]
    if None not in durations:
        trace.latency = {"total_ms": sum(filter(None, durations)), "source": "recorded"}
    _add_end(trace, last)
    _add_metadata(trace, results)


def find_main_model(results: Sequence[dict[str, Any]]) -> str | None:
    """The model with the most output tokens."""
    models = mapping(results[-1].get("modelUsage"), "modelUsage") if results else {}
    data = {name: mapping(usage, "modelUsage") for name, usage in models.items()}
    output_tokens = {
        name: count(usage.get("outputTokens"), "modelUsage.outputTokens") or 0 for name, usage in data.items()
    }
    return max(output_tokens, key=lambda name: (output_tokens[name], name)) if output_tokens else None


def find_failure(results: Sequence[dict[str, Any]]) -> ModelError | None:
    """Why the last model call failed, as the last result line says; None if it did not."""
    answer = text(results[-1].get("result"), "result") if results and results[-1].get("is_error") is True else None
    return build_model_error(None, answer) if (answer or "").startswith(API_ERROR) else None


def _read_cost(result: dict[str, Any]) -> float | None:
    key = "total_cost_usd" if result.get("total_cost_usd") is not None else "cost_usd"
    return amount(result.get(key), key)


def _add_usage(trace: Trace, results: Sequence[dict[str, Any]]) -> None:
    """`modelUsage` counts helper models too, `usage` only the main model."""
    parts, usages = trace.usage, [_read_usage(result) for result in results]
    known = [usage for usage in usages if usage is not None]
    if not known:
        return
    trace.usage = known[-1] if _is_running_total(trace, results) else _sum(known)
    tokens_in = trace.usage["input_tokens"]
    if tokens_in is not None and parts["input_tokens"] is not None and tokens_in < parts["input_tokens"]:
        trace.warnings += warn_of_mismatch(trace.usage, {**parts, "output_tokens": None}, "result")


def _is_running_total(trace: Trace, results: Sequence[dict[str, Any]]) -> bool:
    """True if the last of several results includes those before it; else it is below the metered sum."""
    if len(results) == 1:
        return True
    metered = [call["usage"]["input_tokens"] or 0 for call in trace.llm_calls if call["usage"] is not None]
    last = _read_usage(results[-1])
    return last is not None and (last["input_tokens"] or 0) >= sum(metered)


def _read_usage(result: dict[str, Any]) -> Usage | None:
    models = mapping(result.get("modelUsage"), "modelUsage")
    if models:
        return _sum([_read_model_usage(usage, f"modelUsage.{make_printable(name)}") for name, usage in models.items()])
    if result.get("usage") is None:
        return None
    with prefix_errors("usage"):
        return read_anthropic_usage(mapping(result["usage"], "usage"))


def _read_model_usage(value: Any, path: str) -> Usage:
    fields = mapping(value, path)
    fresh, cache_read, cache_write = (count(fields.get(key), f"{path}.{key}") for key in MODEL_KEYS)
    usage = unknown_usage()
    usage["input_tokens"] = None if fresh is None else fresh + (cache_read or 0) + (cache_write or 0)
    usage["output_tokens"] = count(fields.get("outputTokens"), f"{path}.outputTokens")
    usage["cache_read_input_tokens"], usage["cache_write_input_tokens"] = cache_read, cache_write
    usage["total_tokens"] = total_tokens(usage)
    usage["source"] = "recorded_total"
    return usage


def _sum(usages: list[Usage]) -> Usage:
    from evalgate.adapters.formats.core.usage.usage_fields import sum_usages

    total = sum_usages(usages)
    total["source"] = "recorded_total"
    return total


def _add_end(trace: Trace, result: dict[str, Any]) -> None:
    subtype = text(result.get("subtype"), "subtype") or "success"
    content = text(result.get("result"), "result")
    has_failed = flag(result.get("is_error"), "is_error") or False
    reason = text(result.get("stop_reason"), "stop_reason")
    trace.finish_reason = finish_reason(reason) or trace.finish_reason
    if subtype in BOUNDS:
        trace.finish_reason = subtype.removeprefix("error_")
        mark_incomplete(trace, f"the run was stopped: {trace.finish_reason}")
    elif has_failed or subtype != "success":
        errors = [one for one in listing(result.get("errors"), "errors") if isinstance(one, str)]
        trace.status = "error"
        trace.error = {"type": subtype, "message": content or "\n".join(errors) or None}
    else:
        structured = result.get("structured_output")
        answer = content or (None if structured is None else encode_json(structured))
        if answer and answer != trace.response["content"]:
            set_final_response(trace, answer)


def _add_metadata(trace: Trace, results: Sequence[dict[str, Any]]) -> None:
    last = results[-1]
    turns = count(last.get("num_turns"), "num_turns")
    if turns is not None:
        trace.metadata["num_turns"] = turns
    denials = [one for result in results for one in listing(result.get("permission_denials"), "permission_denials")]
    names = [text(mapping(one, "permission_denials").get("tool_name"), "tool_name") for one in denials]
    tools = sorted({name for name in names if name})
    if names:
        trace.metadata["permission_denials"] = names
        note = f"{len(names)} tool calls were denied permission: {', '.join(map(make_printable, tools))}"
        trace.warnings.append({"code": "permission_denied", "message": note, "where": "permission_denials"})
