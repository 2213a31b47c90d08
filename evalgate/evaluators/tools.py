"""Which tools were called, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from evalgate.evaluators.base import Check, Evaluator, Finding
from evalgate.evaluators.flaws import FlawedError
from evalgate.measures.json_values import shorten
from evalgate.measures.sequences import Alignment, align_any_order, align_exact, align_in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace import Trace

ToolName = Annotated[str, Field(min_length=1, max_length=512)]
SHOWN = 12
"""Calls that a reason or evidence lists before it counts the rest."""

_ALIGN = {"exact": align_exact, "in_order": align_in_order, "any_order": align_any_order}


def _lower(word: Any) -> Any:
    return word.lower() if isinstance(word, str) else word


class ToolCalled(Evaluator):
    """The agent called `tool` at least once. The name is data: nothing in it is special."""

    type: Literal["tool_called"]
    tool: ToolName

    def label(self) -> str:
        """The check in words."""
        return f"tool {self.tool} called"

    def compile(self) -> Check:
        """A look at the names."""
        tool = self.tool
        passed = Finding("passed", f"{tool} was called")

        def check(trace: Trace) -> Finding:
            for call in trace.agent_calls:
                if call["name"] == tool:
                    return passed
            return Finding("failed", f"{tool} was not called{called_instead(trace)}")

        return check


class ToolSequence(Evaluator):
    """The calls an agent makes, by name.

    exact: the same calls, order and number. in_order: the expected ones as a subsequence. any_order: each as
    often as named. Other calls are allowed in the latter two unless `extra_calls` is `forbid`.
    """

    type: Literal["tool_sequence"]
    sequence: list[ToolName]
    mode: Annotated[Literal["exact", "in_order", "any_order"], BeforeValidator(_lower)] = "in_order"
    extra_calls: Literal["allow", "forbid"] = "allow"

    def label(self) -> str:
        """The check in words."""
        return f"tools {self.mode}: {listed(self.sequence)}" if self.sequence else "no tool call"

    def compile(self) -> Check:
        """Checks that something is demanded; raises FlawedError."""
        expected = self.sequence
        if not expected and self.extra_calls == "allow":
            raise FlawedError(
                "sequence", "an empty sequence demands nothing", "extra_calls: forbid means no tool call"
            )
        align = _ALIGN[self.mode]
        closed = self.mode == "exact" or self.extra_calls == "forbid"
        passed = Finding("passed", self.label())

        def check(trace: Trace) -> Finding:
            called = [call["name"] for call in trace.agent_calls]
            found = align(expected, called)
            if not found.missing and not (closed and found.extra):
                return passed
            if not called:
                return Finding("failed", f"no tool calls made, expected {listed(expected)}")
            reason = divergence(found, expected, called, closed=closed)
            return Finding("failed", reason, _evidence(found, expected, called))

        return check


def divergence(found: Alignment, expected: Sequence[str], called: Sequence[str], *, closed: bool) -> str:
    """Where the calls leave what was expected first, then all that is missing and all that is too much."""
    parts = []
    if found.missing:
        index = found.missing[0]
        before = [at for step, at in found.pairs if step < index]
        at = max(before, default=-1) + 1
        got = called[at] if at < len(called) else "the end"
        parts.append(f"step {index + 1}: expected {expected[index]}, got {got}")
        parts.append(f"missing {listed([expected[step] for step in found.missing])}")
    if closed and found.extra:
        at = found.extra[0]
        if not found.missing:
            parts.append(f"call {at + 1}: {called[at]} was not expected")
        parts.append(f"extra {listed([called[place] for place in found.extra])}")
    return "; ".join(parts)


def _evidence(found: Alignment, expected: Sequence[str], called: Sequence[str]) -> dict[str, Any]:
    """The alignment as rows [expected or null, called or null], in the order of the calls."""
    partner = {at: step for step, at in found.pairs}
    rows: list[list[str | None]] = [
        [expected[partner[at]] if at in partner else None, name] for at, name in enumerate(called)
    ]
    rows += [[expected[step], None] for step in found.missing]
    return {"alignment": rows[: 2 * SHOWN], "more": max(0, len(rows) - 2 * SHOWN)}


def listed(names: Sequence[str]) -> str:
    """Names in a row, the long tail counted."""
    head = ", ".join(shorten(name, 60) for name in names[:SHOWN])
    return head if len(names) <= SHOWN else f"{head} and {len(names) - SHOWN} more"


def called_instead(trace: Trace) -> str:
    """What was called in place of a tool, for the end of a reason."""
    names = list(dict.fromkeys(call["name"] for call in trace.agent_calls))
    return f", but these were: {listed(names)}" if names else ": no tool calls were made"
