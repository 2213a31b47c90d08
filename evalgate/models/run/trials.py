"""What reports and decisions ask of trials, whether stored or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from msgspec.json import Decoder

from evalgate.models.run.golden import is_unjudged_dimension
from evalgate.models.run.run import FAILED_OUTCOMES, AssertionSummary, FailedAssertion, StoredTrial
from evalgate.models.run.trial_doc import TrialDoc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalgate.models.run.run import AnyAssertion, ScenarioResult, SuiteResult, Trial, TrialStatus
    from evalgate.models.run.trial_doc import AgentParts, Recorded


def iter_trials(suite: SuiteResult) -> Iterator[Trial]:
    """All trials of a suite."""
    return (trial for scenario in suite.scenarios for trial in scenario.trials)


def is_priced(trial: Trial) -> bool:
    """Whether the cost of a trial had to be computed."""
    return trial.is_priced if isinstance(trial, StoredTrial) else bool(trial.pricing)


def summarize(trial: Trial) -> AssertionSummary:
    """The outcomes of a trial's assertions."""
    return trial.summary if isinstance(trial, StoredTrial) else summarize_assertions(trial.assertions)


def summarize_assertions(assertions: Sequence[AnyAssertion], end: bytes = b"") -> AssertionSummary:
    """The outcomes of assertions."""
    outcomes = tuple([each.outcome for each in assertions])
    if FAILED_OUTCOMES.isdisjoint(outcomes):
        return AssertionSummary(outcomes, (), end)
    failed = [
        FailedAssertion(each.name, each.type, each.required, _weight_lost(each), each.outcome, each.digest or None)
        for each in filter(is_failed, assertions)
    ]
    return AssertionSummary(outcomes, tuple(failed), end)


def is_failed(found: AnyAssertion) -> bool:
    """Whether an assertion did not pass; a dimension that had nothing to judge does not count."""
    return found.outcome in FAILED_OUTCOMES and not is_unjudged_dimension(found.type, found.outcome)


def identify_failure(digest: str, outcome: str) -> str:
    """What two runs compare of a check that did not pass: one that failed is new where it could not be evaluated."""
    return digest if outcome == "failed" else f"{digest}?"


def _weight_lost(found: AnyAssertion) -> float:
    """The weight that a trial's score lost by an assertion that did not pass.

    A score of 0.4 loses 0.6 of the weight; an assertion that could not be evaluated loses all of it, unless
    its suite leaves it out of the mean.
    """
    if not found.counts:
        return 0.0
    return found.weight * (1 - found.score) if found.outcome == "failed" else found.weight


def list_measured(trials: Sequence[Trial]) -> Sequence[Trial]:
    """The trials without those that an outage left unmeasured."""
    return [trial for trial in trials if trial.status != "not_measured"]


def count_unmeasured(trials: Sequence[Trial]) -> int:
    """Counts the trials that an outage left unmeasured."""
    return sum(trial.status == "not_measured" for trial in trials)


def is_unmeasured(scenario: ScenarioResult) -> bool:
    """Whether a scenario has no verdict because an outage left too few of its trials measured."""
    return scenario.verdict == "NOT_EVALUABLE" and count_unmeasured(scenario.trials) > 0


def filter_by_status(trials: Sequence[Trial], status: TrialStatus) -> Sequence[Trial]:
    """The trials with one status."""
    return [trial for trial in trials if trial.status == status]


def get_recorded(trial: Trial) -> Recorded:
    """What its trace records, of what a comparison needs."""
    return trial.recorded if isinstance(trial, StoredTrial) else trial.trace.recorded


def get_digest(trial: Trial) -> int | None:
    """What identifies its recording; None if it was replayed, or a version before did not keep it."""
    return trial.digest if isinstance(trial, StoredTrial) else trial.trace.digest


def identify_recording(trial: Trial) -> object | None:
    """The same for another trial of the recording only: without a time, trials that did the same have one digest."""
    trace = trial.trace
    return trace.digest if trace.digest is None or trace.recorded_at else (trace.digest, trial.trial)


def list_agent_parts(trials: Sequence[Trial]) -> list[AgentParts]:
    """What the trace of each measured trial records of the agent."""
    return [trial.trace.agent for trial in list_measured(trials)]


def list_origins(trials: Sequence[Trial]) -> list[tuple[int | None, str | None]]:
    """What identifies the recording of each trial that was judged, None if it was replayed, and its commit."""
    return [
        (trial.digest, trial.commit) if isinstance(trial, StoredTrial) else (trial.trace.digest, trial.trace.commit)
        for trial in trials
        if trial.status != "error"
    ]


def set_stale(trial: Trial, why: str | None) -> None:
    """Records in a trial why its trace is no longer evidence."""
    if isinstance(trial, StoredTrial):
        trial.stale = why
    else:
        trial.trace.stale = why


def list_stale_reasons(trials: Sequence[Trial]) -> list[str]:
    """The reasons why traces are no longer evidence, for the stale ones."""
    found = [each.stale if isinstance(each, StoredTrial) else each.trace.stale for each in trials]
    return [why for why in found if why is not None]


decode_trial = Decoder(TrialDoc).decode


class TrialDocs(Sequence[TrialDoc]):
    """The documents of a scenario's trials, each decoded from its bytes, and converted, on every access."""

    __slots__ = ("_convert", "trials")

    def __init__(self, trials: Sequence[StoredTrial], convert: Callable[[TrialDoc], TrialDoc] | None = None) -> None:
        self.trials = trials
        self._convert = convert

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return id(self)

    def __len__(self) -> int:
        return len(self.trials)

    @overload
    def __getitem__(self, index: int) -> TrialDoc: ...
    @overload
    def __getitem__(self, index: slice) -> TrialDocs: ...
    def __getitem__(self, index: int | slice) -> TrialDoc | TrialDocs:
        if isinstance(index, slice):
            return TrialDocs(self.trials[index], self._convert)
        return self._decode(self.trials[index])

    def __iter__(self) -> Iterator[TrialDoc]:
        return map(self._decode, self.trials)

    def select(self, status: str) -> TrialDocs:
        """The documents of the trials with this status."""
        return TrialDocs([trial for trial in self.trials if trial.status == status], self._convert)

    def _decode(self, trial: StoredTrial) -> TrialDoc:
        document = decode_trial(trial.document)
        return self._convert(document) if self._convert is not None else document
