"""What is kept of a trial: the document that tells of it, and what is counted over all trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.models.golden_result import is_unjudged_dimension

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.models.run import AssertionResult, Outcome, TraceRef, TrialResult, TrialStatus

    _Checked = tuple[tuple[Outcome, ...], tuple["Lost", ...], Sequence[AssertionResult]]

LOST: frozenset[Outcome] = frozenset({"failed", "error", "not_evaluable"})
"""Outcomes of checks that did not pass."""
NOTHING: tuple[Lost, ...] = ()


class Lost(NamedTuple):
    """A check that did not pass in one trial, and how much of the trial's score that took."""

    name: str
    type: str
    required: bool
    weight: float


Marks = tuple[str, str | None, str | None, str | None]
"""Path of a recording, and of which commit it is, what made it and when, as it says."""


class ToldTrial(NamedTuple):
    """What is kept of a trial: its document but for the number, and what is counted over trials."""

    document: bytes
    status: TrialStatus
    score: float | None
    cost_usd: float | None
    latency_seconds: float | None
    total_tokens: int | None
    input_tokens: int | None
    output_tokens: int | None
    is_priced: bool
    outcomes: tuple[Outcome, ...]
    marks: Marks | None
    """What decisions go by and the document does not tell as it is."""
    lost: tuple[Lost, ...]


class Teller:
    """Makes of trials what is kept of them, looking once at what they share.

    `tell` makes the document, `name` what stands there for a name.
    """

    def __init__(self, tell: Callable[[TrialResult], bytes], name: Callable[[str], str]) -> None:
        self._tell, self._name = tell, name
        self._shared: dict[int, _Checked] = {}  # by identity: the checks are kept with what they say

    def __call__(self, trial: TrialResult) -> ToldTrial:
        """What is kept of one trial."""
        outcomes, lost, _ = self._shared.get(id(trial.assertions)) or self._checked(trial)
        return ToldTrial(
            self._tell(trial),
            trial.status,
            trial.score,
            trial.cost_usd,
            trial.latency_seconds,
            trial.total_tokens,
            trial.input_tokens,
            trial.output_tokens,
            trial.pricing is not None,
            outcomes,
            self._untold(trial.trace),
            lost,
        )

    def _untold(self, trace: TraceRef) -> Marks | None:
        marks = trace.path, trace.commit, trace.agent_hash, trace.recorded_at
        for mark in marks:
            if mark is not None and self._name(mark) != mark:
                return marks
        return None

    def _checked(self, trial: TrialResult) -> _Checked:
        rows = trial.assertions
        outcomes = tuple([each.outcome for each in rows])
        found = outcomes, NOTHING if LOST.isdisjoint(outcomes) else tuple(lost_among(rows)), rows
        if trial.together is not None and trial.together.is_shared:
            self._shared[id(rows)] = found
        return found


def lost_among(assertions: Iterable[AssertionResult]) -> Iterator[Lost]:
    """The checks of a trial that did not pass; what nobody could judge of a golden is none of them."""
    return (
        Lost(each.name, each.type, each.required, _weight_lost(each))
        for each in assertions
        if each.outcome in LOST and not is_unjudged_dimension(each.type, each.outcome)
    )


def _weight_lost(found: AssertionResult) -> float:
    """What a check that did not pass took of its trial's score.

    A score of 0.4 loses 0.6 of its weight; what could not be checked loses all of it, unless its suite leaves
    that out of the mean.
    """
    if not found.counts:
        return 0.0
    return found.weight * (1 - found.score) if found.outcome == "failed" else found.weight
