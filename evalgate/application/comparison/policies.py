"""The policy in force: for `fail_on` a flag, then the project, then the suite; else the suite first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast, get_args

from msgspec import Struct

from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.models.comparison.decision import FailOn
from evalgate.suite.policy import Policy, build_effective_policy
from evalgate.suite.schema.suite_file import PolicyEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.comparison.freshness import FreshnessContext
    from evalgate.models.run.run import Run
    from evalgate.suite.models import Configuration

WORDS: tuple[str, ...] = get_args(FailOn)
NEVER_FAIL = "to never fail the check, use report-only"


class Policies(Struct, frozen=True):
    """The policy of each suite by name, and the policy of the whole run."""

    suites: dict[str, Policy]
    run: Policy


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
