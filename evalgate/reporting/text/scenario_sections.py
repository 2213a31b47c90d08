"""Sorts scenarios of a results document into sections, most important first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.models.run.run import HARD_FAILS
from evalgate.records import dataclass, field
from evalgate.reporting.text.trial_reasons import bad_checks, reasons_in

if TYPE_CHECKING:
    from evalgate.models.results.results import AssertionDoc, RemovedDoc, ResultsDoc, ScenarioDoc, SuiteDoc

_WORST_FIRST = ("HARD_FAIL", "ERROR", "MISSING", "FAIL", "PARTIAL", "NOT_EVALUABLE", "PASS")
_CHANGES_FIRST = ("broken", "regressed", "inconclusive", "new", "fixed", "improved", "removed")


class Placed(NamedTuple):
    """A scenario and its suite."""

    suite: SuiteDoc
    scenario: ScenarioDoc

    @property
    def kind(self) -> str:
        """The kind of its change; `unchanged` if it was not compared."""
        change = self.scenario["change"]
        return change["kind"] if change else "unchanged"


class FailedCheck(NamedTuple):
    """A check over all trials of a scenario: how often it failed, and its first failure."""

    failed: int
    trials: int
    first: AssertionDoc


@dataclass(slots=True)
class Sorted:
    """All scenarios, each in exactly one list; each list worst first."""

    failures: list[Placed] = field(default_factory=list)
    regressed: list[Placed] = field(default_factory=list)
    below: list[Placed] = field(default_factory=list)
    quarantined: list[Placed] = field(default_factory=list)
    other_changes: list[Placed | RemovedDoc] = field(default_factory=list)
    passing: list[Placed] = field(default_factory=list)


def sort_scenarios(document: ResultsDoc) -> Sorted:
    """Sorts into sections; failures are hard fails, broken and blocking ones that are not quarantined."""
    gating = {
        (reason.get("suite"), reason.get("scenario"), reason.get("variant"))
        for reason in document["reasons"]
        if reason["code"] != "weakened"  # reports list them separately
    }
    over = {suite for suite, scenario, _ in gating if suite and not scenario}
    lists = Sorted()
    for suite in document["suites"]:
        for scenario in suite["scenarios"]:
            placed = Placed(suite, scenario)
            named = bool(gating) and (suite["suite"], scenario["id"], scenario["variant"]) in gating
            named = named or (suite["suite"] in over and _is_critical(scenario))
            _list_for(placed, lists, is_named=named).append(placed)
    lists.failures.sort(key=_severity)
    lists.below.sort(key=_severity)
    lists.quarantined.sort(key=_severity)
    lists.other_changes.sort(key=_change_order)
    lists.other_changes.extend(document["removed"])
    return lists


def _is_critical(scenario: ScenarioDoc) -> bool:
    """Whether it is a golden with critical issues, which can make its whole suite hard-fail."""
    golden = scenario.get("golden")
    return golden is not None and golden["critical_issues"] > 0


def failed_checks(scenario: ScenarioDoc) -> list[FailedCheck]:
    """Lists checks that did not pass in some trial: required ones first, then by lost weight."""
    trials = len(scenario["trials"])
    checks = [
        FailedCheck(min(often, trials), trials, first) for often, first in bad_checks(scenario).values()
    ]
    return sorted(
        checks, key=lambda check: (not check.first["required"], -check.failed * check.first["weight"])
    )


def first_reason(scenario: ScenarioDoc) -> str:
    """Returns the main reason for a scenario's verdict in one line; may be empty."""
    checks = failed_checks(scenario)
    if scenario["verdict"] == "ERROR" or not checks:
        said = reasons_in(scenario)
        others = f" (and {len(said) - 1} more trials)" if len(said) > 1 else ""
        return f"{said[0]}{others}" if said else scenario["reason"] or ""
    return f"{checks[0].first['name']}: {checks[0].first['reason']}"


def _list_for(placed: Placed, lists: Sorted, *, is_named: bool) -> list[Placed] | list[Placed | RemovedDoc]:
    if placed.scenario.get("quarantined"):
        return lists.quarantined
    verdict, kind = placed.scenario["verdict"], placed.kind
    if verdict in HARD_FAILS or kind == "broken" or is_named:
        return lists.failures
    if kind == "regressed":
        return lists.regressed
    if verdict != "PASS":
        return lists.below
    is_as_before = kind == "unchanged" and not would_fail(placed.scenario)
    return lists.passing if is_as_before else lists.other_changes


def is_bad(placed: Placed) -> bool:
    """Whether it does not pass, or regressed since the baseline."""
    return placed.scenario["verdict"] != "PASS" or placed.kind == "regressed"


def would_fail(scenario: ScenarioDoc) -> bool:
    """Whether it passes now but would fail by the baseline's rules."""
    change = scenario["change"]
    cause = change.get("cause") if change else None
    if cause is None or scenario["verdict"] != "PASS":
        return False
    return cause["now_by_old_rules"] not in (None, "PASS")


def _severity(placed: Placed) -> tuple[int, int]:
    return placed.kind != "broken", _rank(_WORST_FIRST, placed.scenario["verdict"])


def _change_order(change: Placed | RemovedDoc) -> int:
    return _rank(_CHANGES_FIRST, change.kind if isinstance(change, Placed) else "removed")


def _rank(order: tuple[str, ...], word: str) -> int:
    return order.index(word) if word in order else len(order)
