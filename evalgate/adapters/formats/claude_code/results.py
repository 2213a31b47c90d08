"""Reads the result lines of Claude Code: how a session ended, its tokens, cost and times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.evidence_gaps import shorten
from evalgate.adapters.formats.core.builder.run import add_warning, build_model_error, set_cost, set_final_response
from evalgate.adapters.formats.core.builder.run_end import (
    COST,
    PERSON,
    TURNS,
    mark_failed_run,
    mark_incomplete,
    mark_stopped,
    warn_of_unknown_status,
)
from evalgate.adapters.formats.core.fields import amount, count, dict_or_empty, flag, listing, mapping, objects, text
from evalgate.adapters.formats.core.format import words
from evalgate.adapters.formats.core.provider_response import ANTHROPIC_USAGE
from evalgate.adapters.formats.core.strict_json import encode_json, make_printable
from evalgate.adapters.formats.core.usage import TokenTable, distrust_cost, finish_reason, sum_usages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import ModelError, Trace, Usage

MODEL_USAGE = TokenTable(
    "claude-code",
    input_tokens="inputTokens",
    output_tokens="outputTokens",
    cache_read_input_tokens="cacheReadInputTokens",
    cache_write_input_tokens="cacheCreationInputTokens",
)
API_ERROR = "API Error"
BOUNDS = {"error_max_turns": TURNS, "error_max_budget_usd": COST}
"""The limits among the values of a result's `subtype`; `success` is an orderly end unless `is_error`, others fail."""
ABORTS, FAILURES = words("aborted_streaming aborted_tools"), words("model_error image_error")
STOPS = {
    "max_turns": TURNS,
    **dict.fromkeys(("blocking_limit", "rapid_refill_breaker", "prompt_too_long"), "the limit of the context"),
    **dict.fromkeys(("hook_stopped", "stop_hook_prevented"), "a hook"),
    "tool_deferred": PERSON,
}
"""Values of a result's `terminal_reason` that are no orderly end, as `completed` is."""


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
    set_cost(trace, cost, "total_cost_usd")
    distrust_cost(trace, _list_model_costs(last), "modelUsage")
    durations = [amount(result.get("duration_ms"), "duration_ms") for result in results]
    if None not in durations:
        trace.latency = {"total_ms": sum(filter(None, durations)), "source": "recorded"}
    _add_end(trace, last)
    _warn_of_failed_turns(trace, results[:-1])
    _add_metadata(trace, results)


def find_main_model(results: Sequence[dict[str, Any]]) -> str | None:
    """The model with the most output tokens."""
    models = mapping(results[-1].get("modelUsage"), "modelUsage") if results else {}
    usages = {name: MODEL_USAGE.read(usage, "modelUsage") for name, usage in models.items()}
    return max(usages, key=lambda name: (usages[name]["output_tokens"] or 0, name), default=None)


def find_failure(results: Sequence[dict[str, Any]]) -> ModelError | None:
    """Why the last model call failed, as the last result line says; None if it did not."""
    answer = text(results[-1].get("result"), "result") if results and results[-1].get("is_error") is True else None
    return build_model_error(None, answer) if (answer or "").startswith(API_ERROR) else None


def _list_model_costs(result: dict[str, Any]) -> list[float]:
    models = mapping(result.get("modelUsage"), "modelUsage").values()
    costs = [amount(dict_or_empty(usage).get("costUSD"), "modelUsage.costUSD") for usage in models]
    return [cost for cost in costs if cost]


def _read_cost(result: dict[str, Any]) -> float | None:
    key = "total_cost_usd" if result.get("total_cost_usd") is not None else "cost_usd"
    return amount(result.get(key), key)


def _add_usage(trace: Trace, results: Sequence[dict[str, Any]]) -> None:
    """`modelUsage` counts helper models too, `usage` only the main model."""
    usages = [_read_result_usage(result) for result in results]
    known = [usage for usage in usages if usage is not None]
    if known:
        trace.usage = known[-1] if _is_running_total(trace, results) else _sum(known)


