"""Judges scenarios that got worse by all their trials: the first ones, and those added on both sides."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.application.judge.report import warning_of
from evalgate.features.evidence.application.added_acts import compare_added
from evalgate.features.evidence.application.added_trials import load_added, require_new, require_two_commits
from evalgate.features.evidence.application.confirmed_document import (
    build_added_document,
    build_confirmed_document,
)
from evalgate.features.evidence.application.plan_trials import (
    compare_runs,
    find_worse,
    list_unjudged,
    load_pair,
)
from evalgate.features.evidence.models import ConfirmedRun
from evalgate.gate.common.scenarios import ScenarioIndex
from evalgate.gate.comparison.known_failures import has_fallen, list_passed
from evalgate.gate.decision.decide import decide
from evalgate.models.comparison.comparison import REGRESSIONS, BaselineInfo, ScenarioKey, list_scenarios
from evalgate.models.comparison.decision import Reason
from evalgate.models.run.arms import (
    BASE_WAS_LUCKY,
    CLEARED,
    FLAKY_RECOVERY,
    REGRESSION,
    UNDECIDED,
    AddedTrials,
    Confirmation,
    ConfirmedScenario,
)
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.models.run.trials import summarize
from evalgate.scoring.scenario import judge_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.features.evidence.application.added_trials import RecordedSide
    from evalgate.models.comparison.comparison import Change, Comparison, KnownFailure
    from evalgate.models.comparison.decision import Decision
    from evalgate.models.run.run import Run, ScenarioResult, SuiteResult, Trial
    from evalgate.ports import BaselineFiles, TraceArchive
    from evalgate.suite.models import Scenario
    from evalgate.suite.policy import Policies

JUDGED_AGAIN = frozenset({"hard_fail", "new_hard_fail", "below_threshold", "broken", "regression", "not_evaluable"})
"""Words of `fail_on` that all trials together decide; for others the first run's reasons stand."""
ACTS = frozenset({"behaviour_changed"})
"""Words that the added trials can trigger, beside the first run's reasons."""
NEEDS_REGRESSION = frozenset({"model_changed"})
"""Words that only a regression triggers: without one their reasons fall away."""


def confirm(
    files: BaselineFiles, traces: TraceArchive, base: tuple[str, str], head: tuple[str, str], trials: int
) -> ConfirmedRun:
    """Judges each side's first run with the `trials` a scenario added to it.

    Raises RulesMissing if they are not exactly those planned, of the same commit and suites, each recorded once.
    """
    before, now = load_pair(files, base[0], head[0])
    keys = find_worse(before, now)
    sides = [
        load_added(files, first, path, keys, trials) for first, path in ((before, base[1]), (now, head[1])) if keys
    ]
    first_reasons = [_reason_of(each) for each in now.document["reasons"]]
    if not keys:
        return ConfirmedRun(Confirmation([], 0, 0.0), first_reasons, now.document, warnings=list_unjudged(before, now))
    require_two_commits(sides, keys)
    require_new(sides, keys)
    old, new = map(_judge_all, sides)
    comparison, acts = compare_runs(old, new, now.policies), compare_added(files, traces, sides)
    for key, differences in acts.differences.items():
        comparison.changes[key].differences = differences
    warnings = [*list_unjudged(before, now), *acts.warnings]
    decision = _decide(new, comparison, _with_words(now.policies, first_reasons))
    found = [_describe(key, sides, (old, new), comparison.changes[key]) for key in keys]
    reasons = _merge_reasons(first_reasons, decision, found)
    confirmation = Confirmation(found, *_sum_added(sides))
    document = build_confirmed_document(now.document, (old, new), comparison, reasons, confirmation)
    document["warnings"] = [*document["warnings"], *map(warning_of, acts.warnings)]
    added = build_added_document(sides[1].more.document, document)
    return ConfirmedRun(confirmation, reasons, document, added, warnings)


def _sum_added(sides: Sequence[RecordedSide]) -> tuple[int, float | None]:
    """How many recordings were added, and their cost in USD; None if one of them is unknown."""
    added = [trial.cost_usd for side in sides for each in side.added.values() for trial in each]
    known = [each for each in added if each is not None]
    return len(added), round(fsum(known), 6) if len(known) == len(added) else None


def _reason_of(document: Mapping[str, object]) -> Reason:
    fields = {name: document.get(name) for name in ("code", "message", "suite", "scenario", "variant")}
    return Reason(**{name: None if value is None else str(value) for name, value in fields.items()})  # type: ignore[arg-type]


def _judge_all(side: RecordedSide) -> Run:
    """The first run, with the added trials in its scenarios."""
    index = {suite.name: ScenarioIndex(suite) for suite in side.first.rules.suites}
    return replace(side.first.run, suites=[_judge_suite(each, index, side) for each in side.first.run.suites])


