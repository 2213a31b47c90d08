"""The order of the scenarios in the page, worst first, and how each compares with the baseline."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.features.page.reporting.cells import build_cell
from evalgate.features.page.reporting.difference import rank_difference
from evalgate.features.page.reporting.page_view import CellView
from evalgate.features.page.reporting.trace_details import NOTHING_RECORDED, is_unanswered
from evalgate.models.comparison.comparison import IMPROVEMENTS, NOT_MEASURED, REGRESSIONS
from evalgate.reporting.text import wording
from evalgate.reporting.text.changes import ACTS_DIFFERENTLY, is_attention_due, name_differences
from evalgate.reporting.text.scenario_sections import (
    FAILS_NOW,
    NOT_COMPARED,
    NOT_JUDGED,
    NOT_RECORDED,
    SuiteScenario,
    is_clean,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalgate.features.page.reporting.trace_details import RecordedPair
    from evalgate.models.results.results import ResultsDoc

_WORST_FIRST = ("HARD_FAIL", "ERROR", "MISSING", "FAIL", "PARTIAL", "NOT_EVALUABLE", "PASS")
_BROKEN_FIRST = ("broken", "regressed", "inconclusive", "new", "unchanged", "improved")
_ACTS, _OTHER = "acts", "other agent"
_CHANGED_FIRST = ("regressed", "inconclusive", _ACTS, "new", "fixed", "improved", _OTHER, "unchanged")
STILL_FAILING = "still failing"
GROUPS = {
    "failing": "failing",
    "broken": "broken or worse",
    "before": STILL_FAILING,
    "fixed": "fixed or better",
    "other": "passing, acting differently",
    "changed": "changed",
}
"""What a filter selects, by the name of its data attribute."""
NO_RECORDINGS: Mapping[int, RecordedPair] = {}


def order_scenarios(document: ResultsDoc, recorded: Mapping[int, RecordedPair] = NO_RECORDINGS) -> list[SuiteScenario]:
    """All scenarios: the most severe verdict first, then what broke since the baseline, then the lowest score.

    Of those that pass, what acts differently comes before what was fixed, another model or prompt after it.
    Of equal ones that comes first whose recorded score fell most: `recorded` has it by the `id` of the scenario.
    Of those that are still equal and do not pass, one whose difference shows a fault more plainly.
    Quarantined failures come after those that block; the scenarios of a suite without traces are last.
    """
    unrecorded = {reason.get("suite") for reason in document["reasons"] if reason["code"] == "no_traces"}
    every = [SuiteScenario(suite, each) for suite in document["suites"] for each in suite["scenarios"]]
    return sorted(
        every,
        key=lambda item: (
            item.suite["suite"] in unrecorded,
            *_severity_key(item),
            *_difference_key(item, recorded.get(id(item.scenario), NOTHING_RECORDED)),
        ),
    )


def _difference_key(item: SuiteScenario, recorded: RecordedPair) -> tuple[float, int]:
    scenario, is_asked = item.scenario, is_unanswered(recorded.now)
    is_passing = scenario["verdict"] == "PASS"
    return -recorded.drop, 0 if is_passing else rank_difference(scenario["change"], is_unanswered=is_asked)


def _severity_key(item: SuiteScenario) -> tuple[bool, bool, int, int, float, bool]:
    scenario, is_passing = item.scenario, item.scenario["verdict"] == "PASS"
    score = scenario["score"]
    return (
        is_passing,
        bool(scenario.get("quarantined")) and not is_passing,
        _rank(_WORST_FIRST, scenario["verdict"]),
        _rank(_CHANGED_FIRST, _name_change(item)) if is_passing else _rank(_BROKEN_FIRST, item.kind),
        1 if score is None else score,
        is_passing and is_clean(scenario),
    )


def _name_change(item: SuiteScenario) -> str:
    if not acts_differently(item):
        return item.kind
    return _ACTS if _has_other_acts(item) else _OTHER


def _has_other_acts(item: SuiteScenario) -> bool:
    """Whether it acts differently by what headings count as that, which another model or other words are not."""
    return acts_differently(item) and name_differences(item.scenario["differences"]) is ACTS_DIFFERENTLY


def _rank(order: tuple[str, ...], word: str) -> int:
    return order.index(word) if word in order else len(order)


def has_failed_before(item: SuiteScenario) -> bool:
    """Whether it does not pass, and did not in the baseline either."""
    change = item.scenario["change"]
    is_known = change is not None and change["previous_verdict"] not in (None, "PASS")
    return item.scenario["verdict"] != "PASS" and is_known and item.kind not in {*REGRESSIONS, "new"}


def compare_with_baseline(item: SuiteScenario) -> CellView:
    """How it changed in a word or two: `broken`, `fixed`, `still failing`; a pass may be `acts differently`, too."""
    if has_failed_before(item):
        better = ", better now" if item.kind in IMPROVEMENTS else ""
        return CellView(f"{STILL_FAILING}{better}", "plain")
    if acts_differently(item):
        words = name_differences(item.scenario.get("differences", ()))
        return CellView(words.one or ACTS_DIFFERENTLY.one, "warn" if is_attention_due(item.scenario) else "plain")
    return build_cell("" if item.kind == "unchanged" else item.shown_kind)


def acts_differently(item: SuiteScenario) -> bool:
    """Whether it passes as in the baseline, with differences: calls of two single trials differ by chance, too."""
    return item.scenario["verdict"] == "PASS" and item.kind == "unchanged" and "differences" in item.scenario


def list_groups(item: SuiteScenario) -> list[str]:
    """The groups of the filter that the scenario is in."""
    is_in = {
        "failing": item.scenario["verdict"] != "PASS",
        "broken": item.kind in REGRESSIONS,
        "before": has_failed_before(item),
        "fixed": item.kind in IMPROVEMENTS,
        "other": _has_other_acts(item),
        "changed": item.kind != "unchanged" or acts_differently(item),
    }
    return [group for group in GROUPS if is_in[group]]


def count_changes(items: Iterable[SuiteScenario]) -> str:
    """How many scenarios broke, fail as before and so on: `6 broken, 3 still failing, 6 fixed`."""
    counts: Mapping[str, int] = Counter(
        STILL_FAILING if has_failed_before(item) else item.shown_kind for item in items if item.scenario["change"]
    )
    moved = "broken", FAILS_NOW, NOT_RECORDED, NOT_JUDGED, "regressed"
    words = (*moved, STILL_FAILING, "may be chance", NOT_MEASURED, NOT_COMPARED, "new", "fixed", "improved")
    found = [f"{counts[word]:,} {word}" for word in words if counts.get(word)]
    return wording.join_words(found) if found else "no verdict changed"
