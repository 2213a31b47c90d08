"""Access to the trials of a scenario, whether in a trial store or in a plain list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from evalgate.models.run.run import AgentParts, Outcome, TrialResult, TrialStatus
from evalgate.models.run.trial_record import FAILED_OUTCOMES, FailedAssertion, find_failed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.models.run.run import ScenarioResult
    from evalgate.models.run.trial_store import TrialStore


class Trials(Sequence[TrialResult]):
    """Some trials of a store, in the order of their numbers."""

    __slots__ = ("numbers", "places", "store")

    def __init__(self, store: TrialStore, places: Sequence[int], numbers: Sequence[int]) -> None:
        self.store, self.places, self.numbers = store, places, numbers

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> TrialResult: ...
    @overload
    def __getitem__(self, index: slice) -> Trials: ...
    def __getitem__(self, index: int | slice) -> TrialResult | Trials:
        if isinstance(index, slice):
            return Trials(self.store, self.places[index], self.numbers[index])
        return self.store.trial(self.places[index], self.numbers[index])

    def __iter__(self) -> Iterator[TrialResult]:
        return map(self.store.trial, self.places, self.numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return id(self)

    def document(self, index: int) -> bytes:
        """The document of one trial."""
        return self.store.document(self.places[index], self.numbers[index])

    def documents(self) -> Iterator[bytes]:
        """The documents of the trials."""
        return self.store.documents(self.places, self.numbers)


def list_statuses(trials: Sequence[TrialResult]) -> list[TrialStatus]:
    """The status of each trial."""
    if isinstance(trials, Trials):
        return trials.store.statuses(trials.places)
    return [trial.status for trial in trials]


def get_column(trials: Sequence[TrialResult], name: str) -> Sequence[Any]:
    """One figure of each trial: trial, score, cost_usd, latency_seconds or a count of tokens."""
    if not isinstance(trials, Trials):
        return [getattr(trial, name) for trial in trials]
    return trials.numbers if name == "trial" else trials.store.column(name, trials.places)


def get_columns(trials: Sequence[TrialResult], names: Sequence[str]) -> list[Sequence[Any]]:
    """Several figures of each trial, see `get_column`."""
    return [get_column(trials, name) for name in names]


def list_priced(trials: Sequence[TrialResult]) -> list[bool]:
    """Whether the cost of each trial had to be computed."""
    if isinstance(trials, Trials):
        return trials.store.list_priced(trials.places)
    return [trial.pricing is not None for trial in trials]


def count_outcomes(several: Iterable[Sequence[TrialResult]]) -> Counter[Outcome]:
    """Counts the outcomes of assertions in the trials of several scenarios."""
    found: Counter[Outcome] = Counter()
    kept: dict[TrialStore, list[Sequence[int]]] = {}
    for trials in several:
        if isinstance(trials, Trials):
            kept.setdefault(trials.store, []).append(trials.places)
        else:
            found.update(each.outcome for trial in trials for each in trial.assertions)
    for store, places in kept.items():
        found.update(store.outcomes(places))
    return found


def filter_by_status(trials: Sequence[TrialResult], status: TrialStatus) -> Sequence[TrialResult]:
    """The trials with one status."""
    return choose_trials(trials, [place for place, found in enumerate(list_statuses(trials)) if found == status])


def count_unmeasured(trials: Sequence[TrialResult]) -> int:
    """Counts the trials that an outage left unmeasured."""
    return list_statuses(trials).count("not_measured")


def is_unmeasured(scenario: ScenarioResult) -> bool:
    """Whether a scenario has no verdict because an outage left too few of its trials measured."""
    return scenario.verdict == "NOT_EVALUABLE" and count_unmeasured(scenario.trials) > 0


def list_measured(trials: Sequence[TrialResult]) -> Sequence[TrialResult]:
    """The trials without those that an outage left unmeasured."""
    statuses = list_statuses(trials)
    if "not_measured" not in statuses:
        return trials
    return choose_trials(trials, [place for place, found in enumerate(statuses) if found != "not_measured"])


def choose_trials(trials: Sequence[TrialResult], chosen: Sequence[int]) -> Sequence[TrialResult]:
    """The trials at some indexes."""
    if isinstance(trials, Trials):
        places, numbers = ([of[place] for place in chosen] for of in (trials.places, trials.numbers))
        return Trials(trials.store, places, numbers)
    return [trials[place] for place in chosen]


def list_failed(trials: Sequence[TrialResult]) -> Iterator[Sequence[FailedAssertion]]:
    """The failed assertions of each trial."""
    if isinstance(trials, Trials):
        return trials.store.list_failed(trials.places)
    return (tuple(find_failed(trial.assertions)) for trial in trials)


def list_always_failed(trials: Sequence[TrialResult]) -> list[tuple[int, int]]:
    """Trials in which a check that is always required did not pass: each index, and the check's in `list_failed`."""
    return [
        (index, places[0])
        for index, lost in enumerate(list_failed(trials))
        if (places := [at for at, each in enumerate(lost) if each.required == "always" and each.outcome != "error"])
    ]


def count_failed(trials: Sequence[TrialResult]) -> Iterator[tuple[Sequence[FailedAssertion], int]]:
    """Failed assertions with the number of trials that have them; equal ones may be repeated."""
    if isinstance(trials, Trials) and len(trials) > 1:  # a single trial needs no counting
        return trials.store.count_failed(trials.places)
    return ((lost, 1) for lost in list_failed(trials))


def list_failed_names(trials: Sequence[TrialResult]) -> set[str]:
    """The names of assertions that did not pass."""
    if isinstance(trials, Trials):
        return {each.name for lost, _ in count_failed(trials) for each in lost}
    return {each.name for trial in trials for each in trial.assertions if each.outcome in FAILED_OUTCOMES}


def list_tool_calls(trials: Sequence[TrialResult], index: int) -> Sequence[str]:
    """The names of one trial's tool calls, in order."""
    if not isinstance(trials, Trials):
        return trials[index].tool_calls
    import orjson

    names: Sequence[str] = orjson.loads(trials.document(index))["tool_calls"]
    return names


def list_agent_parts(trials: Sequence[TrialResult]) -> Iterator[AgentParts]:
    """What the trace of each measured trial records of the agent."""
    measured = list_measured(trials)
    if not isinstance(measured, Trials):
        return (trial.trace.agent for trial in measured)
    import orjson

    traces = (orjson.loads(document)["trace"] for document in measured.documents())
    return (AgentParts(*map(trace.get, AgentParts._fields)) for trace in traces)


def set_stale(trials: Sequence[TrialResult], index: int, why: str | None) -> None:
    """Records in a trial why its trace is no longer evidence."""
    if not isinstance(trials, Trials):
        trials[index].trace.stale = why
    elif why is not None:
        trials.store.stale[trials.places[index]] = why


def list_stale_reasons(trials: Sequence[TrialResult]) -> list[str]:
    """The reasons why traces are no longer evidence, for the stale ones."""
    if isinstance(trials, Trials):
        known = trials.store.stale
        return [known[place] for place in trials.places if place in known] if known else []
    return [why for trial in trials if (why := trial.trace.stale) is not None]
