"""Trajectories of traces, and the diff of two of one scenario: bounded in size, redacted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Sequence

StepKind = Literal["same", "changed", "removed", "added"]
DivergenceKind = Literal["user", "calls", "words", "answer", "end"]


class ValueDifference(NamedTuple):
    """A difference of two JSON values: its path as a JMESPath, empty for the value itself, and both sides.

    The sides are JSON, shortened so that the difference is visible; None if the side has no value there.
    """

    path: str
    baseline: str | None
    current: str | None


class TextPart(NamedTuple):
    """A part of a text diff: in both texts (kept), only in the first (gone) or in the second (come)."""

    kind: Literal["kept", "gone", "come"]
    text: str


class TrajectoryCall(NamedTuple):
    """One tool call of the agent; `outcome` is ok, error or missing, `answer` the start of its result."""

    turn: int
    name: str
    arguments: Any
    outcome: str
    answer: str


class TrajectoryTurn(Struct):
    """The texts of user and agent in one exchange, shortened."""

    user: str = ""
    agent: str = ""


class Trajectory(Struct):
    """What an agent did in one trace, as far as a diff needs it. `left_out` counts omitted calls."""

    calls: list[TrajectoryCall]
    turns: dict[int, TrajectoryTurn]
    response: str | None
    status: str
    error: str | None
    left_out: int = 0


class TextPair(NamedTuple):
    """A text in the baseline's trace and in this run's; None if absent."""

    baseline: str | None
    current: str | None


class CallPosition(NamedTuple):
    """A call by its turn and its number, both counted from 1 (turn 0: before any user input)."""

    turn: int
    call: int


class CallStep(Struct):
    """One step of two aligned lists of calls. `arguments` are JSON: this run's, or of a removed call.

    An added call has a place in the baseline too if that makes an equal call elsewhere, as another, removed step.
    """

    kind: StepKind
    name: str
    baseline: CallPosition | None
    current: CallPosition | None
    arguments: str
    changes: Sequence[ValueDifference] = ()
    changes_left: int = 0
    outcome: TextPair | None = None  # if it differs, or if a call that one side makes ended with an error
    answer: TextPair | None = None  # if equal calls got different results, or the message of that error


class Utterance(NamedTuple):
    """Texts of one turn that differ."""

    turn: int
    who: Literal["user", "agent"]
    baseline: str
    current: str


class FirstDivergence(NamedTuple):
    """Where two traces diverge: the turn, and in what; `baseline` and `current` are numbers of calls."""

    turn: int
    kind: DivergenceKind
    baseline: int | None = None
    current: int | None = None


class FigureDelta(NamedTuple):
    """A figure of both trials; None if unknown."""

    name: Literal["cost_usd", "latency_seconds", "total_tokens", "score"]
    baseline: float | None
    current: float | None


class TrajectoryDiff(Struct):
    """The diff of a trial of this run and one of the baseline: calls, texts and figures.

    `first` is None if nothing differs, `response` is empty if the final answers are equal.
    """

    trial_before: int
    trial: int
    steps: list[CallStep]
    steps_left: int = 0
    first: FirstDivergence | None = None
    utterances: list[Utterance] = field(default_factory=list)
    response: list[TextPart] = field(default_factory=list)
    status: TextPair | None = None  # if it differs
    error: TextPair | None = None  # if it differs
    figures: list[FigureDelta] = field(default_factory=list)
