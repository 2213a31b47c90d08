"""The decision: run, comparison and policies in; verdict, exit code and reasons out. Nothing else decides."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.gate.common.wording import format_count, format_verdict
from evalgate.gate.decision.approvals import APPROVABLE
from evalgate.gate.decision.failures import RULES, find_failures
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.text.plain_text import mark_part
from evalgate.models.comparison.comparison import ScenarioKey, list_scenarios
from evalgate.models.comparison.decision import (
    NEEDS_BASELINE,
    VARIANT_WORDS,
    VERDICTS,
    Decision,
    Reason,
    exit_code_of,
)
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.models.run.trials import filter_by_status
from evalgate.scoring.wording import build_record_command, cut_quote, describe_empty_glob, describe_weakening

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

    from evalgate.models.comparison.comparison import BaselineInfo, Comparison
    from evalgate.models.comparison.decision import GateVerdict
    from evalgate.models.comparison.weakening import Weakening, WeakeningList
    from evalgate.models.run.run import Run, ScenarioResult, SuiteResult
    from evalgate.suite.policy import Policies, Policy

WORST_FIRST = [
    *(*RULES, *VARIANT_WORDS, "nothing_recorded", "duplicates", "weakened"),
    *("no_traces", "empty_glob", "not_measured", "nothing_evaluated", "nothing_compared", "min_evaluated"),
    *("no_baseline", "unreachable"),
]


def decide(
    run: Run,
    comparison: Comparison | None,
    baseline: BaselineInfo | None,
    policies: Policies,
    *,
    approved: Container[ScenarioKey] = (),
    weakenings: WeakeningList | None = None,
) -> Decision:
    """Decides about a run.

    The policy of the run is that of the project: its `min_evaluated` counts over all scenarios, and it applies to
    suites without a policy. Of `max_not_measured` the lowest of all suites counts over all trials. `baseline` is None
    if none was requested, `comparison` None if there was nothing to compare with.

    A failure (exit code 1) outranks missing evidence (3), which outranks an unreachable baseline (4). A suite
    without a trace gives no failure: nothing was recorded, so nothing is known about the agent.
    Scenarios that are `approved` may fail; `weakenings` are demands of the baseline's suites and policies that are
    no longer made.
    """
    by_suite = {
        suite.name: _find_suite_reasons(suite, comparison, baseline, policies.of(suite.name), approved)
        for suite in run.suites
    }
    for reason in _find_variant_reasons(run, policies.suites):
        by_suite[reason.suite or ""].append(reason)
    found = [reason for reasons in by_suite.values() for reason in reasons]
    weakened = [] if weakenings is None else list(reasons_from_weakenings(weakenings))
    for reason in weakened:
        by_suite.get(reason.suite or "", []).append(reason)
    unmeasured = too_many_unmeasured(run, _find_measured_limit(run, policies))
    missing = [] if unmeasured is None else [unmeasured]
    missing += _find_run_reasons(run, policies.run, [*found, *missing])
    return _conclude(run, _sort_reasons([*found, *weakened, *missing]), by_suite)


def _conclude(run: Run, reasons: list[Reason], by_suite: Mapping[str, Sequence[Reason]]) -> Decision:
    code = _exit_code(reasons)
    verdicts = {suite.name: _suite_verdict(suite, by_suite[suite.name]) for suite in run.suites}
    return Decision(VERDICTS[code], code, reasons, suite_verdicts=verdicts)


def _find_variant_reasons(run: Run, policies: Mapping[str, Policy]) -> list[Reason]:
    """Reasons of the suites whose policies compare variants, also where they were not compared."""
    asking = [suite for suite in run.suites if suite.name in policies and policies[suite.name].compare_variants]
    if not asking:
        return []
    from evalgate.gate.decision.variants import find_variant_reasons  # few suites compare variants

    return [
        reason
        for suite in asking
        for reason in find_variant_reasons(suite, run.arms, policies[suite.name])
        if no_traces(suite) is None
    ]


def apply_late_approvals(run: Run, decision: Decision, approved: Container[ScenarioKey]) -> Decision:
    """The decision without reasons for scenarios that a person approved after it was made."""
    reasons = [reason for reason in decision.reasons if not _is_approved(reason, approved)]
    by_suite = {suite.name: [each for each in reasons if each.suite == suite.name] for suite in run.suites}
    return _conclude(run, reasons, by_suite).for_report_only(decision.report_only)


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
    is_judged = comparison is None or comparison.judged_before
    missing = [no_traces(suite), check_baseline(baseline, policy.fail_on, is_judged=is_judged)]
    if missing[0] is not None:
        return [reason for reason in missing if reason is not None]
    fail_on = set(policy.fail_on)
    if baseline is not None and baseline.status == "unreachable":
        fail_on.discard("new_hard_fail")  # unknown whether a hard fail is new: the reason is `unreachable`
    found = list(find_failures(suite, comparison.changes if comparison else {}, fail_on, approved))
    found += find_excess_critical_issues(suite, comparison, policy.critical_issue_threshold, fail_on, approved)
    found += find_duplicates(suite, policy)
    found += find_nothing_recorded(suite, comparison, fail_on)
    missing += [find_empty_globs(suite, policy), too_few_evaluated(suite.scenarios, policy.min_evaluated, suite.name)]
    return [*found, *(reason for reason in missing if reason is not None)]


def _find_run_reasons(run: Run, policy: Policy, found: Iterable[Reason]) -> list[Reason]:
    """Missing evidence over all suites with traces, unless a suite has that reason already."""
    codes = {reason.code for reason in found}
    suites = [suite for suite in run.suites if no_traces(suite) is None]
    scenarios = [scenario for suite in suites for scenario in suite.scenarios]
    is_explained = "not_measured" in codes or ("no_traces" in codes and not scenarios)
    missing = (
        None if is_explained else nothing_evaluated(suites),
        None if "min_evaluated" in codes else too_few_evaluated(scenarios, policy.min_evaluated),
    )
    return [reason for reason in missing if reason is not None]


def _sort_reasons(reasons: Iterable[Reason]) -> list[Reason]:
    """Worst first, then in the order of the run; each place gives a reason once."""
    unique = {(reason.code, reason.suite, reason.scenario, reason.variant): reason for reason in reasons}
    return sorted(unique.values(), key=lambda reason: WORST_FIRST.index(reason.code))


def _exit_code(reasons: Iterable[Reason]) -> int:
    return exit_code_of(reason.code for reason in reasons)


def _suite_verdict(suite: SuiteResult, reasons: Iterable[Reason]) -> GateVerdict:
    """A suite without an evaluated scenario never passes, even if the rest of the run was evaluated."""
    verdict = VERDICTS[_exit_code(reasons)]
    if verdict == "pass" and not any(map(is_evaluated, suite.scenarios)):
        return "cannot_judge"
    return verdict


def find_duplicates(suite: SuiteResult, policy: Policy) -> Iterator[Reason]:
    """A reason for each scenario with duplicate traces, if the policy refuses them."""
    if policy.duplicates == "fail":
        for each in suite.scenarios:
            if (found := each.explain_duplicates()) and not each.quarantined:
                yield Reason("duplicates", found, suite.name, each.id, each.variant)


def find_nothing_recorded(
    suite: SuiteResult, comparison: Comparison | None, fail_on: Collection[str]
) -> Iterator[Reason]:
    """A reason if all recordings of a suite are those of the baseline, and the policy asks for new ones."""
    count = None if comparison is None else comparison.recordings.get(suite.name)
    if "nothing_recorded" in fail_on and count is not None and count.is_old:
        message = (
            f"suite {cut_quote(suite.name)}: {format_count(count.of, 'recording')}, none of them new since the baseline"
        )
        yield Reason("nothing_recorded", message, suite.name)


def find_excess_critical_issues(
    suite: SuiteResult,
    comparison: Comparison | None,
    most: int,
    fail_on: Collection[str],
    approved: Container[ScenarioKey] = (),
) -> Iterator[Reason]:
    """A reason for each word of `fail_on` about hard fails; not a new one if the baseline had too many too.

    Goldens that are approved or in quarantine are not counted.
    """
    kept = [
        each
        for key, each in list_scenarios([suite])
        if each.golden is not None and not each.quarantined and key not in approved
    ]
    found = sum(each.golden.critical_issues for each in kept if each.golden is not None)
    if found <= most:
        return
    message = f"{format_count(found, 'critical issue')}, `critical_issue_threshold` allows {most}: {_first(kept)}"
    if "hard_fail" in fail_on:
        yield Reason("hard_fail", message, suite.name)
    baseline_count = 0 if comparison is None else comparison.baseline_critical_issues.get(suite.name, 0)
    if "new_hard_fail" in fail_on and baseline_count <= most:
        yield Reason("new_hard_fail", message, suite.name)


def _first(scenarios: Collection[ScenarioResult]) -> str:
    for scenario in scenarios:
        for issue in scenario.golden.issues if scenario.golden is not None else ():
            if issue.severity == "critical":
                turn = "" if issue.turn is None else f", turn {issue.turn + 1}"
                return f"{cut_quote(scenario.id)}{turn}: {cut_quote(issue.message)}"
    return ""


RUN_AGAIN = "run the agent again once its model provider answers"
EVALUATED = frozenset({"passed", "failed", "hard_fail"})
JUDGED_NOTHING = "judged no scenario"
ABSENT = {"none": "was not found", "expired": "has expired", "refused": "was refused", "off": "is off"}
"""Statuses of a baseline that there is none of, and what a reason says of it."""


def is_evaluated(scenario: ScenarioResult) -> bool:
    """Whether a scenario was evaluated and may decide.

    One whose every trial ended in an error that the suite allows has a verdict, but was not evaluated. One in
    quarantine is no evidence for anything.
    """
    return (
        not scenario.quarantined
        and scenario.verdict not in NOT_EVALUATED
        and not EVALUATED.isdisjoint(trial.status for trial in scenario.trials)
    )


def no_traces(suite: SuiteResult) -> Reason | None:
    """A reason if a suite has no trace, unless all its scenarios are optional or in quarantine."""
    asked = [scenario for scenario in suite.scenarios if not scenario.quarantined]
    if suite.traces or (not asked and (suite.scenarios or suite.skipped)):
        return None
    found = f"nothing matches {suite.unmatched}" if suite.unmatched else "no file matches `traces`"
    number = len(suite.scenarios)
    none = "the only scenario was not evaluated" if number == 1 else f"none of the {number:,} scenarios was evaluated"
    message = f"suite {cut_quote(suite.name)}: no traces found: {found}{f'; {none}' if asked else ''}"
    return Reason("no_traces", f"{message}. {_advise_on_recording(suite)}", suite.name)


def _advise_on_recording(suite: SuiteResult) -> str:
    """What to do about traces that were not found."""
    hint = f"{suite.elsewhere}. Else see" if suite.elsewhere else "See"
    return (
        f"{hint} the log of the step that records: an agent that crashes before its first model call leaves no trace. "
        f"To record: {mark_part(build_record_command(suite.path))}"
        f"{'' if suite.elsewhere else '; if the traces are elsewhere, correct `traces` in ' + mark_part(suite.path)}."
    )


def find_empty_globs(suite: SuiteResult, policy: Policy) -> Reason | None:
    """A reason if a glob of a suite's `traces` matches no file and the policy refuses that."""
    if policy.empty_globs != "fail" or not suite.empty_globs:
        return None
    first, *others = suite.empty_globs
    more = f" (and {len(others)} more)" if others else ""
    return Reason(
        "empty_glob", f"{describe_empty_glob(suite.name, first)}{more}. {_advise_on_recording(suite)}", suite.name
    )


