"""The decision: run, comparison and policies in; verdict, exit code and reasons out. Nothing else decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.decision.approvals import APPROVABLE
from evalgate.gate.decision.critical_issues import find_excess_critical_issues
from evalgate.gate.decision.evidence import (
    check_baseline,
    is_evaluated,
    no_traces,
    nothing_evaluated,
    too_few_evaluated,
)
from evalgate.gate.decision.failures import RULES, find_failures
from evalgate.gate.decision.weakening_reasons import reasons_from_weakenings
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.comparison.decision import Decision

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from evalgate.models.comparison.comparison import BaselineInfo, Comparison
    from evalgate.models.comparison.decision import GateVerdict, Reason
    from evalgate.models.comparison.weakening import WeakeningList
    from evalgate.models.run.run import Run, SuiteResult
    from evalgate.suite.policy import Policy

PASS, FAILED, CANNOT_JUDGE, UNREACHABLE = 0, 1, 3, 4
VERDICTS: dict[int, GateVerdict] = {
    PASS: "pass",
    FAILED: "fail",
    CANNOT_JUDGE: "cannot_judge",
    UNREACHABLE: "cannot_judge",
}
FAILING = frozenset({*RULES, "weakened"})
WORST_FIRST = [
    *RULES,
    "weakened",
    "no_traces",
    "nothing_evaluated",
    "min_evaluated",
    "no_baseline",
    "unreachable",
]


def decide(  # noqa: PLR0913  everything that decides
    run: Run,
    comparison: Comparison | None,
    baseline: BaselineInfo | None,
    policies: Mapping[str, Policy],
    *,
    run_policy: Policy,
    report_only: bool,
    approved: Container[ScenarioKey] = (),
    weakenings: WeakeningList | None = None,
) -> Decision:
    """Decides about a run.

    `policies` holds the effective policy of each suite; `run_policy` is that of the project: its
    `min_evaluated` counts over all scenarios, and it applies to suites without a policy. `baseline` is None
    if none was requested, `comparison` None if there was nothing to compare with.

    A failure (exit code 1) outranks missing evidence (3), which outranks an unreachable baseline (4).
    `report_only` sets the exit code to 0 and keeps verdict and reasons. Scenarios that are `approved` may
    fail; `weakenings` are demands of the baseline's suites and policies that are no longer made.
    """
    by_suite = {
        suite.name: _find_suite_reasons(
            suite, comparison, baseline, policies.get(suite.name, run_policy), approved
        )
        for suite in run.suites
    }
    found = [reason for reasons in by_suite.values() for reason in reasons]
    weakened = [] if weakenings is None else list(reasons_from_weakenings(weakenings))
    for reason in weakened:
        by_suite.get(reason.suite or "", []).append(reason)
    reasons = _sort_reasons([*found, *weakened, *_find_run_reasons(run, run_policy, found)])
    code = _exit_code(reasons)
    return Decision(
        VERDICTS[code],
        PASS if report_only else code,
        reasons,
        report_only,
        {suite.name: _suite_verdict(suite, by_suite[suite.name]) for suite in run.suites},
    )


def apply_late_approvals(run: Run, decision: Decision, approved: Container[ScenarioKey]) -> Decision:
    """The decision without reasons for scenarios that a person approved after it was made."""
    reasons = [reason for reason in decision.reasons if not _is_approved(reason, approved)]
    code = _exit_code(reasons)
    verdicts = {
        suite.name: _suite_verdict(suite, [each for each in reasons if each.suite == suite.name])
        for suite in run.suites
    }
    report_only = decision.report_only
    return Decision(VERDICTS[code], PASS if report_only else code, reasons, report_only, verdicts)


def _is_approved(reason: Reason, approved: Container[ScenarioKey]) -> bool:
    if reason.code not in APPROVABLE or reason.suite is None or reason.scenario is None:
        return False
    return ScenarioKey(reason.suite, reason.scenario, reason.variant) in approved


def _find_suite_reasons(
    suite: SuiteResult,
    comparison: Comparison | None,
    baseline: BaselineInfo | None,
    policy: Policy,
    approved: Container[ScenarioKey],
) -> list[Reason]:
    """Every reason of a suite: failures first, then missing evidence."""
    fail_on = set(policy.fail_on)
    if baseline is not None and baseline.status == "unreachable":
        fail_on.discard("new_hard_fail")  # unknown whether a hard fail is new: the reason is `unreachable`
    found = list(find_failures(suite, comparison.changes if comparison else {}, fail_on, approved))
    found += find_excess_critical_issues(
        suite, comparison, policy.critical_issue_threshold, fail_on, approved
    )
    missing = (
        no_traces(suite),
        too_few_evaluated(suite.scenarios, policy.min_evaluated, suite.name),
        check_baseline(baseline, policy.fail_on),
    )
    return [*found, *(reason for reason in missing if reason is not None)]


def _find_run_reasons(run: Run, policy: Policy, found: Iterable[Reason]) -> list[Reason]:
    """Missing evidence over all suites, unless a suite has that reason already."""
    codes = {reason.code for reason in found}
    scenarios = [scenario for suite in run.suites for scenario in suite.scenarios]
    missing = (
        None if "no_traces" in codes and not scenarios else nothing_evaluated(run.suites),
        None if "min_evaluated" in codes else too_few_evaluated(scenarios, policy.min_evaluated),
    )
    return [reason for reason in missing if reason is not None]


def _sort_reasons(reasons: Iterable[Reason]) -> list[Reason]:
    """Worst first, then in the order of the run; each place gives a reason once."""
    unique = {(reason.code, reason.suite, reason.scenario, reason.variant): reason for reason in reasons}
    return sorted(unique.values(), key=lambda reason: WORST_FIRST.index(reason.code))


def _exit_code(reasons: Iterable[Reason]) -> int:
    codes = {reason.code for reason in reasons}
    if codes & FAILING:
        return FAILED
    if codes - {"unreachable"}:
        return CANNOT_JUDGE
    return UNREACHABLE if codes else PASS


def _suite_verdict(suite: SuiteResult, reasons: Iterable[Reason]) -> GateVerdict:
    """A suite without an evaluated scenario never passes, even if the rest of the run was evaluated."""
    verdict = VERDICTS[_exit_code(reasons)]
    if verdict == "pass" and not any(map(is_evaluated, suite.scenarios)):
        return "cannot_judge"
    return verdict
