"""`tool_sequence`: which calls an agent makes, with which arguments, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from evalgate.evaluators.base import Check, Evaluator, Finding
from evalgate.evaluators.called import Called
from evalgate.evaluators.flaws import FlawedError
from evalgate.evaluators.sequence_reason import evidence, reason
from evalgate.evaluators.steps import (
    BROKEN,
    MATCHES,
    MAX_STEPS,
    UNKNOWN,
    Entry,
    Steps,
    compile_steps,
    entry_text,
)
from evalgate.evaluators.tools import listed
from evalgate.measures.json_values import shorten
from evalgate.measures.step_plans import align_bag, align_in_order, fits_as_bag, fits_exactly, fits_in_order

if TYPE_CHECKING:
    from evalgate.models.run import Outcome
    from evalgate.models.trace import Trace

COMPARED = 100_000
"""Comparisons of a step and a call made for the alignment alone, once it is known that they don't fit."""


def _lower(word: Any) -> Any:
    return word.lower() if isinstance(word, str) else word


class ToolSequence(Evaluator):
    """The calls an agent makes.

    exact: the same calls, order and number. in_order: the expected ones as a subsequence. any_order: each as
    often as named. Other calls are allowed in the latter two unless `extra_calls` is `forbid`. A list within
    the list is a group in any order.
    """

    type: Literal["tool_sequence"]
    sequence: Annotated[list[Entry], Field(max_length=MAX_STEPS)]
    mode: Annotated[Literal["exact", "in_order", "any_order"], BeforeValidator(_lower)] = "in_order"
    extra_calls: Literal["allow", "forbid"] = "allow"

    def label(self) -> str:
        """The check in words."""
        return (
            f"tools {self.mode}: {listed([entry_text(entry) for entry in self.sequence])}"
            if self.sequence
            else "no tool call"
        )

    def compile(self) -> Check:
        """Checks that something is demanded; raises FlawedError."""
        steps = compile_steps(self.sequence)
        self._must_demand(steps)
        passed = Finding("passed", self.label())
        levels = (MATCHES, UNKNOWN, BROKEN) if steps.is_demanding else (MATCHES,)

        def check(trace: Trace) -> Finding:
            calls = Called(trace.agent_calls, steps.kinds)
            for level in levels:
                calls.level = level
                if self._fits(steps, calls):
                    return passed if level == MATCHES else _undecided(calls)
            return self._failed(steps, calls)

        return check

    def _must_demand(self, steps: Steps) -> None:
        hint = "extra_calls: forbid means no tool call"
        if not self.sequence and self.extra_calls == "allow":
            raise FlawedError("sequence", "an empty sequence demands nothing", hint)
        is_open = self.mode != "exact" and self.extra_calls == "allow"
        if is_open and all(slot.optional for slot in steps.plan.slots):
            raise FlawedError("sequence", "a sequence of optional steps demands nothing")

    @property
    def _is_closed(self) -> bool:
        return self.mode == "exact" or self.extra_calls == "forbid"

    def _fits(self, steps: Steps, calls: Called) -> bool:
        if self.mode == "any_order":
            return fits_as_bag(steps.plan, calls, closed=self._is_closed)
        return (fits_exactly if self._is_closed else fits_in_order)(steps.plan, calls)

    def _failed(self, steps: Steps, calls: Called) -> Finding:
        required = [slot for slot in range(len(steps.plan.slots)) if not steps.plan.slots[slot].optional]
        if not calls.count and required:
            texts = [steps.text(slot) for slot in required]
            return Finding("failed", f"no tool calls made, expected {listed(texts)}")
        calls.level, calls.left = MATCHES, COMPARED
        ordered = self.mode != "any_order"
        found = (align_in_order if ordered else align_bag)(steps.plan, calls)
        told = reason(found, steps, calls, closed=self._is_closed, ordered=ordered)
        return Finding("failed", told, evidence(found, steps, calls))


def _undecided(calls: Called) -> Finding:
    """It would fit if all that could not be judged were right; the first such call is told."""
    at, kind = calls.judged_as(calls.level)[0]
    outcome: Outcome = "not_evaluable" if calls.level == UNKNOWN else "error"
    return Finding(outcome, f"call {at + 1} {shorten(calls.name(at), 60)}: {calls.difference(kind, at)}")
