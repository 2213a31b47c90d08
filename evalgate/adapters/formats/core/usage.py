"""Reads tokens, cost, latency and scores from the field names that recorders use; sums and compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    amount,
    count,
    mapping,
    number,
    required_text,
    text,
)
from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.adapters.formats.core.token_rules import RULES, TokenRule, settle_tokens
from evalgate.models.trace.trace import Cost, Latency, TraceScore, Usage, Warning_, unknown_cost, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.core.fields import Read
    from evalgate.adapters.formats.core.token_rules import TokenRule
    from evalgate.models.trace.trace import LlmCall, Trace

FINISH_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_call": "tool_calls",
    "tool-calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    **dict.fromkeys(
        ("refusal", "safety", "content-filter", "content_filtered", "guardrail_intervened", "error_toxic"),
        "content_filter",
    ),
    **dict.fromkeys(("recitation", "blocklist", "prohibited_content", "spii", "image_safety"), "content_filter"),
    **dict.fromkeys(("malformed_function_call", "unexpected_tool_call", "too_many_tool_calls"), "error"),
    **dict.fromkeys(("malformed_tool_use", "malformed_model_output"), "error"),
}
"""Words of providers and SDKs: Gemini's, Bedrock's, Cohere's, Mistral's and the Vercel AI SDK's among them."""


def finish_reason(recorded: str | None) -> str | None:
    """The finish reason in one vocabulary for all providers; an unknown one stays unchanged."""
    if recorded is None:
        return None
    lower = recorded.lower()
    if lower in {"stop", "tool_calls", "length", "content_filter", "error"}:
        return lower
    return FINISH_REASONS.get(lower, recorded)


def read_finish_reason(value: Any, path: str) -> str | None:
    """A recorded finish reason in that vocabulary; raises FieldError if it is not text."""
    return None if value is None else finish_reason(text(value, path))


def split_provider_and_model(recorded: Any) -> tuple[str | None, str | None]:
    """Splits a model named `provider/model`; the provider is None if there is no such prefix."""
    if not isinstance(recorded, str):
        return None, None
    provider, slash, model = recorded.partition("/")
    return (provider, model) if slash and provider and model else (None, recorded)


def build_usage(parts: dict[str, Any], rule: TokenRule, path: str = "usage", uncached: int | None = None) -> Usage:
    """Recorded usage from the parts that are known, as `rule` reads them; a doubt about them is kept in `doubt`."""
    usage: Usage = {**unknown_usage(), **parts, "source": "recorded_total"}  # type: ignore[typeddict-item]
    settled = settle_tokens(usage, rule, uncached)
    usage["input_tokens"], usage["output_tokens"], usage["total_tokens"], doubt = settled
    if doubt is not None:
        usage["doubt"] = {"code": doubt["code"], "message": doubt["message"], "where": path or "usage"}
    return usage


def warn_of_doubts(trace: Trace) -> None:
    """Makes warnings of the doubts about tokens that were kept in the usage of the trace and its model calls."""
    usages = [trace.usage, *(call["usage"] for call in trace.llm_calls)]
    doubts = [usage.pop("doubt") for usage in usages if usage is not None and "doubt" in usage]
    codes = {warning["code"] for warning in trace.warnings}
    for doubt in doubts:
        if doubt["code"] not in codes:
            codes.add(doubt["code"])
            trace.warnings = [*trace.warnings, doubt]


class TokenTable:
    """The field, or the reader and fields as in a FieldTable, of each number in `Usage`.

    `rule` says what the fields count: the reader's own, or the name of one in RULES. `uncached` is the field of the
    input without cached tokens. A total that is not recorded is the sum of input and output.

    >>> TokenTable("plain", input_tokens="in", output_tokens="out").read({"in": 2, "out": 1}, "usage")["total_tokens"]
    3
    """

    def __init__(self, rule: str | TokenRule, **fields: str | tuple[Read, *tuple[str, ...]]) -> None:
        self._rule = RULES[rule] if isinstance(rule, str) else rule
        self._fields = FieldTable(
            **{name: (count, field) if isinstance(field, str) else field for name, field in fields.items()}
        )

    def read(self, value: Any, path: str, rule: str = "") -> Usage:
        """The recorded tokens, by another rule where the record names one; raises FieldError."""
        parts = self._fields.read(value, path)
        return build_usage(parts, RULES[rule] if rule else self._rule, path, parts.pop("uncached", None))

    def read_if_counted(self, value: Any, path: str) -> Usage | None:
        """The recorded tokens; None without a number above 0, as many recorders write 0 for tokens not counted."""
        return none_if_uncounted(self.read(value, path))


