"""Trajectories of traces, and the diff of two of one scenario: bounded in size, redacted."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003  needed for decoding
from typing import Any, Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from evalgate.models.run.bounds import Amount, LongText, Name, Word  # noqa: TC001  needed for decoding

SIDES = {"baseline": "before", "current": "now"}
"""What results.json calls the two sides of a comparison."""

StepKind = Literal["same", "changed", "removed", "added"]
DivergenceKind = Literal["user", "calls", "words", "answer", "end"]


class ValueDifference(Struct, frozen=True, rename=SIDES):
    """A difference of two JSON values: its path as a JMESPath, empty for the value itself, and both sides.

    The sides are JSON, shortened so that the difference is visible; None if the side has no value there.
    """

    path: Name
    baseline: str | None
    current: str | None


class TextPart(Struct, frozen=True):
    """A part of a text diff: in both texts (kept), only in the first (gone) or in the second (come)."""

    kind: Word
    text: LongText


class TrajectoryCall(NamedTuple):
    """One tool call of the agent; `outcome` is ok, error or missing, `answer` the start of its result.

    Calls of one `step`, unless that is 0, were made by one message.
    """

    turn: int
    name: str
    arguments: Any
    outcome: str
    answer: str
    step: int = 0


class TrajectoryTurn(Struct):
    """The texts of user and agent in one exchange, shortened."""

    user: str = ""
    agent: str = ""


class Trajectory(Struct):
    """What an agent did in one trace, as far as a diff needs it. `left_out` counts omitted calls.

    `reads_only`: all calls are recorded, there are tools, and by their names and hints no call changes anything.
    """

    calls: list[TrajectoryCall]
    turns: dict[int, TrajectoryTurn]
    response: str | None
    status: str
    error: str | None
    left_out: int = 0
    reads_only: bool = False


class TrialExample(Struct, frozen=True, omit_defaults=True):
    """What the agent did in a trial that passed of a scenario that the baseline lacks: texts shortened, redacted.

    `calls` are names with their arguments, the first ones, `calls_left` counts the others; `reads_only` is as in a
    TrajectoryDiff.
    """

    trial: int
    request: Name
    calls: Sequence[Name]
    answer: Name | None
    calls_left: int = 0
    reads_only: bool = False


class TextPair(Struct, frozen=True, rename=SIDES):
    """A text in the baseline's trace and in this run's; None if absent."""

    baseline: str | None
    current: str | None


class CallPosition(Struct, frozen=True):
    """A call by its turn and its number, both counted from 1 (turn 0: before any user input)."""

    turn: int
    call: int


class CallStep(Struct, rename=SIDES, omit_defaults=True):
    """One step of two aligned lists of calls. `arguments` are JSON: this run's, or of a removed call.

    `kind` is a StepKind. An added call has a place in the baseline too if that makes an equal call elsewhere, as
    another, removed step. `outcome` is set if it differs, or if a call that one side makes ended with an error;
    `answer` if equal calls got different results, or as the message of that error.
    """

    kind: Word
    name: Name
    baseline: CallPosition | None
    current: CallPosition | None
    arguments: str
    changes: Sequence[ValueDifference]
    changes_left: int
    outcome: TextPair | UnsetType = UNSET
    answer: TextPair | UnsetType = UNSET


class Utterance(Struct, frozen=True, rename=SIDES):
    """Texts of the user or the agent in one turn, from where they differ."""

    turn: int
    who: Word
    baseline: str
    current: str


class FirstDivergence(Struct, frozen=True, rename={**SIDES, "kind": "what"}):
    """Where two traces diverge: the turn, and in what, a DivergenceKind; the sides are numbers of calls."""

    turn: int
    kind: Word
    baseline: int | None
    current: int | None


class FigureDelta(Struct, frozen=True, rename=SIDES):
    """A figure of both trials: score, cost_usd, latency_seconds or total_tokens; None if unknown."""

    name: Word
    baseline: Amount | None
    current: Amount | None


class TrajectoryDiff(Struct, kw_only=True, rename={"utterances": "said"}, omit_defaults=True):
    """The diff of a trial of this run and one of the baseline: calls, texts and figures.

    `first` is None if nothing differs, `response` is empty if the final answers are equal; `status` and `error` are
    set if they differ. `steps_left` counts omitted steps. `reads_only` is there and true if no call of either trial
    changes anything, as far as the names and hints of the tools say.
    """

    trial_before: int
    trial: int
    first: FirstDivergence | None
    steps: Sequence[CallStep]
    steps_left: int
    utterances: Sequence[Utterance]
    response: Sequence[TextPart]
    figures: Sequence[FigureDelta]
    status: TextPair | UnsetType = UNSET
    error: TextPair | UnsetType = UNSET
    reads_only: bool = False
