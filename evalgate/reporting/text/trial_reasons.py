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
    from evalgate.models.run.run import Outcome

    CheckKey = tuple[str, str]
    FailedChecks = dict[CheckKey, tuple[int, AssertionDoc]]


FAILED_STATUSES = frozenset({"failed", "hard_fail", "error"})


def count_passed(scenario: ScenarioDoc) -> int:
    """Counts the trials that passed."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return list_statuses(trials.trials).count("passed")
    return sum(trial["status"] == "passed" for trial in trials)


def count_failed_trials(scenario: ScenarioDoc) -> int:
    """Counts the trials that failed or could not be read."""
    trials = scenario["trials"]
    statuses = list_statuses(trials.trials) if isinstance(trials, TrialDocs) else [each["status"] for each in trials]
    return sum(status in FAILED_STATUSES for status in statuses)


def find_failed_outcomes(scenario: ScenarioDoc) -> set[str]:
    """Returns the outcomes of all checks that did not pass, without decoding a trial."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return {each.outcome for failed in list_failed(trials.trials) for each in failed}
    return {assertion["outcome"] for _, assertion in _iter_failed(trials)}


def has_failures(scenario: ScenarioDoc) -> bool:
    """Whether some trial failed, or some check of a trial did not pass."""
    return bool(find_failed_outcomes(scenario)) or count_failed_trials(scenario) > 0


def is_clean(scenario: ScenarioDoc) -> bool:
    """Whether all its trials were measured and nothing in them failed."""
    return not scenario.get("not_measured") and not has_failures(scenario)


def sum_seconds(scenario: ScenarioDoc) -> float:
    """Sums the known seconds of all trials."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return float(sum(filter(None, get_column(trials.trials, "latency_seconds"))))
    return sum(trial["latency_seconds"] or 0.0 for trial in trials)


def count_failed_checks(scenario: ScenarioDoc) -> FailedChecks:
    """Counts failures of each check, keyed by name and type, and returns the first one of each.

    An assertion that failed goes before one that could not be evaluated.
    """
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return trials.compute_once(_count_failed_in_store)
    found: FailedChecks = {}
    for check, assertion in _iter_failed(trials):
        count, first = found.get(check, (0, assertion))
        found[check] = count + 1, _worse(first, assertion)
    return found


def _worse(first: AssertionDoc, other: AssertionDoc) -> AssertionDoc:
    return other if first["outcome"] != "failed" and other["outcome"] == "failed" else first


def list_trial_reasons(scenario: ScenarioDoc) -> list[str]:
    """Lists the reasons of trials that could not be judged."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        trials = TrialDocs(cast("Trials", filter_by_status(trials.trials, "error")))
    return [trial["reason"] for trial in trials if trial["reason"] and trial["status"] == "error"]


def _count_failed_in_store(docs: TrialDocs) -> FailedChecks:
    """Does the same for stored trials, decoding at most one trial per check."""
    counts: dict[CheckKey, int] = {}
    first: dict[CheckKey, tuple[int, int, Outcome]] = {}
    for trial_index, failed in enumerate(list_failed(docs.trials)):
        for row, each in enumerate(failed):
            check = each.name, each.type
            counts[check] = counts.get(check, 0) + 1
            if check not in first or (each.outcome == "failed" and first[check][2] != "failed"):
                first[check] = trial_index, row, each.outcome
    rows = {
        trial_index: [*_iter_failed([docs[trial_index]])]
        for trial_index in {trial_index for trial_index, _, _ in first.values()}
    }
    found: FailedChecks = {}
    for check, (trial_index, row, _) in first.items():
        document_key, assertion = rows[trial_index][row]  # in the document the name may be cut or redacted
        count, worst = found.get(document_key, (0, assertion))
        found[document_key] = count + counts[check], _worse(worst, assertion)
    return found


def _iter_failed(trials: Iterable[TrialDoc]) -> Iterator[tuple[CheckKey, AssertionDoc]]:
    for trial in trials:
        for each in trial["assertions"]:
            if each["outcome"] in FAILED_OUTCOMES and not is_unjudged_dimension(each["type"], each["outcome"]):
                yield (each["name"], each["type"]), each
