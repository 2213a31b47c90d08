"""The trials of one scenario while its traces stream by, and those that count at the end."""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from evalgate.application.evaluation.trace_warnings import format_location
from evalgate.gate.common.wording import format_verdict
from evalgate.measures.numeric.means import mean_amount
from evalgate.models.run.run import DuplicateNote
from evalgate.models.run.trials import Trials, choose_trials, get_column
from evalgate.models.trace.trace import TraceLocation
from evalgate.records import dataclass, field
from evalgate.scoring.scenario import judge_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.application.evaluation.baseline_scenarios import BaselineScenario
    from evalgate.application.evaluation.scenario_matcher import ScenarioClaim
    from evalgate.models.run.run import TrialResult
    from evalgate.models.run.trial_store import TrialStore
    from evalgate.scoring.scenario import ScenarioJudgement
    from evalgate.suite.models import Scenario

    Pair = tuple[int, int]

COMPARED = ("cost_usd", "latency_seconds", "total_tokens")
FIGURES = (*COMPARED, "input_tokens", "output_tokens")
"""Figures of a trial that two runs seldom share."""


SAME_RECORDING = "{other} is the same recording as {first} and does not count"
SAME_ID = "{first} and {other} have the same trace id and differ: both count"
SAME_NUMBER = "{first} and {other} have the same trial number and differ: both count"
COPY = "{other} may be a copy of {first}, only ids or trial number differ (record `started_at`): both count"


class TrialFacts(NamedTuple):
    """What tells the trials of a scenario apart.

    `verdicts` are their statuses and scores, `figures` their cost, times and tokens.
    """

    named: Sequence[int | None]
    content: Sequence[int | None]
    numbers: Sequence[int | None]
    verdicts: Callable[[], Sequence[tuple[Any, ...]]]
    figures: Callable[[], Sequence[tuple[Any, ...]]]
    locate: Callable[[int], str]


class Duplicates(NamedTuple):
    """The indexes of the trials that count, and a sentence about each kind of duplicates.

    `copies` are indexes in `kept` of traces that may be copies of others, described by `copy_note`.
    """

    kept: Sequence[int]
    notes: Sequence[str]
    copies: frozenset[int] = frozenset()
    copy_note: str = ""


@dataclass(slots=True)
class ScenarioTrials:
    """The trials of one reported scenario, in reading order.

    Most trials are in the store, under the scenario's `owner` number. Those of a golden are kept here, since
    its result is computed over all of them.
    """

    claim: ScenarioClaim | None
    owner: int
    baseline: BaselineScenario | None = None  # its result in the baseline
    golden_trials: list[TrialResult] = field(default_factory=list)
    numbers: list[int | None] = field(default_factory=list)  # recorded numbers of the golden's trials
    start_times: list[str | None] = field(default_factory=list)

    def count_trials(self, store: TrialStore, own: range, unread: range = range(0)) -> CountedTrials:
        """The trials in order, numbered: the scenario's own in the store, and unreadable traces."""
        if self.claim is not None and self.claim.scenario.golden is not None:
            return self._count_golden_trials(store, unread)
        return _count_stored_trials(store, array("I", chain(own, unread)) if unread else own)

    def _count_golden_trials(self, store: TrialStore, unread: range) -> CountedTrials:
        trials = [*self.golden_trials, *(store.trial(place, 0) for place in unread)]
        recorded = [*self.numbers, *store.recorded(unread)]
        times = [*self.start_times, *[None] * len(unread)]
        found = find_duplicates(_facts_of_trials(trials, recorded, times))
        kept = range(len(trials)) if found is None else found.kept
        order, numbers = order_trials([recorded[place] for place in kept], [times[place] for place in kept])
        in_order = [trials[kept[place]] for place in order]
        for trial, number in zip(in_order, numbers, strict=True):
            trial.trial = number
        return CountedTrials(in_order, order, found)


class CountedTrials(NamedTuple):
    """The trials of a scenario that count, the order they were put in, and what is alike among its traces."""

    kept: Sequence[TrialResult]
    order: Sequence[int] = ()
    duplicates: Duplicates | None = None

    def describe_duplicates(self, scenario: Scenario, judged: ScenarioJudgement) -> Sequence[DuplicateNote]:
        """What is alike; traces that may be copies only if the result would be another without them."""
        found = self.duplicates
        if found is None:
            return ()
        notes = [DuplicateNote(note) for note in found.notes]
        if not found.copies:
            return notes
        rest = choose_trials(self.kept, [index for index, place in enumerate(self.order) if place not in found.copies])
        without = judge_scenario(rest, scenario.threshold, scenario.rules)
        if without is not None and without.verdict != judged.verdict:
            effect = f"; without copies the scenario would be {format_verdict(without.verdict)}"
            return [*notes, DuplicateNote(found.copy_note + effect, is_decisive=True)]
        if without is None or without.score != judged.score or _mean_figures(rest) != _mean_figures(self.kept):
            return [*notes, DuplicateNote(found.copy_note, is_decisive=True)]
        return notes


def _mean_figures(trials: Sequence[TrialResult]) -> list[float | None]:
    return [mean_amount(get_column(trials, name)) for name in COMPARED]


def _count_stored_trials(store: TrialStore, places: Sequence[int]) -> CountedTrials:
    recorded = store.recorded(places)
    if len(places) == 1:  # as most scenarios have
        return CountedTrials(Trials(store, places, [recorded[0] or 0]))
    found = find_duplicates(_facts_of_places(store, places))
    if found is not None and len(found.kept) < len(places):
        places = array("I", map(places.__getitem__, found.kept))
        recorded = store.recorded(places)
    order, numbers = order_trials(recorded, store.started(places))
    in_order = places if isinstance(order, range) else array("I", map(places.__getitem__, order))
    return CountedTrials(Trials(store, in_order, numbers), order, found)


