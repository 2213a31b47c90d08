"""Judges new traces by the baseline's rules as well.

Only scenarios whose rules changed are judged twice; for the others the cause of a change is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.application.evaluation.cross_scorer import CrossScorer, RulePair
from evalgate.application.evaluation.suite_evaluation import SuiteEvaluation
from evalgate.application.evaluation.trajectories import BaselineScenarios
from evalgate.gate.common.scenarios import ScenarioIndex
from evalgate.gate.weakening.weaker_evidence import Reading, find_reading_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.gate.weakening.weaker_evidence import ReadingChange
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.suite.models import Configuration, Scenario, Suite


def make_cross_scorer(
    old: Configuration, new: Configuration, baseline: BaselineRun, choice: TraceChoice
) -> CrossScorer:
    """The cross scorer for the suites that differ between the baseline and today."""
    new_suites = {suite.name: suite for suite in new.suites}
    baseline_scenarios = BaselineScenarios(baseline)
    pairs = {}
    for suite in old.suites:
        if suite.name in new_suites:
            reading = compare_readings(suite, new_suites[suite.name], choice)
            checked = _changed_ids(suite, new_suites[suite.name], is_read_alike=True)
            changed = _changed_ids(suite, new_suites[suite.name], is_read_alike=False) if reading else checked
            if changed:
                restricted = restrict_checks(suite, changed)
                pairs[suite.name] = RulePair(
                    suite,
                    new_suites[suite.name],
                    changed,
                    (ScenarioIndex(suite), ScenarioIndex(new_suites[suite.name])),
                    restricted,
                    SuiteEvaluation(restricted, baseline_scenarios),
                    reading,
                    has_same_checks=not checked,
                )
    return CrossScorer(pairs)


def compare_readings(old: Suite, new: Suite, choice: TraceChoice) -> Sequence[ReadingChange]:
    """What changed in how the traces of a suite are read; patterns and format of `choice` hold on both sides."""
    before, after = (Reading(*choice.resolve_for_suite(suite)) for suite in (old, new))
    return list(find_reading_changes(old, new, (before, after)))


def _changed_ids(old: Suite, new: Suite, *, is_read_alike: bool) -> frozenset[str]:
    """Ids of entries that differ; all of them if the suite reads or assigns traces differently."""
    if not is_read_alike:
        return frozenset(each.id for suite in (old, new) for each in suite.scenarios)
    sides = [_scoring_rules(suite) for suite in (old, new)]
    return frozenset(id_ for id_ in {**sides[0], **sides[1]} if sides[0].get(id_) != sides[1].get(id_))


def _scoring_rules(suite: Suite) -> dict[str, list[object]]:
    """What judges a scenario in each variant, by the id of its entry."""
    found: dict[str, list[object]] = {}
    for each in suite.scenarios:
        checks = [assertion.written for assertion in each.assertions]
        variant = each.variant.name if each.variant else None
        golden = each.golden and replace(each.golden, assigned={})
        found.setdefault(each.id, []).append((variant, each.threshold, each.rules, checks, golden, suite.tool_kinds))
    return found


def restrict_checks(suite: Suite, ids: Iterable[str]) -> Suite:
    """The suite with assertions for some entries only; the other entries still match their traces."""
    wanted = set(ids)
    scenarios: list[Scenario] = [
        each if each.id in wanted else replace(each, assertions=(), golden=None) for each in suite.scenarios
    ]
    return replace(suite, scenarios=scenarios)
