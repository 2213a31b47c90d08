"""Finds how the gate was weakened since the baseline, and whether that fails it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.application.comparison.baseline_rules import read_rules
from evalgate.application.evaluation.evaluate import TraceChoice
from evalgate.errors import Problem
from evalgate.gate.common.wording import format_count
from evalgate.gate.weakening.weaker_evidence import (
    find_missing_trials,
    find_removed_scenarios,
    find_unmeasured_scenarios,
)
from evalgate.models.approvals.approval import ApprovalRuling, Approvals
from evalgate.models.comparison.weakening import STRICTNESS, Weakening, WeakeningList
from evalgate.reporting.results.rulings_doc import build_approval_doc
from evalgate.suite.policy import build_effective_policy
from evalgate.suite.suite_file import PolicyEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from evalgate.application.comparison.baseline_rules import BaselineRules
    from evalgate.models.approvals.approval import Approval
    from evalgate.models.comparison.comparison import Comparison, ScenarioKey
    from evalgate.models.comparison.decision import FailOn
    from evalgate.models.comparison.weakening import OnWeakening
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.results.results_sections import ApprovalDoc, InputsDoc
    from evalgate.ports import BaselineFiles
    from evalgate.suite.models import Configuration
    from evalgate.suite.policy import Policies, Policy

MAX_LISTED = 1_000


class WeakeningRules:
    """What to do about a weakening, per place: a suite, or None for the project.

    A flag decides. Otherwise the stricter of today's policy and the baseline's does, so that a change that
    weakens the gate can't also silence the report of it.
    """

    def __init__(
        self,
        policies: Policies,
        baseline: Configuration | None = None,
        *,
        on_weakening: OnWeakening | None = None,
        has_fail_on: bool = False,
    ) -> None:
        self._policies = policies
        self._baseline = baseline
        self._on_weakening = on_weakening
        self._has_fail_on = has_fail_on  # `fail_on` comes from a flag

    def action_for(self, place: str | None) -> OnWeakening:
        """The action for a weakening in one place."""
        if "weakened" in self.fail_on_words(place):
            return "fail"
        if self._on_weakening is not None:
            return self._on_weakening
        baseline = self._baseline_policy(place)
        actions = [
            self._current_policy(place).on_weakening,
            *(() if baseline is None else (baseline.on_weakening,)),
        ]
        return max(actions, key=STRICTNESS.index)

    def fail_on_words(self, place: str | None) -> Collection[FailOn]:
        """The words of `fail_on` in one place: a flag's, else those of today and of the baseline."""
        now, baseline = self._current_policy(place), self._baseline_policy(place)
        return now.fail_on if baseline is None or self._has_fail_on else [*now.fail_on, *baseline.fail_on]

    def list_dropped(self, before: InputsDoc) -> list[str]:
        """The words of `fail_on` that decided by an input, and now decide in some suite neither by it nor by a policy.

        Or that an input of today leaves out, which the baseline did not have.
        """
        from evalgate.gate.weakening.detect_weakening import is_dropped

        places: list[str | None] = [*self._policies.suites] or [None]
        old = [each.fail_on for each in map(self._baseline_policy, places) if each is not None and self._has_fail_on]
        asked = before.get("fail_on") or [word for words in old for word in words]
        current = [self._current_policy(place).fail_on for place in places]
        return [word for word in dict.fromkeys(asked) if any(is_dropped(word, words) for words in current)]

    def list_actions(self) -> tuple[OnWeakening, OnWeakening]:
        """The project's `on_weakening` of the baseline and of today, without inputs."""
        return (self._baseline_policy(None) or self._policies.run).on_weakening, self._policies.run.on_weakening

    def _current_policy(self, place: str | None) -> Policy:
        return self._policies.run if place is None else self._policies.suites.get(place, self._policies.run)

    @property
    def is_silenced(self) -> bool:
        """Whether a flag or an input leaves weakenings out; a policy can't do that for its own change."""
        return self._on_weakening == "ignore"

    @property
    def is_fatal(self) -> bool:
        """Whether a weakening fails the gate anywhere."""
        return any(self.action_for(place) == "fail" for place in (None, *self._policies.suites))

    def _baseline_policy(self, place: str | None) -> Policy | None:
        if self._baseline is None:
            return None
        suite = next((suite for suite in self._baseline.suites if suite.name == place), None)
        return build_effective_policy(
            PolicyEntry.from_defaults() if suite is None else suite.policy, self._baseline.policy, None
        )


