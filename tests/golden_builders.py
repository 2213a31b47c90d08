"""Small builders for tests of goldens: conversations in a line, and a golden judged against one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from builders import make_message, make_trace

from evalgate.models.run.golden import Golden
from evalgate.models.trace.final_answer import find_final_answer
from evalgate.scoring.golden.judging import judge_golden
from evalgate.scoring.golden.rules import GoldenRules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import ToolCall, Trace
    from evalgate.scoring.golden.judging import DimensionResult, GoldenJudgement

Turn = tuple[str, str | None]


def talk(*turns: Turn, calls: Sequence[ToolCall] = (), scores: dict[str, float] | None = None) -> Trace:
    """A trace in which the user says the first of each pair and the agent answers the second."""
    trace = make_trace(list(calls))
    trace.messages = []
    for number, (user, answer) in enumerate(turns, 1):
        trace.messages.append(make_message(len(trace.messages), "user", user, turn=number))
        if answer is not None:
            trace.messages.append(make_message(len(trace.messages), "assistant", answer, turn=number))
    trace.response = find_final_answer(trace.messages)
    trace.evaluations = [
        {"name": name, "score_value": value, "score_label": None, "explanation": None, "source": None}
        for name, value in (scores or {}).items()
    ]
    return trace


def golden(*turns: Turn, **fields: Any) -> Golden:
    """A golden of these turns."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    return Golden(
        values.pop("id", "g"),
        user_messages=tuple(user for user, _ in turns),
        golden_responses=tuple(answer or "" for _, answer in turns),
        **values,
    )


def judge(what: Golden, trace: Trace, **rules: Any) -> GoldenJudgement:
    """Judges the trace against the golden."""
    return judge_golden(GoldenRules(what, **rules), trace)


def dimension(name: str, what: Golden, trace: Trace, **rules: Any) -> DimensionResult:
    """One dimension of the judgement."""
    return judge(what, trace, **rules).dimensions[name]  # type: ignore[index]
