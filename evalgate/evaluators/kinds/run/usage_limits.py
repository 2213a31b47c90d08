"""`token_limit` and `turn_limit`: how many tokens a run may use, and how many turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from evalgate.declarations import Field
from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.kinds.calls.tool_rules import combine
from evalgate.evaluators.kinds.run.cost_and_latency import shared_pass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.trace.trace import Trace, Usage

Count = Annotated[int, Field(ge=0)]
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
    max_total: Count | None = None
    max_input: Count | None = None
    max_output: Count | None = None

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

        return check


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
    """The conversation has at most `max_turns` user exchanges. Without messages: not_evaluable."""

    type: Literal["turn_limit"]
    max_turns: Count

    def label(self) -> str:
        """The check in words."""
        return f"turns <= {self.max_turns}"

    def compile(self) -> Check:
        """Returns a check of the number of turns."""
        limit = self.max_turns

        def check(trace: Trace) -> Finding:
            turns = trace.turn_count
            if not turns and not trace.messages:
                return Finding("not_evaluable", "turns unknown: the trace has no messages")
            return Finding("passed" if turns <= limit else "failed", f"{turns:,} turns, limit {limit:,}")

        return check