def judge_weakening(
    rules: WeakeningRules,
    baseline_rules: BaselineRules,
    configuration: Configuration,
    comparison: Comparison,
    baseline: BaselineRun,
    others: Sequence[Weakening] = (),
) -> WeakeningList:
    """All that today's suites, policies and runs require less; `others` is what else was found."""
    baseline_configuration = baseline_rules.configuration
    found: list[Weakening] = []
    if baseline_configuration is not None and not baseline_rules.is_same:
        from evalgate.gate.weakening.detect_weakening import (
            find_weakenings,  # most runs are judged by the rules of their baseline
        )

        found += find_weakenings(baseline_configuration, configuration, _compared_ids(comparison))
    counts = Counter(baseline.suite_sizes)
    found += [*others, *find_missing_trials(comparison), *find_unmeasured_scenarios(comparison)]
    found += find_removed_scenarios(_removed_keys(comparison, baseline), baseline_configuration, configuration, counts)
    return build_weakenings(found, rules, baseline_rules.unknown)


def weakening_between(
    files: BaselineFiles, paths: tuple[str, str], comparison: Comparison, baseline: BaselineRun, policies: Policies
) -> WeakeningList:
    """The same for two finished runs, by the suites in each; only the given policies decide."""
    baseline_rules, run_rules = (read_rules(files, path) for path in paths)
    rules = WeakeningRules(policies)
    if run_rules.configuration is not None and baseline_rules.configuration is not None:
        from evalgate.application.comparison.hidden_failures import list_unchecked_readings

        readings = list_unchecked_readings(baseline_rules.configuration, run_rules.configuration, TraceChoice())
        return judge_weakening(rules, baseline_rules, run_rules.configuration, comparison, baseline, readings)
    found = [Weakening("scenario_removed", *key) for key in _removed_keys(comparison, baseline)]
    found += [*find_missing_trials(comparison), *find_unmeasured_scenarios(comparison)]
    return build_weakenings(found, rules, (baseline_rules.unknown or run_rules.unknown) if rules.is_fatal else None)


def find_other_traces(before: InputsDoc, now: InputsDoc) -> list[Weakening]:
    """Whether the input `traces` of the workflow leaves out what that of the baseline's had."""
    old, new = before.get("traces"), now.get("traces")
    if old == new or (old is not None and {*old} <= {*(new or ())}):
        return []
    return [Weakening("traces_changed", None, baseline=_name_traces(old), current=_name_traces(new))]


def list_milder_inputs(before: InputsDoc, now: InputsDoc, rules: WeakeningRules) -> Iterator[Problem]:
    """What inputs demand less than those of the baseline's workflow; no weakening, as each event may have its own."""
    if dropped := rules.list_dropped(before):
        words = ", ".join(f"`{each}`" for each in dropped)
        yield Problem(f"{words} failed the gate of the baseline's workflow, and by the input `fail-on` not this one")
    old, new = (each.get("on_weakening", own) for each, own in zip((before, now), rules.list_actions(), strict=True))
    if "on_weakening" in {*before, *now} and STRICTNESS.index(new) < STRICTNESS.index(old):
        yield Problem(f"the baseline's workflow had `on-weakening: {old}`, and this one has `{new}`")


def _name_traces(patterns: Sequence[str] | None) -> str:
    return f"traces: {', '.join(patterns) if patterns else 'those of the suites'}"


