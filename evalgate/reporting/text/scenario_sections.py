"""Sorts scenarios of a results document into sections, most important first; facts about their trials."""

from __future__ import annotations

import re
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct, field

from evalgate.evaluators.core.registry import BUILT_IN_TYPES
from evalgate.measures.text.plain_text import mark_part
from evalgate.models.comparison.comparison import (
    IMPROVEMENTS,
    MORE_TRIALS,
    NOT_MEASURED,
    REGRESSIONS,
    SINGLE_TRIAL_CAVEAT,
)
from evalgate.models.run.golden import is_unjudged_dimension
from evalgate.models.run.run import FAILED_OUTCOMES, HARD_FAILS, HOLDS_NOT, NOT_EVALUATED, RUN_FAILED, UNWANTED
from evalgate.models.run.trials import TrialDocs
from evalgate.reporting.text.ruling_lines import find_approved_keys
from evalgate.reporting.text.trajectory_lines import NO_EFFECT
from evalgate.reporting.text.wording import MOST_READ, join_words, list_reasons

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.models.results.results import ChangeDoc, RemovedDoc, ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.models.run.trial_doc import AssertionDoc, TrialDoc

    CheckKey = tuple[str, str]
    FailedChecks = dict[CheckKey, "FailedOccurrences"]


class FailedOccurrences(NamedTuple):
    """How often a check did not pass, its first failure, and the reasons of the first trials in which it did not."""

    times: int
    first: AssertionDoc
    reasons: tuple[str, ...]


KNOWN, WORSE, OTHER = "same", "worse", "other"
"""How a failure compares with the baseline's, as a document says."""
NOT_RECORDED, NOT_JUDGED = "no trace now", "can't be judged any more"
"""What people read of a scenario that broke only for lack of evidence: of its trace, or of some of its figures."""
NOT_COMPARED = "not judged before"
"""What people read of a scenario that the baseline has and could not judge."""
FAILS_NOW, FAILS_MORE, MAY_BE_FIXED = "fails now", "fails in more trials", "may be fixed"
"""What people read of a failure that no test of its trials confirms, and that needs none, and of its end."""
RULE_OF_ALL = "all must pass"
NOT_FAILED = ("not evaluable: ", "error: ")
FAILED_STATUSES = frozenset({"failed", "hard_fail", "error"})


def list_scenarios(document: ResultsDoc) -> list[ScenarioDoc]:
    """Lists the scenarios of all suites."""
    return [scenario for suite in document["suites"] for scenario in suite["scenarios"]]


def count_passed(scenario: ScenarioDoc) -> int:
    """Counts the trials that passed."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return sum(trial.status == "passed" for trial in trials.trials)
    return sum(trial.status == "passed" for trial in trials)


def count_failed_trials(scenario: ScenarioDoc) -> int:
    """Counts the trials that failed or could not be read."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return sum(each.status in FAILED_STATUSES for each in trials.trials)
    return sum(each.status in FAILED_STATUSES for each in trials)