def _facts_of_places(store: TrialStore, places: Sequence[int]) -> TrialFacts:
    def list_figures() -> Sequence[tuple[Any, ...]]:
        started = store.started(places) or [None] * len(places)
        return list(zip(*(list(store.column(name, places)) for name in FIGURES), started, strict=True))

    return TrialFacts(
        *store.identities(places),
        list(store.recorded(places)),
        lambda: list(zip(store.statuses(places), store.column("score", places), strict=True)),
        list_figures,
        lambda index: _locate(store.trial(places[index], 0)),
    )


def _facts_of_trials(
    trials: Sequence[TrialResult], numbers: Sequence[int | None], started: Sequence[str | None]
) -> TrialFacts:
    return TrialFacts(
        [trial.trace.named for trial in trials],
        [trial.trace.content for trial in trials],
        numbers,
        lambda: [(trial.status, trial.score) for trial in trials],
        lambda: list(zip(*([getattr(trial, name) for trial in trials] for name in FIGURES), started, strict=True)),
        lambda index: _locate(trials[index]),
    )


def _locate(trial: TrialResult) -> str:
    trace = trial.trace
    return format_location(TraceLocation(trace.path, line=trace.line, record=trace.record))


def find_duplicates(facts: TrialFacts) -> Duplicates | None:
    """The trials that count, and what else is alike; None if all differ in everything."""
    if all(map(_are_distinct, facts[:3])):
        return None
    everything = range(len(facts.named))
    same = list(_list_pairs(_list_record_keys(facts), everything))
    dropped = {other for _, other in same}
    kept = [index for index in everything if index not in dropped]
    names, numbers = (list(_list_pairs(values, kept)) for values in (facts.named, facts.numbers))
    copies = list(_list_pairs(_list_copy_keys(facts), kept))
    differing = [pair for pair in numbers if pair not in copies]
    found = [(SAME_RECORDING, same), (SAME_ID, names), (SAME_NUMBER, differing)]
    notes = [_describe(text, pairs, facts.locate) for text, pairs in found if pairs]
    if not copies:
        return Duplicates(kept, notes)
    copied = {other for _, other in copies}
    indexes = frozenset(at for at, index in enumerate(kept) if index in copied)
    return Duplicates(kept, notes, indexes, _describe(COPY, copies, facts.locate))


def _are_distinct(values: Sequence[int | None]) -> bool:
    known = [value for value in values if value is not None]
    return len(set(known)) == len(known)


def _list_record_keys(facts: TrialFacts) -> Sequence[object]:
    """What two records of one run share: name and conversation, and what either gives; None if that is unknown.

    Errors, costs and scores are recorded outside the conversation: a record that fails by them is never left
    out for one that does not.
    """
    keys = [None if None in pair else pair for pair in zip(facts.named, facts.content, strict=True)]
    if len({*keys}) == len(keys):
        return keys
    return [None if key is None else (*key, *verdict) for key, verdict in zip(keys, facts.verdicts(), strict=True)]


def _list_copy_keys(facts: TrialFacts) -> Sequence[object]:
    """Conversations with their figures: two runs seldom take equally long."""
    if _are_distinct(facts.content):
        return facts.content
    return [
        None if content is None else (content, *figures)
        for content, figures in zip(facts.content, facts.figures(), strict=True)
    ]


def _list_pairs(values: Sequence[object], indexes: Sequence[int]) -> Iterator[Pair]:
    """Each index with the first of the same value; None equals nothing."""
    first: dict[object, int] = {}
    for index in indexes:
        value = values[index]
        if value is not None and first.setdefault(value, index) != index:
            yield first[value], index


def _describe(text: str, pairs: Sequence[Pair], locate: Callable[[int], str]) -> str:
    first, other = pairs[0]
    more = f" (and {len(pairs) - 1:,} more)" if len(pairs) > 1 else ""
    return text.format(first=locate(first), other=locate(other)) + more


def order_trials(recorded: Sequence[int | None], started: Sequence[str | None]) -> tuple[Sequence[int], Sequence[int]]:
    """The indexes of trials in order, and the number of each.

    Ordered by recorded number if all have a distinct one, else by time if all have one, else as read.

    >>> order_trials([5, 3], [None, None])
    ([1, 0], array('q', [3, 5]))
    >>> order_trials([None, 3], ["2026-01-02", "2026-01-01"])
    ([1, 0], range(0, 2))
    >>> order_trials([3, 5], [None, None])
    (range(0, 2), [3, 5])
    """
    places = range(len(recorded))
    if (numbers := _ascending(recorded)) is not None:
        return places, numbers
    known = array("q", (number for number in recorded if number is not None))
    if len(set(known)) == len(recorded):
        order = sorted(places, key=known.__getitem__)
        return order, array("q", map(known.__getitem__, order))
    if started and all(started):
        moments = [(moment or "").rstrip("Z") for moment in started]  # 00.5Z is after 00Z
        return sorted(places, key=moments.__getitem__), places
    return places, places


def _ascending(recorded: Sequence[int | None]) -> Sequence[int] | None:
    """The numbers unchanged if they are ascending: copying them would be costly for millions."""
    last = -1
    for number in recorded:
        if number is None or number <= last:
            return None
        last = number
    return cast("Sequence[int]", recorded)