def _find_measured_limit(run: Run, policies: Policies) -> float:
    """The lowest share of unmeasured trials that any suite allows in the run."""
    of_suites = (policies.of(suite.name).validity.max_not_measured for suite in run.suites)
    return min(of_suites, default=policies.run.validity.max_not_measured)


def too_many_unmeasured(run: Run, most: float) -> Reason | None:
    """A reason if outages left a larger share of the run's trials unmeasured than allowed."""
    scenarios = [scenario for suite in run.suites for scenario in suite.scenarios]
    trials = sum(len(scenario.trials) for scenario in scenarios)
    unmeasured = [found for each in scenarios if len(found := filter_by_status(each.trials, "not_measured"))]
    count = sum(map(len, unmeasured))
    if not count or round(count / trials, DIGITS) <= round(most, DIGITS):
        return None
    what = f"{count} of {format_count(trials, 'trial')} {'was' if count == 1 else 'were'} not measured"
    limit = f"`max_not_measured` allows a share of {most:g}"
    return Reason("not_measured", f"{what}, {limit}: {cut_quote(unmeasured[0][0].reason or '')}; {RUN_AGAIN}")


def nothing_evaluated(suites: Sequence[SuiteResult]) -> Reason | None:
    """A reason if no scenario of the run was evaluated."""
    scenarios = [scenario for suite in suites for scenario in suite.scenarios]
    if any(map(is_evaluated, scenarios)):
        return None
    if not scenarios:
        return Reason("nothing_evaluated", "no scenario had a trace to evaluate")
    kinds = Counter("quarantined" if each.quarantined else format_verdict(each.verdict) for each in scenarios)
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return Reason("nothing_evaluated", f"no scenario could be evaluated ({listed})")