def find_failed_trial(scenario: ScenarioDoc) -> TrialDoc | None:
    """Returns the first trial that failed or could not be read; None without one."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        number = next((index for index, each in enumerate(trials.trials) if each.status in FAILED_STATUSES), None)
        return None if number is None else trials[number]
    return next((each for each in trials if each.status in FAILED_STATUSES), None)


def find_request(scenario: ScenarioDoc) -> str:
    """What the user asked for first in the first failed trial, else where it acts differently; may be empty."""
    trial = find_failed_trial(scenario)
    return (trial.trace.request if trial is not None else scenario.get("request")) or ""


MOST_CHECKS = 5
"""Checks of a scenario that a sentence names."""


def describe_checks(scenario: ScenarioDoc) -> str:
    """`checked by` with the names of the checks of a scenario, those of its first trial; may be empty.

    Then what surely none of them looks at.
    """
    checks = [check for trial in scenario["trials"][:1] for check in trial.assertions]
    names = [mark_part(each.name) for each in checks]
    left = len(names) - MOST_CHECKS
    listed = join_words([*names[:MOST_CHECKS], *([f"{left:,} more"] if left > 0 else [])])
    unchecked = _UNCHECKED[find_unchecked(scenario)]
    return listed and f"checked by {listed}{f'; {unchecked}' if unchecked else ''}"


def describe_new(scenario: ScenarioDoc) -> str:
    """` (only look-ups, no tool call is checked)`, or the like; empty if its checks may look at all that it does."""
    unchecked = _UNCHECKED[find_unchecked(scenario)]
    example = scenario["change"].get("example") if scenario["change"] else None
    reads = [NO_EFFECT] if unchecked and example is not None and example.reads_only and example.calls else []
    return f" ({', '.join([*reads, unchecked])})" if unchecked else ""


_TEXTS, _CALLS = frozenset({"outputs", "similarity", "texts"}), re.compile(r"calls\.|skills\.checks|state")
"""Modules of the checks of a text, by default of the final answer, and of those of what the agent did."""
_FIGURES = frozenset({"cost_limit", "finish_reason", "latency_limit", "token_limit", "turn_limit"})
_OF_ANSWER = re.compile(f"(?:{UNWANTED}: |{HOLDS_NOT})?(?:expected )?(?:the )?answer\\b")
"""Begins the reason of a check that read the answer."""
_UNCHECKED = {
    (False, False): "",
    (False, True): "no tool call is checked",
    (True, False): "the answer is not checked",
    (True, True): "neither the answer nor a tool call is checked",
}


def find_unchecked(scenario: ScenarioDoc) -> tuple[bool, bool]:
    """Whether surely no check of a scenario reads its answer, and none its tool calls although it has tools."""
    checks = [check for trial in scenario["trials"][:1] for check in trial.assertions]
    are_of_answer, are_of_calls = (list(map(reads, checks)) for reads in (reads_answer, _reads_calls))
    known = zip(checks, are_of_answer, are_of_calls, strict=True)
    if not all(of_answer or of_calls or check.type in _FIGURES for check, of_answer, of_calls in known):
        return False, False
    example = scenario["change"].get("example") if scenario["change"] else None
    has_tools = any(each.tool_calls for each in scenario["trials"][:1]) or (example is not None and example.reads_only)
    return bool(checks) and not any(are_of_answer), bool(checks) and has_tools and not any(are_of_calls)


def reads_answer(check: AssertionDoc) -> bool:
    """Whether a check surely read the final answer and nothing else."""
    return BUILT_IN_TYPES.get(check.type) in _TEXTS and _OF_ANSWER.match(check.reason) is not None


def _reads_calls(check: AssertionDoc) -> bool:
    """Whether a check surely read what the agent did, or left behind, and not its answer."""
    return _CALLS.match(BUILT_IN_TYPES.get(check.type, "")) is not None


def find_failed_outcomes(scenario: ScenarioDoc) -> set[str]:
    """Returns the outcomes of all checks that did not pass, without decoding a trial."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return {each.outcome for trial in trials.trials for each in trial.summary.failed}
    return {assertion.outcome for _, assertion in _iter_failed(trials)}


def find_worst_outcome(scenario: ScenarioDoc) -> Literal["failed", "not_evaluable"] | None:
    """`failed` if some trial or check failed, `not_evaluable` if checks only lacked evidence, else None."""
    outcomes = find_failed_outcomes(scenario)
    if count_failed_trials(scenario) or not outcomes <= {"not_evaluable"}:
        return "failed"
    return "not_evaluable" if outcomes else None


def has_failed_trials(scenario: ScenarioDoc) -> bool:
    """Whether some of several trials failed."""
    return scenario["n"] > 1 and count_failed_trials(scenario) > 0


def is_clean(scenario: ScenarioDoc) -> bool:
    """Whether all its trials were measured and nothing in them failed."""
    return not scenario.get("not_measured") and find_worst_outcome(scenario) is None


