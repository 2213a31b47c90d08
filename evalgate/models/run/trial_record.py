"""The record of a judged trial: its encoded document and the values that are aggregated over trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.models.run.golden_result import is_unjudged_dimension

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.models.run.run import AssertionResult, Outcome, TraceRef, TrialResult, TrialStatus

    Tell = Callable[[TrialResult], tuple[bytes, bytes]]


LOST: frozenset[Outcome] = frozenset({"failed", "error", "not_evaluable"})
"""Outcomes of assertions that did not pass."""
NOTHING: tuple[FailedAssertion, ...] = ()


class FailedAssertion(NamedTuple):
    """An assertion that did not pass in one trial, and the weight that the trial's score lost by it."""

    name: str
    type: str
    required: bool
    weight: float


Marks = tuple[str, str | None, str | None, str | None]
"""Path, commit, agent hash and time of a trace, as recorded."""


class AssertionSummary(NamedTuple):
    """Status and outcomes of a trial's assertions; shared by many trials."""

    status: TrialStatus
    outcomes: tuple[Outcome, ...]
    lost: tuple[FailedAssertion, ...]
    end: bytes
    """The end of all documents that share it; empty if each document has its own."""


def plain(checked: AssertionSummary) -> tuple[Any, ...]:
    """Encodes a summary as a plain tuple for `marshal`."""
    return checked.status, checked.outcomes, tuple(map(tuple, checked.lost)), checked.end


def checked_of(row: tuple[Any, ...]) -> AssertionSummary:
    """Decodes a summary."""
    status, outcomes, lost, end = row
    return AssertionSummary(status, outcomes, tuple(FailedAssertion(*each) for each in lost), end)


class TrialRecord(NamedTuple):
    """The record of a trial: its document without the number, and values to aggregate."""

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
    """Raw values for decisions, set if the document has them redacted or cut."""

    @property
    def status(self) -> TrialStatus:
        """The status of the trial."""
        return self.checked.status


class TrialEncoder:
    """Encodes trials as records; parts that trials share are encoded once.

    All secrets must be known before the first trial: shared parts are not redacted again.
    `encode` makes the document and the end that it shares with others; `bound_name` redacts and cuts a name.
    """

    def __init__(self, tell: Tell, name: Callable[[str], str]) -> None:
        self._tell, self._name = tell, name

    def __call__(self, trial: TrialResult) -> TrialRecord:
        """Encodes one trial."""
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
    """The assertions of a trial that did not pass, without dimensions that had nothing to judge."""
    return (
        FailedAssertion(each.name, each.type, each.required, _weight_lost(each))
        for each in assertions
        if each.outcome in LOST and not is_unjudged_dimension(each.type, each.outcome)
    )


def _weight_lost(found: AssertionResult) -> float:
    """The weight that a trial's score lost by an assertion that did not pass.

    A score of 0.4 loses 0.6 of the weight; an assertion that could not be evaluated loses all of it, unless
    its suite leaves it out of the mean.
    """
    if not found.counts:
        return 0.0
    return found.weight * (1 - found.score) if found.outcome == "failed" else found.weight
