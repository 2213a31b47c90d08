"""What a scenario's trials have in common in their outcome: cost, time, errors, loops and the final answer."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.features.learn.application.inference.arguments import is_fixed_text
from evalgate.features.learn.application.inference.checks import InferredCheck, Strictness
from evalgate.features.learn.application.mutation.candidates import LEAST_SECONDS
from evalgate.measures.text.refusals import is_refusal
from evalgate.measures.values.json_stream import encode_json
from evalgate.measures.values.outputs import ended_in_error
from evalgate.models.trace.trace_view import list_evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.models.trace.trace import Trace

FACTORS: dict[Strictness, float] = {"loose": 4, "normal": 2, "strict": 1.5}
FACTOR_OF_ONE = 1.5
"""One trial may be a fast or cheap one by chance: its limits are higher by this factor."""
LEAST_AMOUNT = 1e-9
"""Smaller amounts are as good as none."""
MAX_REPEATS = 10
_QUOTED = re.compile(r'"([^"\n]{3,40})"|`([^`\n]{3,40})`|\*\*([^*\n]{3,40})\*\*|\u201c([^\u201d\n]{3,40})\u201d')
MAX_FACTS, THREE_DIGITS = 5, 100


class GeneralRule(NamedTuple):
    """What any run should do: `holds` for a trace, which it is `about` if the trace could break it."""

    entries: Sequence[dict[str, Any]]
    holds: Callable[[Trace], bool]
    about: Callable[[Trace], bool]


def _has_calls(trace: Trace) -> bool:
    return bool(trace.agent_calls)


def _has_no_error(trace: Trace) -> bool:
    return list_evidence(trace)["errors"] == "complete" and not any(map(ended_in_error, trace.agent_calls))


def _tells_errors(trace: Trace) -> bool:
    """Whether the recording would say that a call failed: by a status, or in a result that is an object."""
    return any(
        call["status"] != "unknown" or (call["result_text"] or "").lstrip().startswith("{")
        for call in trace.agent_calls
    )


def _answers(trace: Trace) -> bool:
    answer = trace.response["content"] or ""
    return bool(answer.strip()) and not is_refusal(answer)


GENERAL_RULES = (
    GeneralRule([{"type": "not_empty"}, {"not": {"type": "is_refusal"}}], _answers, lambda _: True),
    GeneralRule([{"type": "max_tool_errors", "max": 0}], _has_no_error, _tells_errors),
)
FEWEST_REPEATS: dict[Strictness, int] = {"loose": 3, "normal": 2, "strict": 1}
"""A look-up may be made once more by chance in runs that were not seen; other calls are counted besides."""


def build_repeat_rule(strictness: Strictness) -> GeneralRule:
    """No call more often in a row than another run may make it by chance."""
    most = FEWEST_REPEATS[strictness]
    return GeneralRule([{"type": "no_loops", "max_repeats": most}], partial(_repeats_few, most), _has_calls)


def _repeats_few(most: int, trace: Trace) -> bool:
    return list_evidence(trace)["arguments"] == "complete" and count_repeats(trace) <= most


def limit_repeats(trials: Sequence[Trace], strictness: Strictness) -> Iterator[InferredCheck]:
    """How often a call may be repeated in a scenario in which passing trials repeat some more often."""
    most, fewest = max(map(count_repeats, trials)), FEWEST_REPEATS[strictness]
    if fewest < most <= MAX_REPEATS and all(list_evidence(trace)["arguments"] == "complete" for trace in trials):
        yield InferredCheck({"type": "no_loops", "max_repeats": most + fewest - 1})


def count_repeats(trace: Trace) -> int:
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


def expect_facts(trials: Sequence[Trace]) -> Iterator[InferredCheck]:
    """What the answers of several trials quote from the results of their tools."""
    answers = [trace.response["content"] or "" for trace in trials]
    for fact in _find_facts(trials, answers)[:MAX_FACTS] if len(trials) > 1 else ():
        yield InferredCheck({"type": "output_contains", "value": fact}, "quoted from a tool's result")


def _find_facts(trials: Sequence[Trace], answers: Sequence[str]) -> list[str]:
    """What all answers quote and a tool's result of each trial has."""
    quoted = [{next(filter(None, found)) for found in _QUOTED.findall(answer)} for answer in answers]
    return [
        fact
        for fact in sorted(set.intersection(*quoted))
        if is_fixed_text(fact)
        and all(any(fact in (call["result_text"] or "") for call in trace.agent_calls) for trace in trials)
    ]


def limit_amounts(traces: Sequence[Trace], strictness: Strictness) -> Iterator[InferredCheck]:
    """Limits on cost, time and tokens that all traces record."""
    factor = FACTORS[strictness] * (FACTOR_OF_ONE if len(traces) == 1 else 1)
    amounts: dict[str, tuple[str, list[float | None]]] = {
        "cost_limit": ("max_usd", [_read_cost(trace) for trace in traces]),
        "latency_limit": ("max_seconds", [_read_seconds(trace) for trace in traces]),
        "token_limit": ("max_total", [trace.usage["total_tokens"] for trace in traces]),
    }
    for kind, (field, values) in amounts.items():
        known = [value for value in values if value is not None]
        if len(known) == len(traces) and max(known) >= (LEAST_SECONDS if kind == "latency_limit" else LEAST_AMOUNT):
            limit = round_up(max(known) * factor)
            entry = {"type": kind, field: int(limit) if limit >= 1 else limit, "on_missing": "skip"}
            yield InferredCheck(entry, f"at most {_format_amount(max(known))}")


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