def sum_seconds(scenario: ScenarioDoc) -> float:
    """Sums the known seconds of all trials."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return float(sum(trial.latency_seconds or 0 for trial in trials.trials))
    return sum(trial.latency_seconds or 0.0 for trial in trials)


def count_failed_checks(scenario: ScenarioDoc) -> FailedChecks:
    """Counts failures of each check, keyed by name and type, and returns the first one of each, with the reasons.

    An assertion that failed goes before one that could not be evaluated.
    """
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        return _count_failed_in_store(trials)
    found: FailedChecks = {}
    for check, assertion in _iter_failed(trials):
        count, first, reasons = found.get(check, (0, assertion, ()))
        if count < MOST_READ:
            reasons = (*reasons, _state_reason(assertion))
        found[check] = FailedOccurrences(count + 1, _worse(first, assertion), reasons)
    return found


def _state_reason(assertion: AssertionDoc) -> str:
    """The reason, with the outcome where the check did not fail."""
    outcome = assertion.outcome.replace("_", " ")
    return assertion.reason if assertion.outcome == "failed" else f"{outcome}: {assertion.reason}"


def _worse(first: AssertionDoc, other: AssertionDoc) -> AssertionDoc:
    return other if first.outcome != "failed" and other.outcome == "failed" else first


def list_trial_reasons(scenario: ScenarioDoc) -> list[str]:
    """Lists the reasons of trials that could not be judged."""
    trials = scenario["trials"]
    if isinstance(trials, TrialDocs):
        trials = trials.select("error")
    return [trial.reason for trial in trials if trial.reason and trial.status == "error"]


@lru_cache(maxsize=2_000)
def _count_failed_in_store(docs: TrialDocs) -> FailedChecks:
    """Does the same for stored trials, decoding only the first failed ones; several reports ask for it."""
    counts: dict[CheckKey, int] = {}
    first: dict[CheckKey, tuple[int, int, str]] = {}
    for trial_index, trial in enumerate(docs.trials):
        for row, each in enumerate(trial.summary.failed):
            check = each.name, each.type
            counts[check] = counts.get(check, 0) + 1
            if check not in first or (each.outcome == "failed" and first[check][2] != "failed"):
                first[check] = trial_index, row, each.outcome
    failed = [index for index, trial in enumerate(docs.trials) if trial.summary.failed][:MOST_READ]
    rows = {
        trial_index: [*_iter_failed([docs[trial_index]])]
        for trial_index in sorted({*failed, *(trial_index for trial_index, _, _ in first.values())})
    }
    reasons: dict[CheckKey, tuple[str, ...]] = {}
    for document_key, assertion in (row for each in rows.values() for row in each):
        reasons[document_key] = (*reasons.get(document_key, ()), _state_reason(assertion))
    found: FailedChecks = {}
    for check, (trial_index, row, _) in first.items():
        document_key, assertion = rows[trial_index][row]  # in the document the name may be cut or redacted
        count, worst, _ = found.get(document_key, (0, assertion, ()))
        worst = _worse(worst, assertion)
        found[document_key] = FailedOccurrences(count + counts[check], worst, reasons[document_key][:MOST_READ])
    return found


def _iter_failed(trials: Iterable[TrialDoc]) -> Iterator[tuple[CheckKey, AssertionDoc]]:
    for trial in trials:
        for each in trial.assertions:
            if each.outcome in FAILED_OUTCOMES and not is_unjudged_dimension(each.type, each.outcome):
                yield (each.name, each.type), each


SINGLE_TRIAL, FEW_TRIALS, FLAKY = "single_trial", "few_trials", "flaky"
_PASSED = re.compile(r"passed (\d+) of (\d+) before, (\d+) of (\d+) now")
_NEEDED = re.compile(rf"{MORE_TRIALS}(\d+) trials on each side \(`--trials \d+`\) to be sure")
_WORST_FIRST = ("HARD_FAIL", "ERROR", "MISSING", "FAIL", "PARTIAL", "NOT_EVALUABLE", "PASS")
_UNMET_RULE = re.compile(
    r"(score \S+ is below the threshold \S+, )?\d+ of \d+ trials passed(, expected (a pass rate of )?at least [^,]+)?$"
)
_CHANGES_FIRST = ("broken", "regressed", "inconclusive", "new", "fixed", "improved", "removed")


class SuiteScenario(NamedTuple):
    """A scenario and its suite; `implied_flags` are those of every change, which a report states once."""

    suite: SuiteDoc
    scenario: ScenarioDoc
    implied_flags: frozenset[str] = frozenset()

    @property
    def kind(self) -> str:
        """The kind of its change; `unchanged` if it was not compared."""
        change = self.scenario["change"]
        return change["kind"] if change else "unchanged"

    @property
    def shown_kind(self) -> str:
        """What people read of the kind of its change."""
        return name_change(self.scenario)

    @property
    def flags(self) -> list[str]:
        """The flags of its change that not every change has, and no doubts that its numbers of trials show."""
        change = self.scenario["change"]
        doubts = {FEW_TRIALS, FLAKY, *([SINGLE_TRIAL] if self.scenario["verdict"] == "HARD_FAIL" else [])}
        return [flag for flag in change["flags"] if flag not in self.implied_flags | doubts] if change else []


class FailedCheck(NamedTuple):
    """A check over all trials of a scenario: how often it failed, its first failure, why in all, and its name."""

    failed: int
    trials: int
    first: AssertionDoc
    reasons: list[str]
    name: str

    @property
    def reason(self) -> str:
        """Why it failed, in one sentence."""
        return "; ".join(self.reasons)

    @property
    def is_required(self) -> bool:
        """Whether its failure is a hard fail."""
        return self.first.required


class ScenarioSections(Struct):
    """All scenarios but those of suites without traces, each in exactly one list; each list worst first.

    The first `hidden` of the passing ones have failed or unmeasured trials or checks. The first `known_blocking` of the
    `known` failures, which the baseline has or a person approved, are reasons of the verdict.
    """

    failures: list[SuiteScenario] = field(default_factory=list)
    regressed: list[SuiteScenario] = field(default_factory=list)
    below: list[SuiteScenario] = field(default_factory=list)
    known: list[SuiteScenario] = field(default_factory=list)
    quarantined: list[SuiteScenario] = field(default_factory=list)
    other_changes: list[SuiteScenario | RemovedDoc] = field(default_factory=list)
    passing: list[SuiteScenario] = field(default_factory=list)
    hidden: int = 0
    known_blocking: int = 0


def sort_scenarios(document: ResultsDoc) -> ScenarioSections:
    """Sorts into sections; failures are hard fails, broken and blocking ones that are new and not quarantined.

    Scenarios of a suite without traces are left out: the reason of the suite covers them.
    """
    unrecorded = {reason.get("suite") for reason in document["reasons"] if reason["code"] == "no_traces"}
    blocking = {
        (reason.get("suite"), reason.get("scenario"), reason.get("variant"))
        for reason in document["reasons"]
        if reason["code"] != "weakened"  # reports list them separately
    }
    suites = {suite for suite, scenario, _ in blocking if suite and not scenario}
    sections, known_blocking = ScenarioSections(), list[SuiteScenario]()
    implied_flags, approved = _find_implied_flags(document), find_approved_keys(document)
    for suite in document["suites"]:
        for scenario in () if suite["suite"] in unrecorded else suite["scenarios"]:
            item, key = (
                SuiteScenario(suite, scenario, implied_flags),
                (suite["suite"], scenario["id"], scenario["variant"]),
            )
            is_named = key in blocking or (suite["suite"] in suites and _is_critical(scenario))
            if _is_known(scenario, is_approved=key in approved):
                (known_blocking if is_named else sections.known).append(item)
                continue
            _select_section(item, sections, is_named=is_named).append(item)
    sections.failures.sort(key=_severity_key)
    sections.below.sort(key=_severity_key)
    sections.known = [*sorted(known_blocking, key=_severity_key), *sorted(sections.known, key=_severity_key)]
    sections.known_blocking = len(known_blocking)
    sections.quarantined.sort(key=_severity_key)
    sections.other_changes.sort(key=_change_key)
    named = {
        (each["suite"], each["scenario"], each["variant"])
        for each in document.get("weakenings") or ()
        if each["kind"] == "scenario_removed"
    }
    sections.other_changes.extend(
        each
        for each in document["removed"]
        if each["suite"] not in unrecorded and (each["suite"], each["id"], each["variant"]) not in named
    )
    are_clean = [is_clean(item.scenario) for item in sections.passing]
    ordered = sorted(zip(are_clean, sections.passing, strict=True), key=itemgetter(0))
    sections.passing, sections.hidden = [item for _, item in ordered], are_clean.count(False)
    return sections


def _is_known(scenario: ScenarioDoc, *, is_approved: bool) -> bool:
    if scenario["verdict"] == "PASS" or scenario.get("quarantined"):
        return False
    return is_known_failure(scenario, is_approved=is_approved)


def is_known_failure(scenario: ScenarioDoc, *, is_approved: bool = False) -> bool:
    """Whether a scenario fails as it did in the baseline, or as a person has approved."""
    change = scenario["change"]
    if scenario["verdict"] == "PASS" or change is None:
        return False
    known = change.get("known_failure")
    if known is not None:
        return known == KNOWN or (is_approved and known == OTHER)
    was_failing = change["previous_verdict"] not in (None, "PASS")
    return was_failing and change["kind"] not in {*REGRESSIONS, "new"} and change["reason"] != NOT_MEASURED


def is_unjudged_before(scenario: ScenarioDoc) -> bool:
    """Whether the baseline has it and could not judge it, so that nothing is known of what changed."""
    change = scenario["change"]
    return change is not None and change["kind"] == "new" and change["previous_verdict"] is not None


def _find_implied_flags(document: ResultsDoc) -> frozenset[str]:
    """Returns `single_trial` if all scenarios that got better or worse have it: it distinguishes none."""
    changes = [each["change"] for suite in document["suites"] for each in suite["scenarios"] if each["change"]]
    moved = [change["flags"] for change in changes if change["kind"] in REGRESSIONS | IMPROVEMENTS]
    return frozenset({SINGLE_TRIAL} if all(SINGLE_TRIAL in flags for flags in moved) else ())


def _is_critical(scenario: ScenarioDoc) -> bool:
    """Whether it is a golden with critical issues, which can make its whole suite hard-fail."""
    golden = scenario.get("golden")
    return golden is not None and golden["critical_issues"] > 0


def find_failed_checks(scenario: ScenarioDoc) -> list[FailedCheck]:
    """Lists checks that did not pass in some trial: how the run ended, required ones, what failed, by lost weight."""
    counts, trials = count_failed_checks(scenario), scenario["n"]
    checks = [_build_failed_check(each, trials) for each in counts.values()]
    if len(checks) > 1:
        checks.sort(key=_check_rank)
    return checks


def _build_failed_check(found: FailedOccurrences, trials: int) -> FailedCheck:
    failed = min(found.times, trials)
    is_alike = len(found.reasons) == 1 or found.first.outcome != "failed"
    ordered = sorted(found.reasons, key=lambda reason: reason.startswith(NOT_FAILED))
    reasons = [found.first.reason] if is_alike else list_reasons(ordered, failed, trials)
    return FailedCheck(failed, trials, found.first, reasons, found.first.name)


def _check_rank(check: FailedCheck) -> tuple[bool, bool, bool, float]:
    return (
        check.first.type != RUN_FAILED,
        not check.is_required,
        check.first.outcome != "failed",
        -check.failed * check.first.weight,
    )


def find_reason(scenario: ScenarioDoc) -> str:
    """Returns the main reason for a scenario's verdict in one line; may be empty."""
    checks = find_failed_checks(scenario)
    if scenario["verdict"] == "ERROR" or not checks:
        reasons = list_trial_reasons(scenario)
        others = f" (and {len(reasons) - 1} more trials)" if len(reasons) > 1 else ""
        return f"{reasons[0]}{others}" if reasons else scenario["reason"] or ""
    return f"{checks[0].name}: {checks[0].reason}"