def too_few_evaluated(scenarios: Sequence[ScenarioResult], min_share: float, suite: str | None = None) -> Reason | None:
    """A reason if the share of evaluated scenarios is below `min_evaluated`; none without scenarios.

    Scenarios in quarantine count neither as evaluated nor as scenarios.
    """
    scenarios = [scenario for scenario in scenarios if not scenario.quarantined]
    if not scenarios or min_share <= 0:
        return None
    evaluated_count = sum(map(is_evaluated, scenarios))
    if round(evaluated_count / len(scenarios), DIGITS) >= round(min_share, DIGITS):
        return None
    prefix = "" if suite is None else f"suite {cut_quote(suite)}: "
    found = f"{evaluated_count} of {format_count(len(scenarios), 'scenario')} could be evaluated"
    return Reason("min_evaluated", f"{prefix}{found}, `min_evaluated` requires a share of {min_share:g}", suite)


def check_baseline(baseline: BaselineInfo | None, fail_on: Collection[str], *, is_judged: bool = True) -> Reason | None:
    """A reason if `fail_on` needs a baseline that does not exist, judged nothing, or could not be fetched."""
    needed = sorted(NEEDS_BASELINE.intersection(fail_on))
    if baseline is not None and baseline.status == "unreachable" and needed:
        listed, problem = ", ".join(needed), baseline.problem or "run the job again"
        lack = f"without it it is unknown what the policy fails on (`fail_on: [{listed}]`)"
        message = f"the baseline could not be fetched: {problem}; {lack}"
        return Reason("unreachable", message)
    status = baseline.status if baseline is not None else "none"
    if "no_baseline" not in fail_on or (status not in ABSENT and is_judged):
        return None
    off_by = baseline.off_by if baseline is not None else ""
    refusal = baseline.problem if baseline is not None and status == "refused" else None
    advice = f"{off_by} was set" if off_by else refusal or "run the gate on the base branch first"
    message = f"`fail_on` contains no_baseline, and the baseline {ABSENT.get(status, JUDGED_NOTHING)}: {advice}"
    return Reason("no_baseline", message)


def reasons_from_weakenings(weakenings: WeakeningList) -> Iterator[Reason]:
    """One reason for each place with a weakening that fails the gate there."""
    places: dict[tuple[str | None, str | None, str | None], list[Weakening]] = {}
    for each in weakenings.listed:
        if each.suite in weakenings.failing:
            places.setdefault((each.suite, each.scenario, each.variant), []).append(each)
    for place, (first, *others) in places.items():
        more = f" (and {len(others)} more)" if others else ""
        yield Reason("weakened", f"{describe_weakening(first)}{more}", *place)