def none_if_uncounted(usage: Usage) -> Usage | None:
    """The usage; None without a number above 0, or a doubt about one."""
    is_counted = usage["input_tokens"] or usage["output_tokens"] or usage["total_tokens"] or "doubt" in usage
    return usage if is_counted else None


PROVIDER_USAGE = TokenTable(
    "openai-chat",
    input_tokens=(count, "prompt_tokens", "input_tokens"),
    output_tokens=(count, "completion_tokens", "output_tokens"),
    total_tokens="total_tokens",
    cache_read_input_tokens=(
        *(count, "prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens"),
        *("cache_read_input_tokens", "cache_read_tokens", "prompt_cache_hit_tokens"),
    ),
    cache_write_input_tokens=(
        *(count, "prompt_tokens_details.cache_write_tokens", "prompt_tokens_details.cache_creation_tokens"),
        *("cache_creation_input_tokens", "cache_write_tokens"),
    ),
    reasoning_output_tokens=(
        *(count, "completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens"),
        "reasoning_tokens",
    ),
)


def read_provider_usage(value: Any, path: str) -> Usage:
    """Usage as model providers spell it (`prompt_tokens` or `input_tokens`); raises FieldError if both differ."""
    if value is None:
        return unknown_usage()
    is_anthropic = "prompt_tokens" not in value and not CACHE_OF_ANTHROPIC.isdisjoint(mapping(value, path))
    usage = PROVIDER_USAGE.read(value, path, "anthropic" if is_anthropic else "")
    for one, other in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")):
        if None not in (value.get(one), value.get(other)) and value[one] != value[other]:
            raise FieldError(f"{path}.{one}", f"and `{other}` differ")
    return usage


CACHE_OF_ANTHROPIC = frozenset({"cache_read_input_tokens", "cache_creation_input_tokens"})
"""Fields that Anthropic writes beside `input_tokens`, which leaves these tokens out."""


def total_tokens(usage: Usage) -> int | None:
    """Input plus output tokens; None if one is unknown."""
    tokens_in, tokens_out = usage["input_tokens"], usage["output_tokens"]
    return None if tokens_in is None or tokens_out is None else tokens_in + tokens_out


def sum_usages(usages: list[Usage]) -> Usage:
    """The sum of several usages; a field that is unknown in one of them is unknown in the sum."""
    if not usages:
        return unknown_usage()
    total = unknown_usage()
    total["input_tokens"] = _sum_if_all_known([usage["input_tokens"] for usage in usages])
    total["output_tokens"] = _sum_if_all_known([usage["output_tokens"] for usage in usages])
    total["cache_read_input_tokens"] = _sum_if_all_known([usage["cache_read_input_tokens"] for usage in usages])
    total["cache_write_input_tokens"] = _sum_if_all_known([usage["cache_write_input_tokens"] for usage in usages])
    total["reasoning_output_tokens"] = _sum_if_all_known([usage["reasoning_output_tokens"] for usage in usages])
    total["total_tokens"] = total_tokens(total)
    total["source"] = "inference_sum"
    doubts = [usage["doubt"] for usage in usages if "doubt" in usage]
    if doubts:
        total["doubt"] = doubts[0]
    return total


def read_cost_usd(value: Any, usage: Usage, path: str) -> tuple[Cost, list[Warning_]]:
    """A recorded cost in US dollars; 0 with tokens is unknown: the recorder did not know the price."""
    usd = amount(value, path)
    if usd is None:
        return unknown_cost(), []
    if usd == 0 and (usage["input_tokens"] or usage["output_tokens"] or usage["total_tokens"]):
        message = "a cost of 0 with recorded tokens is treated as unknown"
        return unknown_cost(), [{"code": "zero_cost", "message": message, "where": path}]
    return {"usd": usd, "source": "recorded"}, []


def distrust_totals(trace: Trace) -> None:
    """Makes recorded tokens and costs unknown that are below the sum of those of the run's model calls.

    Calls that are not recorded can only add to a sum.
    """
    usages = [call["usage"] for call in trace.llm_calls if call["usage"] is not None]
    costs = [call["cost_usd"] for call in trace.llm_calls if call["cost_usd"]]
    if usages:
        _distrust_tokens(trace, usages)
    if costs:
        distrust_cost(trace, costs, "cost", "its model calls")


_COUNTED: tuple[Literal["input_tokens", "output_tokens", "total_tokens"], ...]
_COUNTED = ("input_tokens", "output_tokens", "total_tokens")


