"""What an agent did in one recording, and how two of a scenario differ: bounded, without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Sequence

StepKind = Literal["same", "changed", "removed", "added"]
Departure = Literal["user", "calls", "words", "answer", "end"]


class Difference(NamedTuple):
    """One place of two values: its path as a JMESPath, empty for the value itself, and what stands there.

    Values are JSON, cut so that the difference is seen; None where the side has nothing there.
    """

    path: str
    before: str | None
    now: str | None


class TextPart(NamedTuple):
    """A stretch of text that both texts have, or only the first (gone) or only the second (come)."""

    kind: Literal["kept", "gone", "come"]
    text: str


class TrajectoryCall(NamedTuple):
    """One call of the agent; `outcome` is ok, error or missing, `answer` the beginning of what came back."""

    turn: int
    name: str
    arguments: Any
    outcome: str
    answer: str


@dataclass(slots=True)
class Turn:
    """What was said in one exchange, shortened: the user's words and the agent's."""

    user: str = ""
    agent: str = ""


@dataclass(slots=True)
class Trajectory:
    """What happened in one recording, as much as a difference needs. `left_out` counts further calls."""

    calls: list[TrajectoryCall]
    turns: dict[int, Turn]
    response: str | None
    status: str
    error: str | None
    left_out: int = 0


class Sides(NamedTuple):
    """A text of the baseline's recording beside that of this run's; None where it has none."""

    before: str | None
    now: str | None


class CallPlace(NamedTuple):
    """Which call it is: the turn it stands in, and its number, both counted from 1 (turn 0: before any)."""

    turn: int
    call: int


@dataclass(slots=True)
class CallStep:
    """One line of two aligned lists of calls. `arguments` as JSON: of now, or of what was removed."""

    kind: StepKind
    name: str
    before: CallPlace | None
    now: CallPlace | None
    arguments: str
    changes: Sequence[Difference] = ()
    changes_left: int = 0
    outcome: Sides | None = None  # where it differs
    answer: Sides | None = None  # of equal calls that were answered otherwise


class Utterance(NamedTuple):
    """Words of one turn that differ."""

    turn: int
    who: Literal["user", "agent"]
    before: str
    now: str


class FirstDivergence(NamedTuple):
    """Where two recordings part: in which turn, and in what; `before` and `now` number the calls."""

    turn: int
    what: Departure
    before: int | None = None
    now: int | None = None


class FigureMoved(NamedTuple):
    """A figure of both trials; None is unknown."""

    name: Literal["cost_usd", "latency_seconds", "total_tokens", "score"]
    before: float | None
    now: float | None


@dataclass(slots=True)
class Behaviour:
    """How a trial of this run differs from one of the baseline, call by call and word by word.

    `first` is None where nothing differs, `response` empty where the final answers are equal.
    """

    trial_before: int
    trial: int
    steps: list[CallStep]
    steps_left: int = 0
    first: FirstDivergence | None = None
    said: list[Utterance] = field(default_factory=list)
    response: list[TextPart] = field(default_factory=list)
    status: Sides | None = None  # where it differs
    error: Sides | None = None  # where it differs
    figures: list[FigureMoved] = field(default_factory=list)
