"""Facts about all trials of a scenario: counts, durations, failed checks and reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evalgate.models.results.trial_docs import TrialDocs
from evalgate.models.run.golden import is_unjudged_dimension
from evalgate.models.run.trial_record import FAILED_OUTCOMES
from evalgate.models.run.trials import Trials, filter_by_status, get_column, list_failed, list_statuses

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.models.results.results import AssertionDoc, ScenarioDoc, TrialDoc

    CheckKey = tuple[str, str]
    FailedChecks = dict[CheckKey, tuple[int, AssertionDoc]]


def count_passed(scenario: ScenarioDoc) -> int:
    """Counts the trials that passed."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return list_statuses(trials.trials).count("passed")
    return sum(trial["status"] == "passed" for trial in trials)


def sum_seconds(scenario: ScenarioDoc) -> float:
    """Sums the known seconds of all trials."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return float(sum(filter(None, get_column(trials.trials, "latency_seconds"))))
    return sum(trial["latency_seconds"] or 0.0 for trial in trials)


def count_failed_checks(scenario: ScenarioDoc) -> FailedChecks:
    """Counts failures of each check, keyed by name and type, and returns the first one of each."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return trials.compute_once(_count_failed_in_store)
    found: FailedChecks = {}
    for check, assertion in _iter_failed(trials):
        count, first = found.get(check, (0, assertion))
        found[check] = count + 1, first
    return found


def list_trial_reasons(scenario: ScenarioDoc) -> list[str]:
    """Lists the reasons of trials that could not be judged."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        trials = TrialDocs(cast("Trials", filter_by_status(trials.trials, "error")))
    return [trial["reason"] for trial in trials if trial["reason"]]


def _count_failed_in_store(docs: TrialDocs) -> FailedChecks:
    """Does the same for stored trials, decoding at most one trial per check."""
    counts: dict[CheckKey, int] = {}
    first: dict[CheckKey, tuple[int, int]] = {}
    for trial_index, failed in enumerate(list_failed(docs.trials)):
        for row, each in enumerate(failed):
            check = each.name, each.type
            counts[check] = counts.get(check, 0) + 1
            first.setdefault(check, (trial_index, row))
    rows = {
        trial_index: [*_iter_failed([docs[trial_index]])]
        for trial_index in {trial_index for trial_index, _ in first.values()}
    }
    found: FailedChecks = {}
    for check, (trial_index, row) in first.items():
        document_key, assertion = rows[trial_index][row]  # in the document the name may be cut or redacted
        count, earliest = found.get(document_key, (0, assertion))
        found[document_key] = count + counts[check], earliest
    return found


def _iter_failed(trials: Iterable[TrialDoc]) -> Iterator[tuple[CheckKey, AssertionDoc]]:
    for trial in trials:
        for each in trial["assertions"]:
            if each["outcome"] in FAILED_OUTCOMES and not is_unjudged_dimension(each["type"], each["outcome"]):
                yield (each["name"], each["type"]), each
