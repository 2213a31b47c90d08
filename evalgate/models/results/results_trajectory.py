"""How recordings differ, as `results.json` tells it: the public shape of `change.behaviour`."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class SidesDoc(TypedDict):
    """Something of the baseline's recording and of this run's; null where it has none."""

    before: str | None
    now: str | None


class CallPlaceDoc(TypedDict):
    """A call by its turn and its number among the calls, both counted from 1 (turn 0: before any)."""

    turn: int
    call: int


class ArgumentDoc(TypedDict):
    """A place of the arguments, as JMESPath, and the JSON that stands there; null where nothing does."""

    path: str
    before: str | None
    now: str | None


class CallStepDoc(TypedDict):
    """A call of one of the recordings, or of both: `kind` is same, changed, removed or added.

    `arguments` are JSON, of this run's call where it has one. `outcome` is there where it ended otherwise,
    `answer` where equal calls were answered otherwise.
    """

    kind: str
    name: str
    before: CallPlaceDoc | None
    now: CallPlaceDoc | None
    arguments: str
    changes: list[ArgumentDoc]
    changes_left: int
    outcome: NotRequired[SidesDoc]
    answer: NotRequired[SidesDoc]


class SaidDoc(TypedDict):
    """Words of the user or the agent in one turn, from where they differ."""

    turn: int
    who: str
    before: str
    now: str


class FirstDepartureDoc(TypedDict):
    """Where the recordings part: `what` is user, calls, words, answer or end; calls by their number."""

    turn: int
    what: str
    before: int | None
    now: int | None


class PartDoc(TypedDict):
    """A stretch of the final answer: kept, gone or come."""

    kind: str
    text: str


class FigureMovedDoc(TypedDict):
    """A figure of both trials: score, cost_usd, latency_seconds or total_tokens."""

    name: str
    before: float | None
    now: float | None


class BehaviourDoc(TypedDict):
    """How a trial's recording differs from one of the baseline. Counts say how much is not told.

    `first` is null where nothing differs; `response` is empty where the final answers are equal.
    """

    trial_before: int
    trial: int
    first: FirstDepartureDoc | None
    steps: list[CallStepDoc]
    steps_left: int
    said: list[SaidDoc]
    response: list[PartDoc]
    figures: list[FigureMovedDoc]
    status: NotRequired[SidesDoc]
    error: NotRequired[SidesDoc]
