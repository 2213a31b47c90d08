"""Which scenarios got worse in a run, and which trials of them to record again on both sides."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.comparison.baseline_rules import read_rules
from evalgate.application.comparison.policies import policies_of
from evalgate.application.documents.run_documents import run_of
from evalgate.errors import Problem, RulesMissing
from evalgate.gate.common.scenarios import list_scenario_docs
from evalgate.gate.comparison.compare import call_unjudged, compare
from evalgate.gate.comparison.outcomes import outcomes_from_run
from evalgate.models.comparison.comparison import REGRESSIONS, ScenarioKey, list_scenarios
from evalgate.models.run.arms import MOST_SCENARIOS, PlannedScenario, TrialPlan
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.scoring.wording import cut_quote

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from evalgate.models.comparison.comparison import Change, Comparison
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.run import Run, ScenarioResult, Trial
    from evalgate.ports import BaselineFiles
    from evalgate.suite.models import Configuration
    from evalgate.suite.policy import Policies

Scenarios = dict[ScenarioKey, "ScenarioResult"]


class FinishedRun(NamedTuple):
    """A run, its document and the rules that judged it."""

    path: str
    document: ResultsDoc
    run: Run
    rules: Configuration

    @property
    def policies(self) -> Policies:
        """The policies of its suites."""
        return policies_of(self.rules, None)

    @property
    def scenarios(self) -> Scenarios:
        """Its scenarios by key."""
        return dict(list_scenarios(self.run.suites))


def load_finished(files: BaselineFiles, path: str) -> FinishedRun:
    """Reads a finished run; raises RulesMissing if it does not hold its suites."""
    rules = read_rules(files, path)
    if rules.configuration is None or rules.unknown is not None:
        raise RulesMissing(f"{path}: it is not known which suites judged this run: {rules.unknown}")
    document = files.load(path).results
    return FinishedRun(path, document, run_of(document), rules.configuration)


def load_pair(files: BaselineFiles, base: str, head: str) -> tuple[FinishedRun, FinishedRun]:
    """Both runs; raises RulesMissing if `head` was not compared with `base`."""
    pair = load_finished(files, base), load_finished(files, head)
    compared = pair[1].document["baseline"]
    if compared is None or compared["summary"] != pair[0].document["summary"]:
        raise RulesMissing(f"{head} was not compared with {base} (give the run that was its baseline)")
    return pair


def compare_runs(base: Run, head: Run, policies: Policies) -> Comparison:
    """The comparison of all scenarios, as in a run."""
    rules = {name: each.regression for name, each in policies.suites.items()}
    return compare(outcomes_from_run(head), outcomes_from_run(base), rules)


def find_worse(base: FinishedRun, head: FinishedRun) -> list[ScenarioKey]:
    """At most 20 scenarios that got worse, those that fail the check first; none that may fail or has no verdict."""
    changes = compare_runs(base.run, head.run, head.policies).changes
    blocking, before = _list_blocking(head.document), base.scenarios
    may_fail = _list_approved(head.document)
    found = [
        key
        for key, each in head.scenarios.items()
        if key in before
        and key not in may_fail
        and _can_be_repeated(before[key], each)
        and _is_worse(changes[key], each)
    ]
    return sorted(found, key=lambda key: key not in blocking)[:MOST_SCENARIOS]


def _can_be_repeated(before: ScenarioResult, now: ScenarioResult) -> bool:
    return not now.quarantined and all(
        each.golden is None and each.verdict not in NOT_EVALUATED for each in (before, now)
    )


def _is_worse(change: Change, now: ScenarioResult) -> bool:
    return change.kind in REGRESSIONS or (now.verdict != "PASS" and change.previous_verdict == "PASS")


def _list_blocking(document: ResultsDoc) -> Collection[ScenarioKey]:
    return {
        ScenarioKey(each.get("suite") or "", each.get("scenario") or "", each.get("variant"))
        for each in document["reasons"]
    }


def _list_approved(document: ResultsDoc) -> Collection[ScenarioKey]:
    return {
        key
        for key, each in list_scenario_docs(document)
        if (change := each["change"]) is not None and "approved" in change["flags"]
    }


def list_unjudged(base: FinishedRun, head: FinishedRun) -> list[Problem]:
    """A line for each scenario that fails now and that the base could not judge: nothing tells whether it got worse."""
    before = base.scenarios
    unjudged = {
        key: call_unjudged(before[key].verdict, cut_quote(before[key].reason or "")).reason
        for key, each in head.scenarios.items()
        if key in before and before[key].verdict in NOT_EVALUATED and each.verdict not in {"PASS", *NOT_EVALUATED}
    }
    return [Problem(f"{cut_quote(key.id)}: fails, and {why}", code="unjudged_base") for key, why in unjudged.items()]


def plan_trials(files: BaselineFiles, base: str, head: str, trials: int) -> tuple[TrialPlan, Sequence[Problem]]:
    """The trials to add, and what could not be compared.

    Their numbers follow those of both sides, so that pairs have the same number.
    """
    pair = load_pair(files, base, head)
    keys = find_worse(*pair)
    sides = [each.scenarios for each in pair]
    planned = [PlannedScenario(*key, number_trials([each[key] for each in sides], trials)) for key in keys]
    costs = [_mean_cost(each[key].trials) for key in keys for each in sides]
    known = [each for each in costs if each is not None]
    usd = round(fsum(known) * trials, 6) if len(known) == len(costs) else None
    return TrialPlan(planned, 2 * trials * len(keys), usd), list_unjudged(*pair)


def number_trials(sides: Iterable[ScenarioResult], trials: int) -> list[int]:
    """Numbers of the trials to add."""
    first = 1 + max(trial.trial for each in sides for trial in each.trials)
    return [*range(first, first + trials)]


def _mean_cost(trials: Sequence[Trial]) -> float | None:
    costs = [each.cost_usd for each in trials if each.cost_usd is not None]
    return fsum(costs) / len(costs) if costs else None
