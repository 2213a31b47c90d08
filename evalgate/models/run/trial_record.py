"""The record of a judged trial: its encoded document and the values that are aggregated over trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.models.run.golden import is_unjudged_dimension

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.models.run.run import AssertionResult, Outcome, Required, TraceRef, TrialResult, TrialStatus

    EncodeTrial = Callable[[TrialResult], tuple[bytes, bytes]]


FAILED_OUTCOMES: frozenset[Outcome] = frozenset({"failed", "error", "not_evaluable"})
"""Outcomes of assertions that did not pass."""
NO_FAILURES: tuple[FailedAssertion, ...] = ()


class FailedAssertion(NamedTuple):
    """An assertion that did not pass in one trial, and the weight that the trial's score lost by it."""

    name: str
    type: str
    required: Required
    weight: float
    outcome: Outcome


TraceInfo = tuple[str, str | None, str | None, str | None]
"""Path, commit, agent hash and time of a trace, as recorded."""


class AssertionSummary(NamedTuple):
    """Status and outcomes of a trial's assertions; shared by many trials."""

    status: TrialStatus
    outcomes: tuple[Outcome, ...]
    failed: tuple[FailedAssertion, ...]
    end: bytes
    """The end of all documents that share it; empty if each document has its own."""


def encode_summary(summary: AssertionSummary) -> tuple[Any, ...]:
    """Encodes a summary as a plain tuple for `marshal`."""
    return summary.status, summary.outcomes, tuple(map(tuple, summary.failed)), summary.end


def decode_summary(row: tuple[Any, ...]) -> AssertionSummary:
    """Decodes a summary."""
    status, outcomes, failed, end = row
    return AssertionSummary(status, outcomes, tuple(FailedAssertion(*each) for each in failed), end)


class TrialRecord(NamedTuple):
    """The record of a trial: its document without the number, and values to aggregate."""

    document: bytes
    summary: AssertionSummary
    score: float | None
    cost_usd: float | None
    latency_seconds: float | None
    total_tokens: int | None
    input_tokens: int | None
    output_tokens: int | None
    is_priced: bool
    info: TraceInfo | None
    """Raw values for decisions, set if the document has them redacted or cut."""
    named: int | None = None
    content: int | None = None
    """Digests of the trace's own id or bytes, and of its conversation."""

    @property
    def status(self) -> TrialStatus:
        """The status of the trial."""
        return self.summary.status


class TrialEncoder:
    """Encodes trials as records; parts that trials share are encoded once.

    All secrets must be known before the first trial: shared parts are not redacted again.
    `encode` makes the document and the end that it shares with others; `bound_name` redacts and cuts a name.
    """

    def __init__(self, encode: EncodeTrial, bound_name: Callable[[str], str]) -> None:
        self._encode, self._bound_name = encode, bound_name

    def __call__(self, trial: TrialResult) -> TrialRecord:
        """Encodes one trial."""
        document, end = self._encode(trial)
        return TrialRecord(
            document,
            _summarize_shared(trial, end),
            trial.score,
            trial.cost_usd,
            trial.latency_seconds,
            trial.total_tokens,
            trial.input_tokens,
            trial.output_tokens,
            trial.pricing is not None,
            self._keep_raw_info(trial.trace),
            trial.trace.named,
            trial.trace.content,
        )

    def _keep_raw_info(self, trace: TraceRef) -> TraceInfo | None:
        info = trace.path, trace.commit, trace.agent_hash, trace.recorded_at
        for value in info:
            if value is not None and self._bound_name(value) != value:
                return info
        return None


def _summarize_shared(trial: TrialResult, end: bytes) -> AssertionSummary:
    shared = trial.together
    if shared is None or not shared.is_shared:
        return _summarize(trial.status, trial.assertions, end)
    found: AssertionSummary | None = shared.summary
    if found is None:
        found = shared.summary = _summarize(trial.status, trial.assertions, shared.end)
    return found if end else found._replace(end=b"")


def _summarize(status: TrialStatus, assertions: Sequence[AssertionResult], end: bytes) -> AssertionSummary:
    outcomes = tuple([each.outcome for each in assertions])
    failed = NO_FAILURES if FAILED_OUTCOMES.isdisjoint(outcomes) else tuple(find_failed(assertions))
    return AssertionSummary(status, outcomes, failed, end)


def find_failed(assertions: Iterable[AssertionResult]) -> Iterator[FailedAssertion]:
    """The assertions of a trial that did not pass, without dimensions that had nothing to judge."""
    return (
        FailedAssertion(each.name, each.type, each.required, _weight_lost(each), each.outcome)
        for each in filter(is_failed, assertions)
    )


def is_failed(found: AssertionResult) -> bool:
    """Whether an assertion did not pass; a dimension that had nothing to judge does not count."""
    return found.outcome in FAILED_OUTCOMES and not is_unjudged_dimension(found.type, found.outcome)


def _weight_lost(found: AssertionResult) -> float:
    """The weight that a trial's score lost by an assertion that did not pass.

    A score of 0.4 loses 0.6 of the weight; an assertion that could not be evaluated loses all of it, unless
    its suite leaves it out of the mean.
    """
    if not found.counts:
        return 0.0
    return found.weight * (1 - found.score) if found.outcome == "failed" else found.weight
