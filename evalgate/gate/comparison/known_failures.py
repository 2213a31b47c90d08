"""Marks the failures that the baseline has, too, so that reports lead with what is new, and what it could not judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.common.scenarios import find_baseline_key
from evalgate.gate.comparison.compare import call_unjudged
from evalgate.gate.comparison.outcomes import VERDICTS, read_verdict
from evalgate.measures.numeric.means import DIGITS
from evalgate.models.comparison.comparison import list_scenarios
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.models.run.trials import identify_failure, list_measured, summarize
from evalgate.scoring.wording import cut_quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.comparison import Change, Comparison, KnownFailure
    from evalgate.models.results.baseline_run import BaselineEntry, BaselineRun
    from evalgate.models.run.run import Run, ScenarioResult

GREATEST_FALL = 0.5
"""By how much of all trials fewer may pass, exclusive, for a known failure to be as before."""
BEST_FIRST = ("PASS", "PARTIAL", "FAIL", "HARD_FAIL")


def mark_known_failures(comparison: Comparison, run: Run, baseline: BaselineRun) -> None:
    """Sets, in the change of each scenario that passes on neither side, how its failure compares.

    Of one that the baseline has and could not judge, the change says why.
    """
    verdicts = {entry.verdict for entry in baseline.entries.values()}
    comparison.judged_before = not verdicts or not verdicts.isdisjoint(VERDICTS - NOT_EVALUATED)
    for key, scenario in list_scenarios(run.suites):
        change = comparison.changes.get(key)
        if change is None or (scenario.verdict == "PASS" and change.kind != "new"):
            continue
        entry = baseline.entries.get(find_baseline_key(key, baseline.entries))
        if entry is None:
            continue
        if change.kind == "new":
            comparison.changes[key] = call_unjudged(read_verdict(entry), cut_quote(entry.reason or ""))
        elif change.previous_verdict not in (None, "PASS"):
            change.known_failure = compare_failures(scenario, entry, change)


def compare_failures(scenario: ScenarioResult, entry: BaselineEntry, change: Change) -> KnownFailure:
    """How the failure of a scenario compares with the one that the baseline has.

    It is `worse` also if by chance: so much fewer trials passed that a person should look. `other`: a check fails that
    passed in the baseline, or this run did not judge the scenario as the baseline did.
    """
    if {scenario.verdict, entry.verdict} & NOT_EVALUATED:
        return "same" if scenario.verdict == entry.verdict else "other"
    if change.kind == "regressed" or _is_worse_verdict(scenario.verdict, entry.verdict) or _has_fallen(scenario, entry):
        return "worse"
    known = entry.failed_checks
    return "same" if known is None or _find_failed_checks(scenario) <= known else "other"


def _is_worse_verdict(now: str, before: str) -> bool:
    return before in BEST_FIRST and now in BEST_FIRST and BEST_FIRST.index(now) > BEST_FIRST.index(before)


def _has_fallen(scenario: ScenarioResult, entry: BaselineEntry) -> bool:
    return has_fallen([trial.passed for trial in entry.measured], list_passed(scenario))


def list_passed(scenario: ScenarioResult) -> Sequence[bool]:
    """Of each measured trial whether it passed."""
    return [trial.status == "passed" for trial in list_measured(scenario.trials)]


def has_fallen(before: Sequence[bool], now: Sequence[bool]) -> bool:
    """Whether so many fewer trials passed that a person should look, whatever a test of them says."""
    if not before or not now:
        return False
    return round(sum(before) / len(before) - sum(now) / len(now), DIGITS) >= GREATEST_FALL


def _find_failed_checks(scenario: ScenarioResult) -> frozenset[str]:
    failed = (each for trial in scenario.trials for each in summarize(trial).failed)
    return frozenset(identify_failure(each.digest, each.outcome) for each in failed if each.digest is not None)
