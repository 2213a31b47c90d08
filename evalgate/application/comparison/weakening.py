"""Finds how the gate was weakened since the baseline, and whether that fails it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.application.comparison.baseline_rules import read_rules
from evalgate.errors import Problem
from evalgate.gate.comparison.fewer_trials import missing_trials
from evalgate.gate.comparison.removed_scenarios import removed
from evalgate.models.approvals.approval import Ruling
from evalgate.models.comparison.weakening import STRICTNESS, Weakening, Weakenings
from evalgate.reporting.results.approvals_doc import approval_doc
from evalgate.suite.policy import effective
from evalgate.suite.schema.suite_file import PolicyEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.application.comparison.baseline_rules import BaselineRules
    from evalgate.application.comparison.policies import Policies
    from evalgate.models.approvals.approval import Approvals
    from evalgate.models.comparison.baseline_run import BaselineRun
    from evalgate.models.comparison.comparison import Comparison, ScenarioKey
    from evalgate.models.comparison.weakening import OnWeakening
    from evalgate.models.results.results_approvals import ApprovalDoc
    from evalgate.ports import BaselineFiles
    from evalgate.suite.models import Configuration
    from evalgate.suite.policy import Policy

MOST_TOLD = 1_000


class WeakeningRules:
    """What to do about a weakening, per place: a suite, or None for the project.

    A flag decides. Otherwise the stricter of today's policy and the baseline's does, so that a change that
    weakens the gate can't also silence the report of it.
    """

    def __init__(
        self,
        policies: Policies,
        old: Configuration | None = None,
        *,
        on_weakening: OnWeakening | None = None,
        has_words: bool = False,
    ) -> None:
        self._policies = policies
        self._old = old
        self._on_weakening = on_weakening
        self._has_words = has_words  # `fail_on` comes from a flag

    def of(self, place: str | None) -> OnWeakening:
        """The action for a weakening in one place."""
        now = self._policies.run if place is None else self._policies.suites.get(place, self._policies.run)
        earlier = self._earlier(place)
        by_word = now.fail_on if earlier is None or self._has_words else [*now.fail_on, *earlier.fail_on]
        if "weakened" in by_word:
            return "fail"
        if self._on_weakening is not None:
            return self._on_weakening
        said = [now.on_weakening, *(() if earlier is None else (earlier.on_weakening,))]
        return max(said, key=STRICTNESS.index)

    @property
    def is_fatal(self) -> bool:
        """Whether a weakening fails the gate anywhere."""
        return any(self.of(place) == "fail" for place in (None, *self._policies.suites))

    def _earlier(self, place: str | None) -> Policy | None:
        if self._old is None:
            return None
        suite = next((suite for suite in self._old.suites if suite.name == place), None)
        return effective(PolicyEntry.unsaid() if suite is None else suite.policy, self._old.policy, None)


def judge_weakening(
    rules: WeakeningRules,
    earlier: BaselineRules,
    configuration: Configuration,
    comparison: Comparison,
    before: BaselineRun,
    approvals: Sequence[Weakening] = (),
) -> Weakenings:
    """All that today's suites, policies and runs demand less; `approvals` are added approvals."""
    old = earlier.configuration
    found: list[Weakening] = []
    if old is not None and not earlier.is_same:
        from evalgate.gate.weakening.detect_weakening import (
            weakened,  # most runs are judged by the rules of their baseline
        )

        found += weakened(old, configuration, _compared(comparison))
    counts = Counter({suite["suite"]: suite["scenarios"] for suite in before.suites})
    found += [*approvals, *missing_trials(comparison)]
    found += removed(_gone(comparison, before), old, configuration, counts)
    return settled(found, rules, earlier.unknown)


def weakening_between(
    files: BaselineFiles,
    paths: tuple[str, str],
    comparison: Comparison,
    before: BaselineRun,
    policies: Policies,
) -> Weakenings:
    """The same for two finished runs, by the suites each keeps; only the given policies decide."""
    earlier, later = (read_rules(files, path) for path in paths)
    rules = WeakeningRules(policies)
    if later.configuration is not None and earlier.configuration is not None:
        return judge_weakening(rules, earlier, later.configuration, comparison, before)
    less = [Weakening("scenario_removed", *key) for key in _gone(comparison, before)]
    less += missing_trials(comparison)
    return settled(less, rules, (earlier.unknown or later.unknown) if rules.is_fatal else None)


def added_approvals(approvals: Approvals, before: BaselineRun) -> list[Weakening]:
    """Approvals that the baseline's run did not have, including proposals of a pull request."""
    known = {_scope(each) for each in before.approvals if each["status"] != "proposed"}
    return [
        Weakening(
            "approval_added",
            *(each.suite, each.scenario, each.variant, each.assertion),
            after=f"until {each.until.isoformat()}, by {each.who}",
            location=each.location,
        )
        for each in (*approvals.counting, *approvals.proposed)
        if each.provenance is None  # from the file: a comment's is reported as an approval
        and _scope(approval_doc(Ruling(each, "active", "", 0))) not in known
    ]


def _scope(approval: ApprovalDoc) -> tuple[object, ...]:
    limit = approval["limit"]
    return (
        *(approval["suite"], approval["scenario"], approval["variant"], approval["assertion"]),
        *(approval["change"], limit and limit["score"], tuple(approval["trace"]), approval["until"]),
    )


def settled(found: Sequence[Weakening], rules: WeakeningRules, unknown: str | None) -> Weakenings:
    """The weakenings to list, at most 1,000, and where they fail the gate."""
    becomes = {place: rules.of(place) for place in {each.suite for each in found}}
    told = [each for each in found if becomes[each.suite] != "ignore"]
    failing = frozenset(place for place, said in becomes.items() if said == "fail")
    if rules.of(None) == "ignore":
        unknown = None
    return Weakenings(told[:MOST_TOLD], max(0, len(told) - MOST_TOLD), failing, unknown)


def remarks_on(weakenings: Weakenings | None) -> Iterator[Problem]:
    """Warnings to show next to the list."""
    if weakenings is None:
        return
    if weakenings.unknown is not None:
        said = "whether the baseline's suites and policies demanded more is not known"
        yield Problem(f"{said}: {weakenings.unknown}")
    if weakenings.left:
        yield Problem(f"{weakenings.left:,} more demands are weaker than the baseline's")


def _compared(comparison: Comparison) -> Mapping[str, Sequence[str]]:
    """Ids of the scenarios that both sides judged, by suite."""
    found: dict[str, list[str]] = {}
    for key in comparison.before:
        found.setdefault(key.suite, []).append(key.id)
    return found


def _gone(comparison: Comparison, before: BaselineRun) -> Iterator[ScenarioKey]:
    """Scenarios that only the baseline has, except those whose trace could not be read there."""
    unreadable = before.unread_keys()
    yield from (standing.key for standing in comparison.removed if standing.key not in unreadable)