def _is_running_total(trace: Trace, results: Sequence[dict[str, Any]]) -> bool:
    """True if the last of several results includes those before it; else it is below one, or the metered sum."""
    if len(results) == 1:
        return True
    costs = [cost for cost in map(_read_cost, results) if cost is not None]
    if costs and costs[-1] < max(costs):
        return False
    metered = [call["usage"]["input_tokens"] or 0 for call in trace.llm_calls if call["usage"] is not None]
    last = _read_result_usage(results[-1])
    return last is not None and (last["input_tokens"] or 0) >= sum(metered)


def _read_result_usage(result: dict[str, Any]) -> Usage | None:
    models = mapping(result.get("modelUsage"), "modelUsage")
    if models:
        return _sum([MODEL_USAGE.read(usage, f"modelUsage.{make_printable(name)}") for name, usage in models.items()])
    return None if result.get("usage") is None else ANTHROPIC_USAGE.read(result["usage"], "usage")


def _sum(usages: list[Usage]) -> Usage:
    total = sum_usages(usages)
    total["source"] = "recorded_total"
    return total


def _add_end(trace: Trace, result: dict[str, Any]) -> None:
    subtype = text(result.get("subtype"), "subtype") or "success"
    content = text(result.get("result"), "result")
    has_failed = _has_failed(result)
    reason = text(result.get("stop_reason"), "stop_reason")
    trace.finish_reason = finish_reason(reason) or trace.finish_reason
    if subtype in BOUNDS:
        trace.finish_reason = subtype.removeprefix("error_")
        mark_stopped(trace, BOUNDS[subtype])
    elif has_failed or subtype != "success":
        errors = [one for one in listing(result.get("errors"), "errors") if isinstance(one, str)]
        trace.status = "error"
        trace.error = {"type": subtype, "message": content or "\n".join(errors) or None}
    else:
        structured = result.get("structured_output")
        answer = content if content or structured is None else encode_json(structured)
        if answer != trace.response["content"]:
            set_final_response(trace, answer)
        _add_reason(trace, text(result.get("terminal_reason"), "terminal_reason"))


def _add_reason(trace: Trace, reason: str | None) -> None:
    """Why a run ended that its result does not call an error."""
    if reason in ABORTS:
        mark_incomplete(trace, f"the run was aborted ({reason})")
    elif reason in STOPS:
        mark_stopped(trace, STOPS[reason])
    elif reason in FAILURES:
        mark_failed_run(trace, reason)
    elif reason not in (None, "completed"):
        warn_of_unknown_status(trace, reason, "terminal_reason")


def _warn_of_failed_turns(trace: Trace, results: Sequence[dict[str, Any]]) -> None:
    """Warns of turns before the last that ended in an error, or by a limit: the session went on."""
    ends = [text(result.get("subtype"), "subtype") or "success" for result in results]
    failed = [
        shorten(end) for end, result in zip(ends, results, strict=True) if end != "success" or _has_failed(result)
    ]
    if failed:
        note = f"{len(failed)} of {len(results) + 1} turns ended with `{failed[-1]}`: the session went on"
        add_warning(trace, "turn_failed", note, "result")


def _has_failed(result: dict[str, Any]) -> bool:
    return flag(result.get("is_error"), "is_error") or False


def _add_metadata(trace: Trace, results: Sequence[dict[str, Any]]) -> None:
    last = results[-1]
    turns = count(last.get("num_turns"), "num_turns")
    if turns is not None:
        trace.metadata["num_turns"] = turns
    denials = [one for result in results for one in objects(result.get("permission_denials"), "permission_denials")]
    names = [text(one.get("tool_name"), "tool_name") for one in denials]
    tools = sorted({name for name in names if name})
    if names:
        trace.metadata["permission_denials"] = names
        note = f"{len(names)} tool calls were denied permission: {', '.join(map(make_printable, tools))}"
        add_warning(trace, "permission_denied", note, "permission_denials")