def added_approvals(approvals: Approvals, baseline: BaselineRun) -> list[Weakening]:
    """Approvals that the baseline's run did not have, including proposals of a pull request."""
    known = _scopes_of(baseline)
    return [
        Weakening(
            "approval_added",
            *(each.suite, each.scenario, each.variant, each.assertion),
            current=f"until {each.until.isoformat()}, by {each.who}",
            location=each.location,
        )
        for each in (*approvals.effective, *approvals.proposed)
        if each.provenance is None  # from the file: a comment's is reported as an approval
        and _scope_of(each) not in known
    ]


def propose_added(approvals: Approvals, baseline: BaselineRun | None) -> Approvals:
    """Lets count only what the baseline's run had: the author of a change could have written the rest."""
    known = _scopes_of(baseline) if baseline is not None else frozenset()
    had = [each for each in approvals.effective if _scope_of(each) in known]
    added = [each for each in approvals.effective if _scope_of(each) not in known]
    return Approvals(tuple(had), (*approvals.proposed, *added))


def _scopes_of(baseline: BaselineRun) -> frozenset[tuple[object, ...]]:
    """What the approvals of the baseline's run allow; a proposed one allowed nothing."""
    return frozenset(_scope(each) for each in baseline.approvals if each["status"] != "proposed")


def _scope_of(approval: Approval) -> tuple[object, ...]:
    return _scope(build_approval_doc(ApprovalRuling(approval, "active", "", 0)))


def _scope(approval: ApprovalDoc) -> tuple[object, ...]:
    limit = approval["limit"]
    return (
        *(approval["suite"], approval["scenario"], approval["variant"], approval["assertion"]),
        *(approval["change"], limit and limit["score"], tuple(approval["trace"]), approval["until"]),
        tuple(approval.get("covers") or ()),
    )


def build_weakenings(found: Sequence[Weakening], rules: WeakeningRules, unknown: str | None) -> WeakeningList:
    """The weakenings to list, at most 1,000, and where they fail the gate."""
    actions = {place: rules.action_for(place) for place in {each.suite for each in found}}
    listed = [each for each in found if actions[each.suite] != "ignore"]
    failing = frozenset(place for place, action in actions.items() if action == "fail")
    if rules.action_for(None) == "ignore":
        unknown = None
    ignored = len(found) - len(listed) if rules.is_silenced else 0
    return WeakeningList(listed[:MAX_LISTED], max(0, len(listed) - MAX_LISTED), failing, unknown, ignored=ignored)


def weakening_problems(weakenings: WeakeningList | None) -> Iterator[Problem]:
    """Warnings to show next to the list."""
    if weakenings is None:
        return
    if weakenings.unknown is not None:
        message = "it is not known whether the baseline's suites and policies required more"
        yield Problem(f"{message}: {weakenings.unknown}")
    yield from weakenings.notes
    if weakenings.left:
        yield Problem(f"{weakenings.left:,} more requirements are weaker than the baseline's")
    if weakenings.ignored:
        verb = "is" if weakenings.ignored == 1 else "are"
        what = f"{format_count(weakenings.ignored, 'requirement')} {verb} weaker than the baseline's and not listed"
        yield Problem(f"{what}: `on-weakening: ignore` was set in place of every policy", code="weakenings_ignored")


def _compared_ids(comparison: Comparison) -> Mapping[str, Sequence[str]]:
    """Ids of the scenarios that both sides judged, by suite."""
    found: dict[str, list[str]] = {}
    for key in comparison.baseline_outcomes:
        found.setdefault(key.suite, []).append(key.id)
    return found


def _removed_keys(comparison: Comparison, baseline: BaselineRun) -> Iterator[ScenarioKey]:
    """Scenarios that only the baseline has, except those whose trace could not be read there.

    Those of a suite that has no traces now may come back with them; if the suite file dropped one that it
    named, its rules say so.
    """
    unreadable = baseline.find_unreadable_keys()
    removed = (standing.key for standing in comparison.removed if standing.key.suite not in comparison.unrecorded)
    yield from (key for key in removed if key not in unreadable)
