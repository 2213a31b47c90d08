"""Checks of a whole run: limits of cost, latency, tokens and turns, why it ended, and a score recorded for it."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from evalgate.evaluators.core.evaluator import (
    FAILED,
    MANY,
    MONTH,
    Amount,
    Check,
    Count,
    Evaluator,
    Finding,
    Order,
    combine,
    require_evidence,
)
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.values.json_values import format_distinct, mark_name, mark_value, show
from evalgate.strict_model import described

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace, Usage

TokenKind = Literal["total", "input", "output"]

_USAGE_FIELDS: dict[TokenKind, Literal["total_tokens", "input_tokens", "output_tokens"]] = {
    "total": "total_tokens",
    "input": "input_tokens",
    "output": "output_tokens",
}


class TokenLimit(Evaluator):
    """The agent's own model calls used at most so many tokens: in total, as input (with cache), as output.

    A number that the trace lacks is not_evaluable.
    """

    type: Literal["token_limit"]
    other_names = ("tokens", "max-tokens")
    orders: ClassVar[dict[str, Order]] = {"max_total": "at_most", "max_input": "at_most", "max_output": "at_most"}
    no_limit = dict.fromkeys(orders, 1e9)
    max_total: Annotated[Count | None, described("The maximum number of tokens.", 20000)] = None
    max_input: Annotated[Count | None, described("The maximum number of input tokens, with cached ones.", 18000)] = None
    max_output: Annotated[Count | None, described("The maximum number of output tokens.", 2000)] = None

    def _limits(self) -> dict[TokenKind, int]:
        given: dict[TokenKind, int | None] = {
            "total": self.max_total,
            "input": self.max_input,
            "output": self.max_output,
        }
        return {kind: limit for kind, limit in given.items() if limit is not None}

    def label(self) -> str:
        """The check in words."""
        return ", ".join(f"{kind} tokens <= {limit:,}" for kind, limit in self._limits().items())

    def compile(self) -> Check:
        """Validates that there is a limit; raises FieldProblemError."""
        limits = self._limits()
        if not limits:
            raise FieldProblemError("type", "token_limit needs `max_total`, `max_input` or `max_output`")
        pass_finding = shared_pass(self)

        def check(trace: Trace) -> Finding:
            usage = trace.usage
            if pass_finding is not None and _are_all_within(usage, limits):
                return pass_finding
            return combine([_judge_tokens(usage, kind, limit) for kind, limit in limits.items()])

        return require_evidence(check, ("usage",), FAILED)


def _are_all_within(usage: Usage, limits: Mapping[TokenKind, int]) -> bool:
    for kind, limit in limits.items():
        used = usage[_USAGE_FIELDS[kind]]
        if used is None or not used <= limit:  # so that NaN does not pass
            return False
    return True


def _judge_tokens(usage: Usage, kind: TokenKind, limit: int) -> Finding:
    used = usage[_USAGE_FIELDS[kind]]
    if used is None:
        return Finding("not_evaluable", f"{kind} tokens unknown")
    return Finding("passed" if used <= limit else "failed", f"{kind} tokens {used:,}, limit {limit:,}")


class TurnLimit(Evaluator):
    """The conversation has at most `max_turns` exchanges, each a user message with its answers.

    Without messages: not_evaluable.
    """

    type: Literal["turn_limit"]
    orders: ClassVar[dict[str, Order]] = {"max_turns": "at_most"}
    no_limit: ClassVar = {"max_turns": MANY}
    max_turns: Annotated[Count, described("The maximum number of exchanges, each a user message with its answers.", 4)]
    words = "turns <= {max_turns}"

    def compile(self) -> Check:
        """Returns a check of the number of turns."""
        limit = self.max_turns

        def check(trace: Trace) -> Finding:
            turns = trace.turn_count
            if not turns and not trace.messages:
                return Finding("not_evaluable", "turns unknown: the trace has no messages")
            return Finding("passed" if turns <= limit else "failed", f"{turns:,} turns, limit {limit:,}")

        return require_evidence(check, ("messages",), FAILED)


_FEW_DIGITS = 1_000
"""Amounts below this are shown with three digits."""
_NO_COST = Finding("not_evaluable", "cost unknown")
_NO_LATENCY = Finding("not_evaluable", "latency unknown")


def shared_pass(evaluator: Evaluator) -> Finding | None:
    """Returns one finding shared by all traces within a limit: their trials have the measured values.

    None if the check is negated: a trace within the limit then fails, and its reason needs the value.
    """
    return None if evaluator.negate else Finding("passed", evaluator.label())


def build_limit_judge(evaluator: Evaluator, limit: float, template: str) -> Callable[[float], Finding]:
    """Builds a judge of whether an amount is within the limit; `template` is filled with both."""
    pass_finding = shared_pass(evaluator)

    def judge(amount: float) -> Finding:
        is_within = amount <= limit or round(amount - limit, DIGITS) <= 0
        if is_within and pass_finding is not None:
            return pass_finding
        found, most = _format_amounts(amount, limit)
        return Finding("passed" if is_within else "failed", template.format(found, most))

    return judge


def _format_amounts(amount: float, limit: float) -> tuple[str, str]:
    """Formats an amount with three digits, or more if it takes more to show that it differs from the limit."""
    shown = f"{amount:.3g}" if abs(amount) < _FEW_DIGITS else f"{amount:g}"
    return (
        (shown, f"{limit:g}")
        if float(shown) != limit and (float(shown) > limit) == (amount > limit)
        else (format_distinct(amount, limit))
    )


def _has_recorded_cost(_: Finding, trace: Trace) -> bool:
    """Returns whether the cost is complete though the tokens, from which it could be computed, are not."""
    return trace.cost["source"] == "recorded" and "cost" not in trace.gaps


class CostLimit(Evaluator):
    """The agent's own model calls cost at most `max_usd` US dollars. Unknown cost is not_evaluable.

    Uses the recorded cost; without it, tokens times prices if both are known.
    """

    type: Literal["cost_limit"]
    other_names = ("cost", "max-cost")
    orders: ClassVar[dict[str, Order]] = {"max_usd": "at_most"}
    no_limit: ClassVar = {"max_usd": 1e5}
    max_usd: Annotated[Amount, described("The maximum cost in US dollars.", 0.05)]
    words = "cost <= {max_usd:g} USD"

    def compile(self) -> Check:
        """Returns a comparison that NaN does not pass."""
        judge = build_limit_judge(self, self.max_usd, "cost {} USD, limit {} USD")

        def check(trace: Trace) -> Finding:
            cost = trace.cost["usd"]
            if cost is not None:
                return judge(cost)
            note = trace.cost.get("note")
            return Finding("not_evaluable", f"cost unknown: {note}") if note else _NO_COST

        return require_evidence(check, ("cost", "usage"), FAILED, _has_recorded_cost)


class LatencyLimit(Evaluator):
    """The whole run took at most `max_seconds` seconds. Unknown latency is not_evaluable."""

    type: Literal["latency_limit"]
    other_names = ("latency", "duration")
    orders: ClassVar[dict[str, Order]] = {"max_seconds": "at_most"}
    no_limit: ClassVar = {"max_seconds": MONTH}
    max_seconds: Annotated[Amount, described("The maximum time in seconds.", 10)]
    words = "latency <= {max_seconds:g} s"

    def compile(self) -> Check:
        """Returns a comparison that NaN does not pass."""
        judge = build_limit_judge(self, self.max_seconds, "latency {} s, limit {} s")

        def check(trace: Trace) -> Finding:
            total_ms = trace.latency["total_ms"]
            return _NO_LATENCY if total_ms is None else judge(total_ms / 1000)

        return require_evidence(check, ("times",), FAILED)


Reason = Annotated[str, Field(min_length=1, max_length=200)]


class FinishReason(Evaluator):
    """The run ended for one of the reasons in `in`; an unknown reason is not_evaluable."""

    type: Literal["finish_reason"]
    other_names = ("finish",)
    orders: ClassVar[dict[str, Order]] = {"allowed": "allowed"}
    allowed: Annotated[
        list[Reason], Field(min_length=1, alias="in"), described("The reasons that are allowed.", ["stop"])
    ]

    def holds_always(self) -> bool:
        """`*` is no pattern here."""
        return False

    def label(self) -> str:
        """The check in words."""
        return f"finish reason in {show(self.allowed, 60)}"

    def compile(self) -> Check:
        """Returns a lookup of the reason."""
        expected = mark_value(self.allowed, 60)
        unknown = Finding("not_evaluable", "finish reason unknown")

        def build_finding(outcome: Outcome, reason: str) -> Finding:
            return Finding(outcome, f"finish reason {mark_name(reason)}, expected one of {expected}")

        passed = {reason: build_finding("passed", reason) for reason in self.allowed}

        def check(trace: Trace) -> Finding:
            reason = trace.finish_reason or trace.response["finish_reason"]
            if reason is None:
                return unknown
            return passed.get(reason) or build_finding("failed", reason)

        return check


Ends = Annotated[list[float], Field(min_length=2, max_length=2)]


class RecordedScore(Evaluator):
    """The recorded score `name` is at least `min`; its position in `range` is also the assertion's score.

    Of several values of one name, the one of the whole trace counts, else the lowest. Without a `range` the scale is 0
    to 1; a value or a `min` outside it scores 1 or 0. `min` is on the recorded scale, by default its upper end.
    """

    type: Literal["recorded_score"]
    version = 2
    is_graded = True
    judges_by_name = True
    orders: ClassVar[dict[str, Order]] = {"min": "at_least"}
    name: Annotated[str, Field(min_length=1, max_length=200), described("The name of the recorded score.", "reward")]
    min: Annotated[float, described("The score from which it passes.", 0.8)] = 1.0
    range: Annotated[Ends | None, described("The lowest and the highest score of its scale.", [1, 5])] = None
    words = "{name}"

    @model_validator(mode="before")
    @classmethod
    def _demand_upper_end(cls, fields: Any) -> Any:
        """Without `min`, the upper end of the range is demanded, as 1 is of the scale from 0 to 1."""
        scale = fields.get("range") if isinstance(fields, dict) else None
        if isinstance(scale, list) and len(scale) == BOTH_ENDS and "min" not in fields:
            return {**fields, "min": scale[1]}
        return fields

    def compile(self) -> Check:
        """Returns a check of the score of this name."""
        name, least, scale = self.name, self.min, self.range
        if scale is not None:
            _require_scale(scale, least)

        def check(trace: Trace) -> Finding:
            value = trace.scores.get(name)
            if value is None:
                return Finding(
                    "not_evaluable", f"this trace has no numeric score {mark_value(name)}{_name_others(trace)}"
                )
            if scale is not None and not scale[0] <= value <= scale[1]:
                return Finding(
                    "not_evaluable", f"{mark_name(name)} is {value:g}, outside its range {scale[0]:g} to {scale[1]:g}"
                )
            outcome: Outcome = "passed" if value >= least else "failed"
            found, needed = format_distinct(value, least)
            reason = f"{mark_name(name)} is {found}, expected at least {needed}"
            return Finding(outcome, reason, score=_find_position(value, least, scale))

        return check


BOTH_ENDS = 2


def _require_scale(scale: Sequence[float], least: float) -> None:
    """Raises FieldProblemError if the range is none, or if every or no score in it passes."""
    low, high = scale
    if not (low < high and isfinite(high - low)):
        raise FieldProblemError("range", f"`range` must go from the lowest to the highest score, not {show(scale)}")
    if not low < least <= high:
        what = "every" if least <= low else "no"
        raise FieldProblemError("min", f"{what} score from {low:g} to {high:g} reaches `min: {least:g}`")


def _find_position(value: float, least: float, scale: Sequence[float] | None) -> float | None:
    """The position of a score in its range; None, so that the outcome decides, if it is on an unknown scale."""
    if scale is not None:
        low, high = scale
        return (value - low) / (high - low)
    return value if is_on_unit_scale(value) and is_on_unit_scale(least) else None


def is_on_unit_scale(value: float) -> bool:
    """Whether a number is from 0 to 1."""
    return 0 <= value <= 1


MAX_SCORES = 10


def _name_others(trace: Trace) -> str:
    """Names the numeric scores that the trace has."""
    names = sorted(name for name, value in trace.scores.items() if value is not None)
    left = len(names) - MAX_SCORES
    shown = ", ".join(mark_value(name) for name in names[:MAX_SCORES]) + (f" and {left:,} more" if left > 0 else "")
    return f"; it has {shown}" if names else ", and no other"
