"""The policies in force, and what they do to a run: duplicates, freshness, quarantine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast, get_args

from evalgate.errors import Problem, SettingError, SuiteError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.gate.common.scenarios import apply_quarantines, too_long
from evalgate.gate.comparison.freshness import mark_stale
from evalgate.models.comparison.comparison import ScenarioKey, list_scenarios
from evalgate.models.comparison.decision import FailOn
from evalgate.models.comparison.weakening import FreshnessContext
from evalgate.scoring.wording import describe_empty_glob
from evalgate.suite.policy import Policies, build_effective_policy
from evalgate.suite.suite_file import PolicyEntry

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from datetime import date, datetime

    from evalgate.application.messages.request import JudgeRequest
    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.comparison.weakening import QuarantineRuling, WatchedFiles
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.run.run import Run
    from evalgate.models.trace.trace import Warning_
    from evalgate.ports import Fingerprints
    from evalgate.suite.models import Configuration


WORDS: tuple[str, ...] = get_args(FailOn)
NEVER_FAIL = "to never fail the check, use report-only"


class JudgedRun(NamedTuple):
    """A run, its comparison with the baseline, and what decides it."""

    run: Run
    comparison: Comparison | None
    policies: Policies
    present: FreshnessContext


def policies_of(configuration: Configuration, fail_on: Sequence[str] | None) -> Policies:
    """The policies in force. Raises SettingError for unknown words of `fail_on`."""
    words = fail_on_words(fail_on)
    return Policies(
        {
            suite.name: build_effective_policy(suite.policy, configuration.policy, words)
            for suite in configuration.suites
        },
        build_effective_policy(PolicyEntry.from_defaults(), configuration.policy, words),
    )


def fail_on_words(words: Sequence[str] | None) -> list[FailOn] | None:
    """The words of a flag or action input, checked; None if it was not given."""
    if words is None:
        return None
    problems = [
        Problem(f"fail-on: unknown word {word!r}", None, suggest(word, WORDS)) for word in words if word not in WORDS
    ]
    if not words:
        problems.append(Problem("fail-on is empty", None, NEVER_FAIL))
    if problems:
        raise SettingError(*problems)
    return [cast("FailOn", word) for word in dict.fromkeys(words)]


def refuse_duplicates(run: Run, policies: Policies) -> None:
    """Makes scenarios with duplicate traces an ERROR in suites with `duplicates: fail`."""
    for suite in run.suites:
        if policies.suites[suite.name].duplicates == "fail":
            for scenario in suite.scenarios:
                if reason := scenario.explain_duplicates():
                    scenario.verdict, scenario.reason = "ERROR", reason


def list_empty_globs(run: Run, policies: Policies) -> list[Warning_]:
    """Warnings about globs that match no file beside others that do, where the policy only warns."""
    return [
        {"code": "empty_glob", "message": describe_empty_glob(suite.name, glob), "where": suite.path}
        for suite in run.suites
        for glob in (suite.empty_globs if suite.traces and policies.suites[suite.name].empty_globs == "warn" else ())
    ]


def present_of(
    request: JudgeRequest, policies: Policies, fingerprints: Fingerprints | None, now: datetime
) -> FreshnessContext:
    """What this run knows about itself. Raises InvalidInput if files to watch are missing."""
    return FreshnessContext(now, request.subject.commits, _read_watched_files(policies, fingerprints))


def _read_watched_files(policies: Policies, fingerprints: Fingerprints | None) -> Mapping[str, WatchedFiles]:
    """The files of each suite that watches some; equal globs are read once."""
    if fingerprints is None:
        return {}
    by_globs: dict[tuple[str, ...], WatchedFiles] = {}
    found: dict[str, WatchedFiles] = {}
    for name, policy in policies.suites.items():
        globs = tuple(policy.freshness.watch) if policy.freshness is not None else ()
        if globs and globs not in by_globs:
            by_globs[globs] = fingerprints.read_watched(globs)
        if globs:
            found[name] = by_globs[globs]
    return found


def judge_freshness(run: Run, policies: Policies, present: FreshnessContext) -> None:
    """Marks stale traces with the reason, and warns about those that no longer gate anything."""
    run.warnings += mark_stale(run, policies.suites, present)


def check_quarantine(configuration: Configuration, today: date) -> None:
    """Raises SuiteError for every quarantine that lasts too long."""
    written = [each for suite in configuration.suites for each in suite.quarantine]
    if not written:
        return
    problems = list(too_long(written, today))
    if problems:
        raise SuiteError(*problems)


def apply_quarantine(
    run: Run, comparison: Comparison | None, configuration: Configuration, today: date, baseline: BaselineRun | None
) -> list[QuarantineRuling]:
    """The ruling on every quarantine; marks quarantined scenarios and their changes."""
    written = {suite.name: suite.quarantine for suite in configuration.suites if suite.quarantine}
    if not written:
        return []
    from evalgate.gate.common.moved_recordings import MovedRecordings

    refuse = () if baseline is None else (MovedRecordings(baseline).refuse,)
    rulings = [
        ruling
        for suite in run.suites
        if suite.name in written
        for ruling in apply_quarantines(suite, written[suite.name], today, *refuse)
    ]
    flag_changes(run, comparison)
    return rulings


def compare_variants(run: Run, policies: Policies, approved: Container[ScenarioKey] = ()) -> Run:
    """Adds the comparisons of variants that policies ask for to the run, and returns it."""
    if any(policy.compare_variants for policy in policies.suites.values()):
        from evalgate.gate.arms.variants import compare_in_suites  # few suites compare variants

        run.arms = compare_in_suites(run, policies.suites, approved)
    return run


def flag_changes(run: Run, comparison: Comparison | None) -> None:
    """Flags the changes of scenarios in quarantine."""
    if comparison is None:
        return
    for key, scenario in list_scenarios(run.suites):
        change = comparison.changes.get(key) if scenario.quarantined else None
        if change is not None:
            change.flags.append("quarantined")
