"""The lines of a fence about a run and its scenarios: what fails, and where it first differs from the baseline."""

from __future__ import annotations

from itertools import groupby, islice
from typing import TYPE_CHECKING

from evalgate.features.coding_agent.reporting.fence import Entry
from evalgate.measures.sequences.differences import diff_lists
from evalgate.reporting.text.behaviour_lines import describe_baseline_side, describe_differences, list_unasked
from evalgate.reporting.text.commands import find_place
from evalgate.reporting.text.ruling_lines import format_weakening, sort_weakenings
from evalgate.reporting.text.scenario_sections import (
    describe_change,
    find_failed_checks,
    find_failed_trial,
    find_reason,
    name_change,
)
from evalgate.reporting.text.sentences import DIFFERENCE_LIMIT, unmark_parts
from evalgate.reporting.text.trajectory_lines import describe_divergence, mark_changes, summarize_calls
from evalgate.reporting.text.wording import location, pluralize, scenario_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.comparison.comparison import CallsDiff
    from evalgate.models.comparison.trajectory import TrajectoryDiff
    from evalgate.models.results.results import ChangeDoc, ResultsDoc, ScenarioDoc
    from evalgate.reporting.text.scenario_sections import FailedCheck, SuiteScenario
    from evalgate.reporting.text.trajectory_lines import DiffLine

MOST_REASONS, MOST_WEAKENINGS, MOST_FILES = 3, 5, 10
MOST_CHECKS, MOST_CALLS, MOST_DIFFERENCES = 5, 4, 3
REASON_LIMIT, KEPT = 300, 60
"""Characters of a reason, and of unchanged text beside a change of the answer."""
_SIDES = {"-": "baseline", "+": "now", "gone": "baseline", "come": "now"}


def list_run_entries(document: ResultsDoc) -> list[Entry]:
    """The reasons of the verdict that are not about one scenario, and what is weaker than in the baseline."""
    reasons = [each for each in document["reasons"] if not each.get("scenario") and each["code"] != "weakened"]
    texts = [
        *(("reason", unmark_parts(each["message"])) for each in reasons[:MOST_REASONS]),
        *(("changed file of the agent", path) for path in _list_changed_files(document)),
        *(("weaker", unmark_parts(format_weakening(each))) for each in sort_weakenings(document)[:MOST_WEAKENINGS]),
    ]
    return [Entry(label, text, REASON_LIMIT) for label, text in texts]


def _list_changed_files(document: ResultsDoc) -> list[str]:
    """The watched files that are not as in the baseline, such as those that a pull request changes."""
    changed = document["watched"].get("changed", []) if "watched" in document else []
    left = len(changed) - MOST_FILES
    return [*changed[:MOST_FILES], *([f"and {pluralize(left, 'more file')}"] if left > 0 else [])]


def list_entries(item: SuiteScenario) -> Iterator[Entry]:
    """What is known of a scenario, most important first."""
    scenario = item.scenario
    place = location(scenario["location"]) or item.suite["path"]
    yield Entry(
        "scenario", f"{scenario_name(scenario['id'], scenario['variant'])} (suite {item.suite['suite']}, {place})"
    )
    yield Entry("  verdict", _describe_verdict(scenario))
    yield from _list_checks(scenario)
    change = scenario["change"]
    if change is not None:
        yield from _list_differences(scenario, change)
    trial = find_failed_trial(scenario)
    if trial is not None:
        yield Entry("  trace", find_place(trial))


def _describe_verdict(scenario: ScenarioDoc) -> str:
    verdict, change = scenario["verdict"].replace("_", " "), scenario["change"]
    return verdict if change is None else f"{verdict}, {name_change(scenario)}: {describe_change(scenario)}"


def _list_checks(scenario: ScenarioDoc) -> Iterator[Entry]:
    checks = find_failed_checks(scenario)
    if not checks or scenario["verdict"] == "ERROR":
        if reason := find_reason(scenario) or ("" if scenario["trials"] else "no trace was found"):
            yield Entry("  fails", unmark_parts(reason), REASON_LIMIT)
        return
    yield from (Entry("  fails", _describe_check(each), REASON_LIMIT) for each in checks[:MOST_CHECKS])
    if len(checks) > MOST_CHECKS:
        yield Entry("  fails", f"{len(checks) - MOST_CHECKS:,} more checks")


def _describe_check(check: FailedCheck) -> str:
    """The place of a check in its suite, what it is, and why it failed."""
    required = "required, " if check.is_required else ""
    place = location(check.first.location)
    where = f"{place}, " if place else ""
    trials = f"{check.failed} of {check.trials} trials"
    return f"{check.name} ({where}{required}{trials}): {unmark_parts(check.reason)}"


def _list_differences(scenario: ScenarioDoc, change: ChangeDoc) -> Iterator[Entry]:
    cause, diff, calls = change.get("cause"), change.get("behaviour"), change.get("calls")
    if cause:
        yield Entry("  cause", cause.message)
    if diff is not None:
        yield from _list_divergence(diff)
    elif calls is not None:
        yield from _list_names(calls)
    if diff is None or scenario["verdict"] == "PASS":  # one pair of trials does not say what all trials do
        differences = islice(describe_differences(scenario), MOST_DIFFERENCES)
        yield from (Entry("  differs", unmark_parts(each), DIFFERENCE_LIMIT) for each in differences)
    asked = islice([*list_unasked(scenario), describe_baseline_side(scenario)], MOST_DIFFERENCES)
    yield from (Entry("  asked", unmark_parts(each), DIFFERENCE_LIMIT) for each in asked if each)


def _list_divergence(diff: TrajectoryDiff) -> Iterator[Entry]:
    """Where the worst trial first differs from the baseline: the call, the message or the answer, on both sides."""
    divergence = describe_divergence(diff)
    if not divergence:
        return
    yield Entry("  first difference from the baseline", divergence)
    if diff.first is not None and diff.first.kind == "answer":
        yield Entry("  answer, [-baseline-] {+now+}", mark_changes(diff.response, KEPT), REASON_LIMIT)
    changed = (group for group in summarize_calls(diff.steps) if any(line.sign for line in group))
    yield from _list_lines(next(changed, []))
    for name, sides in (("status", diff.status), ("error", diff.error)):
        if sides:
            yield Entry(f"  {name}", f"{sides.baseline or 'nothing'} -> {sides.current or 'nothing'}")


def _list_lines(lines: Sequence[DiffLine]) -> Iterator[Entry]:
    """The first lines that differ, of the baseline and of this run."""
    changed = [line for line in lines if line.sign]
    yield from (Entry(f"  {_SIDES[line.sign]}", line.text) for line in changed[:MOST_CALLS])


def _list_names(calls: CallsDiff) -> Iterator[Entry]:
    """The first names of calls that differ, where the arguments are not known."""
    for kind, run in groupby(diff_lists(calls.baseline, calls.current), key=lambda step: step.kind):
        if kind in _SIDES:
            yield from (Entry(f"  {_SIDES[kind]}", step.name) for step in islice(run, MOST_CALLS))
            return
