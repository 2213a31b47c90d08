"""Trajectory diffs in `results.json`: the public shape of `change.behaviour`."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class TextPairDoc(TypedDict):
    """A text of the baseline's trace and of this run's; null if absent."""

    before: str | None
    now: str | None


class CallPositionDoc(TypedDict):
    """A call by its turn and its number, both counted from 1 (turn 0: before any user input)."""

    turn: int
    call: int


class ValueDifferenceDoc(TypedDict):
    """A difference of arguments: its path as JMESPath, and both sides as JSON; null if absent."""

    path: str
    before: str | None
    now: str | None


class CallStepDoc(TypedDict):
    """A call of one of the traces, or of both: `kind` is same, changed, removed or added.

    `arguments` are JSON, of this run's call if it has one. `outcome` is present if the outcomes differ,
    `answer` if equal calls got different results.
    """

    kind: str
    name: str
    before: CallPositionDoc | None
    now: CallPositionDoc | None
    arguments: str
    changes: list[ValueDifferenceDoc]
    changes_left: int
    outcome: NotRequired[TextPairDoc]
    answer: NotRequired[TextPairDoc]


class UtteranceDoc(TypedDict):
    """Texts of the user or the agent in one turn, from where they differ."""

    turn: int
    who: str
    before: str
    now: str


class FirstDivergenceDoc(TypedDict):
    """Where the traces diverge: `what` is user, calls, words, answer or end; calls are numbers."""

    turn: int
    what: str
    before: int | None
    now: int | None


class TextPartDoc(TypedDict):
    """A part of the final answer's diff: kept, gone or come."""

    kind: str
    text: str


class FigureDeltaDoc(TypedDict):
    """A figure of both trials: score, cost_usd, latency_seconds or total_tokens."""

    name: str
    before: float | None
    now: float | None


class TrajectoryDiffDoc(TypedDict):
    """The diff of a trial's trace and one of the baseline. `steps_left` counts omitted steps.

    `first` is null if nothing differs; `response` is empty if the final answers are equal.
    """

    trial_before: int
    trial: int
    first: FirstDivergenceDoc | None
    steps: list[CallStepDoc]
    steps_left: int
    said: list[UtteranceDoc]
    response: list[TextPartDoc]
    figures: list[FigureDeltaDoc]
    status: NotRequired[TextPairDoc]
    error: NotRequired[TextPairDoc]
