"""What is kept of a trial: the document that tells of it, and what is counted over all trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.models.run.golden_result import is_unjudged_dimension

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.models.run.run import AssertionResult, Outcome, TraceRef, TrialResult, TrialStatus

    Tell = Callable[[TrialResult], tuple[bytes, bytes]]


LOST: frozenset[Outcome] = frozenset({"failed", "error", "not_evaluable"})
"""Outcomes of checks that did not pass."""
NOTHING: tuple[FailedAssertion, ...] = ()


class FailedAssertion(NamedTuple):
    """A check that did not pass in one trial, and how much of the trial's score that took."""

    name: str
    type: str
    required: bool
    weight: float


Marks = tuple[str, str | None, str | None, str | None]
"""Path of a recording, and of which commit it is, what made it and when, as it says."""


class AssertionSummary(NamedTuple):
    """What the checks of a trial found; many trials have the very same."""

    status: TrialStatus
    outcomes: tuple[Outcome, ...]
    lost: tuple[FailedAssertion, ...]
    end: bytes
    """How documents that share it end; empty where each tells it itself."""


def plain(checked: AssertionSummary) -> tuple[Any, ...]:
    """As `marshal` takes it."""
    return checked.status, checked.outcomes, tuple(map(tuple, checked.lost)), checked.end


def checked_of(row: tuple[Any, ...]) -> AssertionSummary:
    """What was made plain."""
    status, outcomes, lost, end = row
    return AssertionSummary(status, outcomes, tuple(FailedAssertion(*each) for each in lost), end)


class TrialRecord(NamedTuple):
    """What is kept of a trial: its document but for the number, and what is counted over trials."""

    document: bytes
    checked: AssertionSummary
    score: float | None
    cost_usd: float | None
    latency_seconds: float | None
    total_tokens: int | None
    input_tokens: int | None
    output_tokens: int | None
    is_priced: bool
    info: Marks | None
    """What decisions go by and the document does not tell as it is."""

    @property
    def status(self) -> TrialStatus:
        """How it ended."""
        return self.checked.status


class TrialEncoder:
    """Makes of trials what is kept of them, looking once at what they share.

    Whatever is to be hidden is known before: what trials share is not told anew.
    `tell` makes the document, and the end that it shares with others; `name` what stands there for a name.
    """

    def __init__(self, tell: Tell, name: Callable[[str], str]) -> None:
        self._tell, self._name = tell, name

    def __call__(self, trial: TrialResult) -> TrialRecord:
        """What is kept of one trial."""
        document, end = self._tell(trial)
        return TrialRecord(
            document,
            _checked(trial, end),
            trial.score,
            trial.cost_usd,
            trial.latency_seconds,
            trial.total_tokens,
            trial.input_tokens,
            trial.output_tokens,
            trial.pricing is not None,
            self._untold(trial.trace),
        )

    def _untold(self, trace: TraceRef) -> Marks | None:
        marks = trace.path, trace.commit, trace.agent_hash, trace.recorded_at
        for mark in marks:
            if mark is not None and self._name(mark) != mark:
                return marks
        return None


def _checked(trial: TrialResult, end: bytes) -> AssertionSummary:
    together = trial.together
    if together is None or not together.is_shared:
        return _found(trial.status, trial.assertions, end)
    found: AssertionSummary | None = together.checked
    if found is None:
        found = together.checked = _found(trial.status, trial.assertions, together.end)
    return found if end else found._replace(end=b"")


def _found(status: TrialStatus, assertions: Sequence[AssertionResult], end: bytes) -> AssertionSummary:
    outcomes = tuple([each.outcome for each in assertions])
    lost = NOTHING if LOST.isdisjoint(outcomes) else tuple(lost_among(assertions))
    return AssertionSummary(status, outcomes, lost, end)


def lost_among(assertions: Iterable[AssertionResult]) -> Iterator[FailedAssertion]:
    """The checks of a trial that did not pass; what nobody could judge of a golden is none of them."""
    return (
        FailedAssertion(each.name, each.type, each.required, _weight_lost(each))
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
