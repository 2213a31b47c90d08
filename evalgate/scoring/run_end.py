"""How the end of a run counts: one that ended in an error does not pass, whatever it did before."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from evalgate.measures.text.plain_text import mark_part
from evalgate.measures.values.json_values import mark_name
from evalgate.models.run.run import RUN_FAILED, AssertionResult
from evalgate.scoring.wording import cut_quote, join_names

if TYPE_CHECKING:
    from evalgate.errors import Location
    from evalgate.models.trace.trace import Trace

_PROCESS = re.compile(r"(?:exit code|signal) \d")


def build_failed_check(trace: Trace, location: Location | None, *, has_weight: bool) -> AssertionResult:
    """The required check that a run which ended in an error does not pass, at the place of its scenario.

    It has the weight 1 as others have; in a golden, whose dimensions weigh 1 together, it has none.
    """
    reason = f"{_describe_end(trace)}{_name_place(trace)}{_quote_error(trace)}"
    return AssertionResult(
        *(RUN_FAILED, RUN_FAILED, "failed", 0.0, float(has_weight)),
        required=True,
        reason=reason,
        location=location,
        digest=RUN_FAILED,
    )


def _describe_end(trace: Trace) -> str:
    kind = " ".join(((trace.error and trace.error["type"]) or "").split())
    if _PROCESS.match(kind):
        return f"the agent ended with {cut_quote(kind)}"
    return f"the run ended in an error{f' ({cut_quote(kind)})' if kind else ''}"


def _name_place(trace: Trace) -> str:
    """Up to where the agent came: its final answer, else its last call, or all calls of its last message."""
    if (trace.response["content"] or "").strip():
        return " after its final answer"
    calls = trace.agent_calls
    if not calls:
        return ""
    step, last = calls[-1]["step"], len(calls)
    made = list(takewhile(lambda call: call["step"] == step, reversed(calls))) if step else calls[-1:]
    names = sorted({call["name"] for call in made})
    place = f"call {last}" if len(names) == 1 else f"calls {last - len(made) + 1} to {last}"
    return f" after {place} ({join_names([*map(mark_name, names)])})"


def _quote_error(trace: Trace) -> str:
    """The last line of the error, which is the one that names it where it is what a process wrote."""
    message = ((trace.error and trace.error["message"]) or "").rstrip()
    last = message[max(map(message.rfind, "\n\r")) + 1 :].strip()
    return f": {mark_part(cut_quote(last))}" if last else ""