def list_grave_reasons(scenario: ScenarioDoc) -> list[str]:
    """Why its worst check failed, and others as grave as it; or why its first trial could not be judged."""
    checks = find_failed_checks(scenario)
    if scenario["verdict"] == "ERROR" or not checks:
        return list_trial_reasons(scenario)[:1]
    worst = checks[0].first
    grave = [each for each in checks[1:] if (each.first.outcome, each.is_required) == (worst.outcome, worst.required)]
    return [_name_bare_reason(each) for each in (checks[0], *grave)]


def _name_bare_reason(check: FailedCheck) -> str:
    """The reason of its first failure, with its name if the reason does not say what was demanded."""
    reason = check.first.reason
    return f"{mark_part(check.name)}: {reason}" if reason.startswith((UNWANTED, HOLDS_NOT)) else reason


def is_crash(scenario: ScenarioDoc) -> bool:
    """Whether a scenario failed first by how its runs ended, which no check of the suite says."""
    return any(each.first.type == RUN_FAILED for each in find_failed_checks(scenario)[:1])


def describe_share(scenario: ScenarioDoc) -> str:
    """` in 1 of 4 trials (all must pass)` or ` in all 4 trials` of a scenario that fails; empty for a single trial."""
    passed, number, rule = count_passed(scenario), scenario["n"], describe_pass_rule(scenario)
    if number <= 1 or passed >= number:
        return ""
    shown = f"{number - passed} of {number}" if passed else f"all {number}"
    return f" in {shown} trials{f' ({rule})' if rule else ''}"


