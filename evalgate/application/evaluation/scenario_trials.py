"""The trials of one scenario that count at the end: their order, their numbers, and what is alike among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.application.evaluation.trace_warnings import format_location
from evalgate.gate.common.wording import format_verdict
from evalgate.measures.numeric.means import mean_amount
from evalgate.measures.values.json_values import mark_name
from evalgate.models.run.run import DuplicateNote, StoredTrial
from evalgate.scoring.scenario import judge_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.run.run import RunTrial, TraceRef
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


class Duplicates(NamedTuple):
    """The indexes of the trials that count, and a sentence about each kind of duplicates.

    `copies` are indexes in `kept` of traces that may be copies of others, described by `copy_note`.
    """

    kept: Sequence[int]
    notes: Sequence[str]
    copies: frozenset[int] = frozenset()
    copy_note: str = ""


class CountedTrials(NamedTuple):
    """The trials of a scenario that count, the order they were put in, and what is alike among its traces."""

    kept: Sequence[RunTrial]
    order: Sequence[int]
    duplicates: Duplicates | None

    def describe_duplicates(self, scenario: Scenario, judged: ScenarioJudgement) -> Sequence[DuplicateNote]:
        """What is alike; traces that may be copies only if the result would be another without them."""
        found = self.duplicates
        if found is None:
            return ()
        notes = [DuplicateNote(note) for note in found.notes]
        if not found.copies:
            return notes
        rest = [trial for trial, place in zip(self.kept, self.order, strict=True) if place not in found.copies]
        without = judge_scenario(rest, scenario.threshold, scenario.rules)
        if without is not None and without.verdict != judged.verdict:
            effect = f"; without copies the scenario would be {format_verdict(without.verdict)}"
            return [*notes, DuplicateNote(found.copy_note + effect, is_decisive=True)]
        if without is None or without.score != judged.score or _mean_figures(rest) != _mean_figures(self.kept):
            return [*notes, DuplicateNote(found.copy_note, is_decisive=True)]
        return notes


def count_trials(trials: Sequence[RunTrial]) -> CountedTrials:
    """The trials that count, numbered and in order."""
    found: Duplicates | None = None
    order: Sequence[int] = range(len(trials))
    if len(trials) == 1:  # as most scenarios have
        trials[0].trial = _identify(trials[0]).number or 0
        trials = tuple(trials)
    else:
        found = find_duplicates(trials)
        kept = trials if found is None else [trials[index] for index in found.kept]
        facts = [_identify(trial) for trial in kept]
        order, numbers = order_trials([each.number for each in facts], [each.started_at for each in facts])
        trials = [kept[place] for place in order]
        for trial, number in zip(trials, numbers, strict=True):
            trial.trial = number
    for trial in trials:
        if isinstance(trial, StoredTrial):  # no longer needed, in a run of very many trials
            trial.named = trial.content = trial.started_at = None
    return CountedTrials(trials, order, found)


def _identify(trial: RunTrial) -> StoredTrial | TraceRef:
    """What has the digests of a trial's trace, and its number and time as recorded."""
    return trial if isinstance(trial, StoredTrial) else trial.trace


def _mean_figures(trials: Sequence[RunTrial]) -> list[float | None]:
    return [mean_amount([getattr(trial, name) for trial in trials]) for name in COMPARED]


def _locate(trial: RunTrial) -> str:
    return mark_name(format_location(trial.trace), 200)


def find_duplicates(trials: Sequence[RunTrial]) -> Duplicates | None:
    """The trials that count, and what else is alike; None if all differ in everything."""
    facts = [_identify(trial) for trial in trials]
    named, content = [each.named for each in facts], [each.content for each in facts]
    numbers = [each.number for each in facts]
    if all(map(_are_distinct, (named, content, numbers))):
        return None
    everything = range(len(trials))
    same = list(_list_pairs(_list_record_keys(trials, named, content), everything))
    dropped = {other for _, other in same}
    kept = [index for index in everything if index not in dropped]
    same_names, same_numbers = (list(_list_pairs(values, kept)) for values in (named, numbers))
    copies = list(_list_pairs(_list_copy_keys(trials, content), kept))
    differing = [pair for pair in same_numbers if pair not in copies]
    found = [(SAME_RECORDING, same), (SAME_ID, same_names), (SAME_NUMBER, differing)]
    notes = [_describe(text, pairs, trials) for text, pairs in found if pairs]
    if not copies:
        return Duplicates(kept, notes)
    copied = {other for _, other in copies}
    indexes = frozenset(at for at, index in enumerate(kept) if index in copied)
    return Duplicates(kept, notes, indexes, _describe(COPY, copies, trials))


def _are_distinct(values: Sequence[int | None]) -> bool:
    known = [value for value in values if value is not None]
    return len(set(known)) == len(known)


def _list_record_keys(
    trials: Sequence[RunTrial], named: Sequence[int | None], content: Sequence[int | None]
) -> Sequence[object]:
    """What two records of one run share: name and conversation, and what either gives; None if that is unknown.

    Errors, costs and scores are recorded outside the conversation: a record that fails by them is never left
    out for one that does not.
    """
    keys = [None if None in pair else pair for pair in zip(named, content, strict=True)]
    if len({*keys}) == len(keys):
        return keys
    return [None if key is None else (*key, trial.status, trial.score) for key, trial in zip(keys, trials, strict=True)]


def _list_copy_keys(trials: Sequence[RunTrial], content: Sequence[int | None]) -> Sequence[object]:
    """Conversations with their figures: two runs seldom take equally long."""
    if _are_distinct(content):
        return content
    return [
        None if each is None else (each, *_list_figures(trial)) for each, trial in zip(content, trials, strict=True)
    ]


def _list_figures(trial: RunTrial) -> list[Any]:
    return [*(getattr(trial, name) for name in FIGURES), _identify(trial).started_at]


def _list_pairs(values: Sequence[object], indexes: Sequence[int]) -> Iterator[Pair]:
    """Each index with the first of the same value; None equals nothing."""
    first: dict[object, int] = {}
    for index in indexes:
        value = values[index]
        if value is not None and first.setdefault(value, index) != index:
            yield first[value], index


def _describe(text: str, pairs: Sequence[Pair], trials: Sequence[RunTrial]) -> str:
    first, other = pairs[0]
    more = f" (and {len(pairs) - 1:,} more)" if len(pairs) > 1 else ""
    return text.format(first=_locate(trials[first]), other=_locate(trials[other])) + more


def order_trials(recorded: Sequence[int | None], started: Sequence[str | None]) -> tuple[Sequence[int], Sequence[int]]:
    """The indexes of trials in order, and the number of each.

    Ordered by recorded number if all have a distinct one, else by time if all have one, else as read.

    >>> order_trials([5, 3], [None, None])
    ([1, 0], [3, 5])
    >>> order_trials([None, 3], ["2026-01-02", "2026-01-01"])
    ([1, 0], range(0, 2))
    """
    places = range(len(recorded))
    known = [number for number in recorded if number is not None]
    if len(set(known)) == len(recorded):
        return sorted(places, key=known.__getitem__), sorted(known)
    if all(started):
        moments = [(moment or "").rstrip("Z") for moment in started]  # 00.5Z is after 00Z
        return sorted(places, key=moments.__getitem__), places
    return places, places
