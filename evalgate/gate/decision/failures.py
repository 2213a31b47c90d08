"""Finds what stops a merge: each scenario that an entry of `fail_on` applies to, worst entry first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.common.wording import format_count, format_verdict
from evalgate.gate.decision.approvals import APPROVABLE
from evalgate.models.comparison.comparison import REGRESSIONS, ScenarioKey, list_scenarios
from evalgate.models.comparison.decision import EXCUSES, Reason
from evalgate.models.run.run import HARD_FAILS, NOT_EVALUATED
from evalgate.models.run.trials import identify_failure, list_stale_reasons, summarize
from evalgate.scoring.wording import describe_difference, join_names, join_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping

    from evalgate.models.comparison.comparison import Change
    from evalgate.models.run.run import ScenarioResult, SuiteResult
    from evalgate.suite.policy import Policy

    Rule = Callable[[ScenarioResult, Change | None], str | None]

BELOW_THRESHOLD = frozenset({"FAIL", "PARTIAL"})


def find_failures(
    suite: SuiteResult,
    changes: dict[ScenarioKey, Change],
    fail_on: Collection[str],
    approved: Container[ScenarioKey] = (),
) -> Iterator[Reason]:
    """One reason for each word of `fail_on` and each scenario of the suite that it applies to.

    A scenario without a change is not in the baseline: its hard fail is new. An `approved` scenario may fail,
    but not by stale evidence; one in quarantine gives no reason at all.
    """
    rules = [(word, rule) for word, rule in RULES.items() if word in fail_on]
    for key, scenario in list_scenarios([suite]):
        if scenario.quarantined:
            continue
        change, may_fail = changes.get(key), key in approved
        for word, rule in rules:
            message = None if may_fail and word in APPROVABLE else rule(scenario, change)
            if message is not None:
                yield Reason(word, message, suite.name, scenario.id, scenario.variant)


def count_excused(
    suites: Iterable[SuiteResult], policies: Mapping[str, Policy], approved: Container[ScenarioKey] = ()
) -> dict[str, int]:
    """Counts the hard fails that don't fail the gate, by what excuses them.

    A process that did not judge the run can so check that a pass with hard fails has a reason for each of them.
    """
    excused = dict.fromkeys(EXCUSES, 0)
    for key, scenario in list_scenarios(suites):
        if scenario.verdict not in HARD_FAILS:
            continue
        if scenario.quarantined:
            excused["quarantined"] += 1
        elif key in approved:
            excused["approved"] += 1
        elif "hard_fail" not in policies[key.suite].fail_on:
            excused["not_gating"] += 1
    return excused


def explain_verdict(scenario: ScenarioResult) -> str:
    """The verdict of a scenario with its reason."""
    return (
        f"{format_verdict(scenario.verdict)}: {scenario.reason}"
        if scenario.reason
        else format_verdict(scenario.verdict)
    )


def _explain_hard_fail(scenario: ScenarioResult, _change: Change | None) -> str | None:
    return explain_verdict(scenario) if scenario.verdict in HARD_FAILS else None


def _explain_new_hard_fail(scenario: ScenarioResult, change: Change | None) -> str | None:
    if scenario.verdict not in HARD_FAILS:
        return None
    baseline_verdict = change and change.previous_verdict
    is_judged_only_now = baseline_verdict in NOT_EVALUATED and scenario.verdict not in NOT_EVALUATED
    if change is not None and baseline_verdict in HARD_FAILS and not is_judged_only_now:
        found = _list_new_failures(scenario, change)
        return f"{explain_verdict(scenario)} (new since the baseline: {join_names(found)})" if found else None
    before = f"{format_verdict(baseline_verdict)} in" if baseline_verdict else "not in"
    return f"{explain_verdict(scenario)} ({before} the baseline)"


def _list_new_failures(scenario: ScenarioResult, change: Change) -> list[str]:
    """Names of the required checks that did not pass, and did in the baseline, as far as that is known."""
    known = change.previously_failed
    if known is None or scenario.verdict != "HARD_FAIL":
        return []
    failed = (each for trial in scenario.trials for each in summarize(trial).failed if each.required)
    new = (each for each in failed if each.digest and identify_failure(each.digest, each.outcome) not in known)
    return list(dict.fromkeys(each.name for each in new))


def _explain_broken(_scenario: ScenarioResult, change: Change | None) -> str | None:
    return change.reason if change and change.kind == "broken" else None


def _explain_regression(_scenario: ScenarioResult, change: Change | None) -> str | None:
    if change is None:
        return None
    reasons = [change.reason] if change.kind in REGRESSIONS else []
    return "; ".join([*reasons, *change.increases]) or None


def _explain_model_changed(_scenario: ScenarioResult, change: Change | None) -> str | None:
    gone = [] if change is None else [each.name for each in change.lost if each.is_gone and each.is_of_agent]
    if gone:
        return f"{join_words(gone)} no longer recorded, so it is not known whether they changed"
    if change is None or change.kind not in REGRESSIONS or change.agent is None:
        return None
    comes_with = f"; comes with {join_words(change.agent.items)}"
    return f"{change.reason}{comes_with}" if change.agent.has_other_model_or_tools else None


def _explain_behaviour_changed(_scenario: ScenarioResult, change: Change | None) -> str | None:
    found = [each for each in change.differences if each.kind not in ("prompt", "asked")] if change else []
    if not found:  # another prompt is no act, nor is another setting
        return None
    first, *others = map(describe_difference, found)
    return f"{first}{f' (and {len(others)} more)' if others else ''}"


def _explain_below_threshold(scenario: ScenarioResult, _change: Change | None) -> str | None:
    return explain_verdict(scenario) if scenario.verdict in BELOW_THRESHOLD else None


def _explain_not_evaluable(scenario: ScenarioResult, _change: Change | None) -> str | None:
    return explain_verdict(scenario) if scenario.verdict == "NOT_EVALUABLE" else None


def _explain_stale_evidence(scenario: ScenarioResult, _change: Change | None) -> str | None:
    reasons = list_stale_reasons(scenario.trials)
    if not reasons:
        return None
    if len(scenario.trials) == 1:
        return f"its trace is stale: {reasons[0]}"
    return f"{len(reasons)} of {format_count(len(scenario.trials), 'trace')} are stale, the first: {reasons[0]}"


RULES: dict[str, Rule] = {
    "hard_fail": _explain_hard_fail,
    "new_hard_fail": _explain_new_hard_fail,
    "broken": _explain_broken,
    "regression": _explain_regression,
    "model_changed": _explain_model_changed,
    "behaviour_changed": _explain_behaviour_changed,
    "below_threshold": _explain_below_threshold,
    "not_evaluable": _explain_not_evaluable,
    "stale_evidence": _explain_stale_evidence,
}
"""The words of `fail_on` about a scenario, worst first."""