def describe_more_failures(scenario: ScenarioDoc) -> str:
    """` in 4 of 4 trials, 1 of 4 before` of a scenario that fails in more trials; empty if that is not known."""
    counts = _find_counts(scenario)
    if counts is None:
        return ""
    before, of_before, now, of_now = counts
    return f" in {of_now - now} of {of_now} trials, {of_before - before} of {of_before} before"


def describe_fewer_passes(scenario: ScenarioDoc) -> str:
    """` in 3 of 4 trials, 4 of 4 before` of a scenario that passes; without what was before if that is not known."""
    counts = _find_counts(scenario)
    before = f", {counts[0]} of {counts[1]} before" if counts else ""
    return f" in {count_passed(scenario)} of {scenario['n']} trials{before}"


def _find_counts(scenario: ScenarioDoc) -> tuple[int, ...] | None:
    """Trials that passed in the baseline, and of how many; the same of this run; None if they are not known."""
    found = _PASSED.search(scenario["change"]["reason"]) if scenario["change"] else None
    return tuple(map(int, found.groups())) if found else None


def describe_unmet_rule(scenario: ScenarioDoc) -> str:
    """Describes the threshold or pass rate that a scenario misses though trials passed; no check says that."""
    is_partial = scenario["n"] > 1 and count_passed(scenario) and find_failed_checks(scenario)
    found = _UNMET_RULE.search(scenario["reason"] or "") if is_partial else None
    if found and not found[1] and (rule := describe_pass_rule(scenario)):
        return f"{count_passed(scenario)} of {scenario['n']} trials passed, {rule}"
    return found[0] if found else ""


