"""What one changed trace does to the gate: all others as recorded, compared with a baseline of the same traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.outcomes import outcome_from_scenario
from evalgate.gate.decision.failures import find_failures
from evalgate.models.run.run import ScenarioResult, SuiteResult
from evalgate.scoring.scenario import judge_scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.comparison import ScenarioKey, ScenarioOutcome
    from evalgate.models.mutation import Effect
    from evalgate.models.run.run import Trial, TrialResult
    from evalgate.suite.models import Scenario, Suite
    from evalgate.suite.policy import Policy

BELOW_THRESHOLD = "below_threshold"


class GateEffects:
    """The trials of a suite as recorded, and what becomes of the gate if one of them were another."""

    def __init__(self, suite: Suite, policy: Policy) -> None:
        self._suite, self._policy = suite, policy
        self._trials: dict[ScenarioKey, list[TrialResult]] = {}
        self._scenarios: dict[ScenarioKey, Scenario] = {}
        self._recorded: dict[ScenarioKey, ScenarioResult | None] = {}
        self._outcomes: dict[ScenarioKey, ScenarioOutcome] = {}
        self._known: dict[tuple[object, ...], Effect] = {}

    def add_trial(self, key: ScenarioKey, scenario: Scenario, trial: TrialResult) -> int:
        """Adds a recorded trial and returns its index in the scenario."""
        trials = self._trials.setdefault(key, [])
        trial.trial = len(trials)  # pairs it with itself in the baseline
        trials.append(trial)
        self._scenarios[key] = scenario
        return len(trials) - 1

    def close(self) -> None:
        """Judges the scenarios as recorded, once all trials are added."""
        self._known.clear()
        for key, trials in self._trials.items():
            self._recorded[key] = found = self._judge(key, trials)
            if found is not None:
                self._outcomes[key] = outcome_from_scenario(key, found)

    def find_effect(self, key: ScenarioKey, at: int, trial: TrialResult | None) -> Effect:
        """What the gate does if the trial at this index were another that does not pass, or were not there."""
        signature = (key, at, *_list_figures(trial))
        found = self._known.get(signature)
        if found is None:
            found = self._known[signature] = self._find_effect(key, at, trial)
        return found

    def _find_effect(self, key: ScenarioKey, at: int, trial: TrialResult | None) -> Effect:
        recorded, trials = self._recorded[key], [*self._trials[key]]
        trials[at : at + 1] = [] if trial is None else [trial]
        if trial is not None:
            trial.trial = at
        changed = self._judge(key, trials)
        words = frozenset(self._policy.fail_on)
        before, after = self._list_reasons(key, recorded), self._list_reasons(key, changed)
        if words & before:
            return "already_failing"
        if words & after:
            return "gated"
        return "below_threshold" if BELOW_THRESHOLD in after - before else "allowed"

    def _judge(self, key: ScenarioKey, trials: Sequence[Trial]) -> ScenarioResult | None:
        scenario = self._scenarios[key]
        if not trials and scenario.is_glob:
            return None  # nothing shows that there is such a scenario
        judged = judge_scenario(trials, scenario.threshold, scenario.rules)
        if judged is None:
            return None
        return ScenarioResult(key.id, judged.verdict, judged.score, scenario.threshold, trials, variant=key.variant)

    def _list_reasons(self, key: ScenarioKey, result: ScenarioResult | None) -> frozenset[str]:
        """The words of `fail_on`, and below_threshold, that a result meets; none if the scenario is not reported."""
        if result is None:
            return frozenset()
        policy, outcome = self._policy, outcome_from_scenario(key, result)
        others = {} if policy.regression.correction == "none" else self._outcomes
        before = others or {each: self._outcomes[each] for each in (key,) if each in self._outcomes}
        changes = compare({**others, key: outcome}, before, {key.suite: policy.regression}).changes
        suite = SuiteResult(self._suite.name, self._suite.path, [result])
        words = {*policy.fail_on, BELOW_THRESHOLD}
        return frozenset(reason.code for reason in find_failures(suite, changes, words))


def _list_figures(trial: TrialResult | None) -> tuple[object, ...]:
    """What a scenario's verdict and its comparison take from a trial."""
    if trial is None:
        return ()
    always = any(row.required == "always" and row.outcome not in ("passed", "skipped") for row in trial.assertions)
    return trial.status, trial.score, always, trial.cost_usd, trial.latency_seconds, trial.total_tokens