def _judge_suite(suite: SuiteResult, index: Mapping[str, ScenarioIndex], side: RecordedSide) -> SuiteResult:
    scenarios = [
        _judge(each, index[suite.name].find_scenarios(each.id)[each.variant], side.added[key])
        if key in side.added
        else each
        for key, each in list_scenarios([suite])
    ]
    return replace(suite, scenarios=scenarios)


def _judge(scenario: ScenarioResult, entry: Scenario, added: Sequence[Trial]) -> ScenarioResult:
    next_number = 1 + max(each.trial for each in scenario.trials)
    trials = [*scenario.trials, *(replace(each, trial=next_number + at) for at, each in enumerate(added))]
    found = judge_scenario(trials, entry.threshold, entry.rules)
    if found is None:
        return scenario  # only without a trial
    return replace(
        scenario,
        trials=trials,
        verdict=found.verdict,
        score=found.score,
        reason=found.reason,
        pass_rate=found.pass_rate,
        pass_rate_interval=found.interval,
    )


def _with_words(policies: Policies, reasons: Sequence[Reason]) -> Policies:
    """The policies, which also fail by the words that failed the first run: `--fail-on` may have named them."""
    words = {each.code for each in reasons} & JUDGED_AGAIN
    suites = {
        name: each.model_copy(update={"fail_on": sorted({*each.fail_on, *words})})
        for name, each in policies.suites.items()
    }
    return replace(policies, suites=suites)


def _decide(run: Run, comparison: Comparison, policies: Policies) -> Decision:
    info = BaselineInfo("given")
    return decide(run, comparison, info, policies)


def _describe(
    key: ScenarioKey, sides: Sequence[RecordedSide], judged: tuple[Run, Run], change: Change
) -> ConfirmedScenario:
    old, new = (dict(list_scenarios(run.suites))[key] for run in judged)
    base, head = (_count(side, key) for side in sides)
    change.known_failure = _compare_failures(old, new, change)
    is_halved = has_fallen(list_passed(old), list_passed(new))
    return ConfirmedScenario(*key, _find(new, change, head, is_halved=is_halved), base, head, change.reason)


def _count(side: RecordedSide, key: ScenarioKey) -> AddedTrials:
    first, added = side.first.scenarios[key].trials, side.added[key]
    passed, more = (sum(each.status == "passed" for each in trials) for trials in (first, added))
    return AddedTrials(passed, len(first), more, len(added))


def _find(new: ScenarioResult, change: Change, head: AddedTrials, *, is_halved: bool) -> str:
    """Recovered: the verdict is PASS, or all added trials passed and no half of all was lost. Lucky: so fails the base.

    A single trial that passes by chance beside one that failed proves no recovery.
    """
    if change.kind in REGRESSIONS:
        return REGRESSION
    if new.verdict == "PASS" or (head.more_passed == head.more_trials and not is_halved):
        return FLAKY_RECOVERY
    return BASE_WAS_LUCKY if change.known_failure == "same" else UNDECIDED


def _compare_failures(old: ScenarioResult, new: ScenarioResult, change: Change) -> KnownFailure | None:
    """How the failure compares with that of all trials of the base; None where a side passes.

    The verdict is not compared: one trial of many that passed makes it better, and the base passed at first.
    """
    if "PASS" in (old.verdict, new.verdict):
        return None
    if change.kind in REGRESSIONS or has_fallen(list_passed(old), list_passed(new)):
        return "worse"
    is_known = old.verdict not in NOT_EVALUATED and _list_failed(new) <= _list_failed(old)
    return "same" if is_known else "other"


def _list_failed(scenario: ScenarioResult) -> set[str]:
    return {each.digest or each.name for trial in scenario.trials for each in summarize(trial).failed}


def _merge_reasons(first: Sequence[Reason], decision: Decision, found: Sequence[ConfirmedScenario]) -> list[Reason]:
    """The first run's reasons, but for scenarios that are cleared, and those that all trials give."""
    findings = {ScenarioKey(each.suite, each.id, each.variant): each.finding for each in found}
    kept = [each for each in first if not _is_replaced(each, findings.get(_key_of(each)))]
    asked = JUDGED_AGAIN | ACTS
    again = [each for each in decision.reasons if each.code in asked and _key_of(each) in findings]
    unique = {(each.code, _key_of(each)): each for each in [*kept, *again]}
    return list(unique.values())


def _is_replaced(reason: Reason, finding: str | None) -> bool:
    return finding in CLEARED and reason.code in JUDGED_AGAIN | NEEDS_REGRESSION


def _key_of(reason: Reason) -> ScenarioKey:
    return ScenarioKey(reason.suite or "", reason.scenario or "", reason.variant)