def describe_pass_rule(scenario: ScenarioDoc) -> str:
    """The rule that decides where only some trials passed; empty where all or none did, or a reason states it."""
    passed, needed = count_passed(scenario), scenario.get("passes_needed", 0)
    if not 0 < passed < scenario["n"]:
        return ""
    if needed and (passed < needed or scenario["verdict"] == "PASS"):
        return RULE_OF_ALL if needed == scenario["n"] else f"at least {needed} must pass"
    if scenario["verdict"] == "HARD_FAIL":  # documents of earlier versions have a pass rate in the reason only
        return "" if _UNMET_RULE.search(scenario["reason"] or "") else RULE_OF_ALL
    return f"mean score {scenario['threshold']:g} is enough" if scenario["verdict"] == "PASS" else ""


def count_trials(scenario: ScenarioDoc, noun: str = "") -> str:
    """How many of several trials passed, with the rule that decides: `3/4, all must pass`; empty for one trial.

    `noun` follows the share.
    """
    share = f"{count_passed(scenario)}/{scenario['n']}{noun}" if scenario["n"] > 1 else ""
    return ", ".join(filter(None, [share, describe_pass_rule(scenario)]))


def name_change(scenario: ScenarioDoc) -> str:
    """What people read of the kind of a scenario's change; `unchanged` if it was not compared."""
    change = scenario["change"]
    if change is None:
        return "unchanged"
    if change["kind"] == "inconclusive":
        return NOT_MEASURED if change["reason"] == NOT_MEASURED else _name_undecided(scenario, change)
    if change["kind"] == "broken" and is_lost(scenario):
        return NOT_RECORDED if scenario["verdict"] == "MISSING" else NOT_JUDGED
    return NOT_COMPARED if is_unjudged_before(scenario) else change["kind"]


def _name_undecided(scenario: ScenarioDoc, change: ChangeDoc) -> str:
    """What no test confirms may be chance, unless it is certain that the scenario fails now, or fails more often."""
    if scenario["verdict"] == "PASS" and change["previous_verdict"] not in (None, "PASS"):
        return MAY_BE_FIXED
    if scenario["verdict"] == "PASS" or not is_certain(scenario):
        return "may be chance"
    if change["previous_verdict"] in (None, "PASS"):
        return FAILS_NOW
    return FAILS_MORE if fails_in_more_trials(change) else "may be chance"