def _distrust_tokens(trace: Trace, usages: Sequence[Usage]) -> None:
    for name in _COUNTED:
        whole, sum_of_parts = trace.usage[name], sum(usage[name] or 0 for usage in usages)
        if whole is not None and whole < sum_of_parts * (1 - TOLERANCE):
            shown = f"the recorded {name.replace('_', ' ')} are {whole:,}, those of the model calls {sum_of_parts:,}"
            message = f"{shown}: the tokens are unknown"
            trace.usage, trace.gaps = unknown_usage(), {**trace.gaps, "usage": message}
            trace.warnings = [*trace.warnings, {"code": "total_mismatch", "message": message, "where": "usage"}]
            return


def distrust_cost(trace: Trace, parts: Sequence[float], path: str, what: str = "a part of it") -> None:
    """Makes the recorded cost unknown if its parts are higher, by more than rounding.

    Prices don't help then: the tokens may be those of a part too.
    """
    whole, sum_of_parts = trace.cost["usd"], sum(parts)
    if whole is None or sum_of_parts <= whole * (1 + TOLERANCE):
        return
    if sum_of_parts - whole <= sum(map(_get_half_digit, (whole, *parts))):
        return
    message = f"the recorded cost is {whole:,.6g} USD, {what} {sum_of_parts:,.6g}: the cost is unknown"
    trace.cost, trace.gaps = unknown_cost(), {**trace.gaps, "cost": message}
    trace.warnings.append({"code": "total_mismatch", "message": message, "where": path})


def _get_half_digit(amount: float) -> float:
    """Half of the last digit of an amount: what rounding may have changed.

    >>> _get_half_digit(0.012), _get_half_digit(3.0)
    (0.0005, 0.05)
    """
    digits, _, exponent = repr(float(amount)).partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))


def read_latency_seconds(value: Any, path: str) -> Latency:
    """The latency from a recorded duration in seconds."""
    seconds = amount(value, path)
    if seconds is None:
        return {"total_ms": None, "source": "none"}
    return {"total_ms": amount(to_milliseconds(seconds), path), "source": "recorded"}


def to_milliseconds(seconds: float) -> float:
    """Seconds as milliseconds, without float rounding errors (1.001 s is 1001 ms)."""
    exact = seconds * 1000
    return exact if exact.is_integer() else round(exact, 6)


def read_scores(value: Any, path: str) -> list[TraceScore]:
    """The scores of an object that maps names to numbers."""
    return [build_score(name, score, f"{path}.{make_printable(name)}") for name, score in mapping(value, path).items()]


def build_score(name: str, score: Any, path: str) -> TraceScore:
    """One recorded score; raises FieldError if it is not a number."""
    return {
        "name": required_text(name, path),
        "score_value": number(score, path),
        "score_label": None,
        "explanation": None,
        "source": None,
    }


def _sum_if_all_known(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


TOLERANCE = 0.01


def sum_call_usages(calls: Sequence[LlmCall], unmetered: int = 0) -> tuple[Usage, list[Warning_]]:
    """The usage of all calls together; unknown if only some calls have it, as a part is not the total.

    `unmetered` counts further model calls that have no record and so no usage.
    """
    usages = [call["usage"] for call in calls if call["usage"] is not None]
    total = len(calls) + unmetered
    if not usages or len(usages) == total:
        return sum_usages(usages), []
    message = f"{total - len(usages)} of {total} model calls record no tokens: the tokens of the run are unknown"
    return unknown_usage(), [{"code": "tokens_incomplete", "message": message, "where": "usage"}]


def sum_call_costs(calls: Sequence[LlmCall]) -> float | None:
    """The cost of all calls together; None if the cost of one is unknown."""
    known = [call["cost_usd"] for call in calls if call["cost_usd"] is not None]
    return round(sum(known), 12) if known and len(known) == len(calls) else None


def is_known(usage: Usage) -> bool:
    """True if input and output tokens are known."""
    return usage["input_tokens"] is not None and usage["output_tokens"] is not None


def usages_differ(one: Usage, other: Usage) -> bool:
    """True if input or output tokens are known in both and differ by more than 1 %."""
    pairs = (
        (one["input_tokens"], other["input_tokens"]),
        (one["output_tokens"], other["output_tokens"]),
    )
    return any(
        first is not None and second is not None and abs(first - second) > TOLERANCE * max(first, second)
        for first, second in pairs
    )


def warn_of_mismatch(total: Usage, parts: Usage, where: str, reason: str = "") -> list[Warning_]:
    """A warning if a recorded total is not the sum of its parts."""
    if not usages_differ(total, parts):
        return []
    message = f"the recorded total is {_format_tokens(total)}, its parts add up to {_format_tokens(parts)}{reason}"
    return [{"code": "total_mismatch", "message": message, "where": where}]


def _format_tokens(usage: Usage) -> str:
    return f"{usage['input_tokens'] or 0:,} + {usage['output_tokens'] or 0:,} tokens"
