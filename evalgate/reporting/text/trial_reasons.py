"""Facts about all trials of a scenario: counts, durations, failed checks and reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evalgate.models.results.trial_docs import TrialDocs
from evalgate.models.run.golden_result import is_unjudged_dimension
from evalgate.models.run.trial_record import LOST
from evalgate.models.run.trials import Trials, column, having, lost_in, statuses

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.models.results.results import AssertionDoc, ScenarioDoc, TrialDoc

    Check = tuple[str, str]
    Bad = dict[Check, tuple[int, AssertionDoc]]


def passed_in(scenario: ScenarioDoc) -> int:
    """Counts the trials that passed."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return statuses(trials.trials).count("passed")
    return sum(trial["status"] == "passed" for trial in trials)


def seconds_of(scenario: ScenarioDoc) -> float:
    """Sums the known seconds of all trials."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return float(sum(filter(None, column(trials.trials, "latency_seconds"))))
    return sum(trial["latency_seconds"] or 0.0 for trial in trials)


def bad_checks(scenario: ScenarioDoc) -> Bad:
    """Counts failures of each check, keyed by name and type, and returns the first one of each."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return trials.remembered(_bad_of_store)
    found: Bad = {}
    for check, assertion in _bad_in(trials):
        often, first = found.get(check, (0, assertion))
        found[check] = often + 1, first
    return found


def reasons_in(scenario: ScenarioDoc) -> list[str]:
    """Lists the reasons of trials that could not be judged."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        trials = TrialDocs(cast("Trials", having(trials.trials, "error")))
    return [trial["reason"] for trial in trials if trial["reason"]]


def _bad_of_store(docs: TrialDocs) -> Bad:
    """Does the same for stored trials, decoding at most one trial per check."""
    often: dict[Check, int] = {}
    first: dict[Check, tuple[int, int]] = {}
    for place, lost in enumerate(lost_in(docs.trials)):
        for row, each in enumerate(lost):
            check = each.name, each.type
            often[check] = often.get(check, 0) + 1
            first.setdefault(check, (place, row))
    rows = {place: [*_bad_in([docs[place]])] for place in {place for place, _ in first.values()}}
    found: Bad = {}
    for check, (place, row) in first.items():
        told, assertion = rows[place][row]  # in the document the name may be cut or redacted
        before, earliest = found.get(told, (0, assertion))
        found[told] = before + often[check], earliest
    return found


def _bad_in(trials: Iterable[TrialDoc]) -> Iterator[tuple[Check, AssertionDoc]]:
    for trial in trials:
        for each in trial["assertions"]:
            if each["outcome"] in LOST and not is_unjudged_dimension(each["type"], each["outcome"]):
                yield (each["name"], each["type"]), each