def is_certain(scenario: ScenarioDoc) -> bool:
    """Whether no statistics are needed: a required check failed, or all trials passed on one side only."""
    counts = _find_counts(scenario)
    if counts is None:
        return scenario["verdict"] == "HARD_FAIL"
    before, of_before, now, of_now = counts
    return scenario["verdict"] == "HARD_FAIL" or (before, now) in ((of_before, 0), (0, of_now))


def fails_in_more_trials(change: ChangeDoc) -> bool:
    """Whether a smaller share of the trials passed than in the baseline, as far as the reason says so."""
    found = _PASSED.search(change["reason"])
    if found is None:
        return False
    before, of_before, now, of_now = map(int, found.groups())
    return now * of_before < before * of_now


def count_needed_trials(scenario: ScenarioDoc) -> int:
    """Trials a side that would decide an inconclusive change; 0 of any other, or if more would hardly help."""
    change = scenario["change"]
    found = _NEEDED.search(change["reason"]) if change and change["kind"] == "inconclusive" else None
    return int(found[1]) if found else 0


def describe_change(scenario: ScenarioDoc) -> str:
    """Returns the reason of a change; empty if it was not compared.

    Without the caveat that reports state once for all, and without advice on trials where none are needed to be sure.
    """
    change = scenario["change"]
    if change is None:
        return ""
    reason = change["reason"].removesuffix(SINGLE_TRIAL_CAVEAT) if SINGLE_TRIAL in change["flags"] else change["reason"]
    is_sure = scenario["verdict"] != "PASS" and is_certain(scenario)
    return reason.partition(f": {MORE_TRIALS}")[0] if is_sure else reason


def _select_section(
    item: SuiteScenario, sections: ScenarioSections, *, is_named: bool
) -> list[SuiteScenario] | list[SuiteScenario | RemovedDoc]:
    if item.scenario.get("quarantined"):
        return sections.quarantined
    verdict, kind = item.scenario["verdict"], item.kind
    if verdict in HARD_FAILS or kind == "broken" or is_named:
        return sections.failures
    if kind == "regressed":
        return sections.regressed
    if verdict != "PASS":
        return sections.below
    is_unchanged = kind == "unchanged" and not would_fail(item.scenario)
    return sections.passing if is_unchanged else sections.other_changes


def is_bad(item: SuiteScenario) -> bool:
    """Whether it does not pass, or regressed since the baseline."""
    return item.scenario["verdict"] != "PASS" or item.kind == "regressed"


def is_lost(scenario: ScenarioDoc, outcomes: set[str] | None = None) -> bool:
    """Whether it fails only for lack of evidence: no check failed, and some could not be evaluated.

    `outcomes` are those of the checks that did not pass, if they are known.
    """
    change = scenario["change"]
    outcomes = find_failed_outcomes(scenario) if outcomes is None else outcomes
    if "failed" in outcomes or scenario["verdict"] in NOT_EVALUATED:
        return "failed" not in outcomes
    is_worse = scenario["verdict"] != "PASS" or (
        change is not None and change["kind"] in REGRESSIONS and not change["increases"]
    )
    return bool(outcomes) and is_worse


def fails_by_differences(scenario: ScenarioDoc) -> bool:
    """Of a scenario that fails the gate: whether it passes as before and only acts differently."""
    change = scenario["change"]
    is_same = change is not None and change["kind"] == "unchanged" and not change["increases"]
    return scenario["verdict"] == "PASS" and is_same and "differences" in scenario


def would_fail(scenario: ScenarioDoc) -> bool:
    """Whether it passes now but would fail by the baseline's rules."""
    change = scenario["change"]
    cause = change.get("cause") if change else None
    if cause is None or scenario["verdict"] != "PASS":
        return False
    return cause.now_by_old_rules not in (None, "PASS")


def _severity_key(item: SuiteScenario) -> tuple[int, int]:
    return item.kind != "broken", _rank(_WORST_FIRST, item.scenario["verdict"])


def _change_key(item: SuiteScenario | RemovedDoc) -> int:
    return _rank(_CHANGES_FIRST, item.kind if isinstance(item, SuiteScenario) else "removed")


def _rank(order: tuple[str, ...], word: str) -> int:
    return order.index(word) if word in order else len(order)
