"""What a scenario's trials have in common in their outcome: cost, time, errors, loops and the final answer."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from evalgate.application.inference.arguments import is_fixed_text
from evalgate.application.inference.checks import InferredCheck, Strictness, count_trials
from evalgate.measures.text.refusals import is_refusal
from evalgate.measures.values.json_stream import encode_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace.trace import Trace

FACTORS: dict[Strictness, float] = {"loose": 4, "normal": 2, "strict": 1.5}
FACTOR_OF_ONE = 1.5
"""One trial may be a fast or cheap one by chance: its limits are higher by this factor."""
LEAST_AMOUNT = 1e-9
"""Smaller amounts are as good as none, and a suite writes too few digits for them."""
MAX_REPEATS = 10
_QUOTED = re.compile(r'"([^"\n]{3,40})"|`([^`\n]{3,40})`|\*\*([^*\n]{3,40})\*\*|\u201c([^\u201d\n]{3,40})\u201d')
MAX_FACTS, THREE_DIGITS = 5, 100


def infer_outcome(trials: Sequence[Trace], strictness: Strictness) -> list[InferredCheck]:
    """The checks of a scenario's errors, loops, answer and limits."""
    return [
        *_limit_errors(trials),
        *_limit_repeats(trials),
        *_expect_answer(trials),
        *_limit_amounts(trials, FACTORS[strictness] * (FACTOR_OF_ONE if len(trials) == 1 else 1)),
    ]


def _limit_errors(trials: Sequence[Trace]) -> Iterator[InferredCheck]:
    if any(trace.called for trace in trials) and all(
        call["status"] == "ok" for trace in trials for call in trace.agent_calls
    ):
        yield InferredCheck({"type": "max_tool_errors", "max": 0}, f"no error {count_trials(len(trials), trials)}")


def _limit_repeats(trials: Sequence[Trace]) -> Iterator[InferredCheck]:
    most = max(map(_count_repeats, trials))
    if most and most <= MAX_REPEATS:
        entry = {"type": "no_loops", "max_repeats": most}
        yield InferredCheck(entry, f"no call repeated more often {count_trials(len(trials), trials)}")


def _count_repeats(trace: Trace) -> int:
    """How often the same call follows itself at most, 0 without calls."""
    most = current = 0
    last: Any = None
    for call in trace.agent_calls:
        key = call["name"], _encode(call["arguments"])
        current = current + 1 if key == last else 1
        most, last = max(most, current), key
    return most


def _encode(value: Any) -> bytes:
    try:
        return encode_json(value)
    except TypeError:
        return repr(value).encode("utf-8", "surrogatepass")


def _expect_answer(trials: Sequence[Trace]) -> Iterator[InferredCheck]:
    answers = [trace.response["content"] or "" for trace in trials]
    reason = count_trials(len(trials), trials)
    if not all(answer.strip() for answer in answers):
        return
    yield InferredCheck({"type": "not_empty"}, reason)
    if not any(map(is_refusal, answers)):
        yield InferredCheck({"not": {"type": "is_refusal"}}, reason)
    for fact in _find_facts(trials, answers)[:MAX_FACTS] if len(trials) > 1 else ():
        yield InferredCheck({"type": "output_contains", "value": fact}, f"quoted, and in a tool's result, {reason}")


def _find_facts(trials: Sequence[Trace], answers: Sequence[str]) -> list[str]:
    """What all answers quote and a tool's result of each trial has."""
    quoted = [{next(filter(None, found)) for found in _QUOTED.findall(answer)} for answer in answers]
    return [
        fact
        for fact in sorted(set.intersection(*quoted))
        if is_fixed_text(fact)
        and all(any(fact in (call["result_text"] or "") for call in trace.agent_calls) for trace in trials)
    ]


def _limit_amounts(trials: Sequence[Trace], factor: float) -> Iterator[InferredCheck]:
    amounts: dict[str, tuple[str, list[float | None]]] = {
        "cost_limit": ("max_usd", [_read_cost(trace) for trace in trials]),
        "latency_limit": ("max_seconds", [_read_seconds(trace) for trace in trials]),
        "token_limit": ("max_total", [trace.usage["total_tokens"] for trace in trials]),
    }
    for kind, (field, values) in amounts.items():
        known = [value for value in values if value is not None]
        if len(known) == len(trials) and max(known) >= LEAST_AMOUNT:
            limit = round_up(max(known) * factor)
            reason = f"at most {_format_amount(max(known))} {count_trials(len(trials), trials)}"
            entry = {"type": kind, field: int(limit) if limit >= 1 else limit, "on_missing": "skip"}
            yield InferredCheck(entry, reason)


def _format_amount(amount: float) -> str:
    """An amount with three digits, without an exponent.

    >>> _format_amount(1069), _format_amount(0.000271), _format_amount(6.994)
    ('1,069', '0.000271', '6.99')
    """
    return f"{amount:,.0f}" if amount >= THREE_DIGITS else f"{amount:#.3g}" if amount >= 1 else f"{amount:.6f}"


def _read_cost(trace: Trace) -> float | None:
    """The recorded cost; a computed one is known only where there are prices."""
    return trace.cost["usd"] if trace.cost["source"] == "recorded" else None


def _read_seconds(trace: Trace) -> float | None:
    total_ms = trace.latency["total_ms"]
    return None if total_ms is None else total_ms / 1000


def round_up(amount: float) -> float:
    """Rounds up to one significant digit.

    >>> round_up(0.0246), round_up(31), round_up(0.3)
    (0.03, 40.0, 0.3)
    """
    exponent = math.floor(math.log10(amount))
    digit = math.ceil(round(amount / 10.0**exponent, 9))
    return float(f"{digit}e{exponent}")
