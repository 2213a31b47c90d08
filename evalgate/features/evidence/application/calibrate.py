"""How often the gate is red without a change, and what it would miss: trials of one agent against one another."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from evalgate.application.comparison.baseline import identify_rules
from evalgate.application.comparison.policies import policies_of
from evalgate.errors import RulesMissing, SettingError
from evalgate.features.evidence.application.past_runs import pool_runs
from evalgate.features.evidence.measures.alarm_rates import (
    RecordedScenario,
    chance_at,
    chance_of_recorded,
    interval_of_rate,
    join_chances,
)
from evalgate.features.evidence.models import Calibration, ScenarioAlarm
from evalgate.gate.common.scenarios import ScenarioIndex
from evalgate.gate.common.wording import format_count
from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.outcomes import outcomes_from_run
from evalgate.gate.decision.decide import decide
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.run.run import Run, ScenarioResult, SuiteResult
from evalgate.scoring.scenario import judge_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.features.evidence.application.past_runs import HistoryRun, Pool, PooledScenario
    from evalgate.features.evidence.measures.alarm_rates import Table
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.run.run import Trial, TrialStatus
    from evalgate.suite.models import Configuration, Scenario
    from evalgate.suite.policy import Policies, Policy

FEWEST = 5
"""Scenarios with enough trials without which no number is given."""
DROPS = {"3/4": 0.75, "1/2": 0.5, "0": 0.0}
MOST_TRIALS = 8
"""Trials a side up to which every outcome is judged."""


def calibrate(runs: Sequence[HistoryRun], configuration: Configuration, trials: int | None) -> Calibration:
    """Calibrates by the runs that these suites judged, and the agent of the newest of them.

    A side has `trials`, else `trials.min` of a scenario. Raises RulesMissing if the runs hold too little, or the policy
    judges scenarios together.
    """
    pool = pool_runs(runs, identify_rules(configuration))
    if not pool.runs:
        names = ", ".join(each.name for each in configuration.suites[:3])
        raise RulesMissing(f"none of the {format_count(len(runs), 'run')} was judged by these suites: {names}")
    return calibrate_pool(pool, configuration, policies_of(configuration, None), trials)


def calibrate_pool(pool: Pool, configuration: Configuration, policies: Policies, trials: int | None) -> Calibration:
    """The same of trials that are pooled already, by policies that a flag may have changed."""
    _require_separable(policies)
    asked = {suite.name: ScenarioIndex(suite) for suite in configuration.suites}
    judged, left_out = list[_Judged](), 0
    for each in pool.scenarios:
        entry = _find_entry(asked, each.key)
        size = None if entry is None else min(trials or each.size or entry.rules.min, MOST_TRIALS)
        if entry is None or size is None or each.trials < 2 * size:
            left_out += 1
            continue
        judged.append(_Judged(each, _build_table(each.key, entry, each.examples, size, policies)))
    if len(judged) < FEWEST:
        size = trials or 1
        raise RulesMissing(
            f"too little history: {len(judged)} scenarios have the {2 * size} trials of one agent and one set of rules"
            f" that it takes, at least {FEWEST} are needed (record {size} more trials of each, or give more runs)"
        )
    return _summarize(judged, left_out, pool)


class _Judged(NamedTuple):
    pooled: PooledScenario
    table: Table

    @property
    def recorded(self) -> RecordedScenario:
        """Its trials as counts."""
        return RecordedScenario(self.pooled.passed, self.pooled.trials, self.table)


def _summarize(judged: Sequence[_Judged], left_out: int, pool: Pool) -> Calibration:
    recorded = [each.recorded for each in judged]
    chances = list(map(chance_of_recorded, recorded))
    texts = sorted(f"{each.pooled.key}{each.pooled.identity}" for each in judged)
    low, median, high = interval_of_rate(recorded, sha256("\n".join(texts).encode("utf-8", "replace")).digest())
    scenarios = [
        ScenarioAlarm(each.pooled.key, counts.passed, counts.trials, chance, _measure_noticed(counts))
        for each, counts, chance in zip(judged, recorded, chances, strict=True)
    ]
    passing = [each.noticed for each in scenarios if each.passed]
    never = [each for each in recorded if each.passed == each.trials]
    return Calibration(
        trials=max(len(each.table) - 1 for each in judged),
        runs=pool.runs,
        other_runs=pool.other_runs,
        left_out=left_out,
        alarms=median,
        of_splits=join_chances(chances),
        low=low,
        high=high,
        noticed={name: sum(each[name] for each in passing) / len(passing) if passing else 0.0 for name in DROPS},
        scenarios=sorted(
            scenarios, key=lambda each: (-each.alarm, each.key.suite, each.key.id, each.key.variant or "")
        ),
        never_failed=len(never),
        never_failed_trials=sum(each.trials for each in never),
    )


def _measure_noticed(each: RecordedScenario) -> Mapping[str, float]:
    rate = each.passed / each.trials
    return {name: chance_at(each.table, rate, rate * share) for name, share in DROPS.items()}


def _find_entry(asked: Mapping[str, ScenarioIndex], key: ScenarioKey) -> Scenario | None:
    return asked[key.suite].find_scenarios(key.id).get(key.variant) if key.suite in asked else None


def _require_separable(policies: Policies) -> None:
    """Refuses policies by which scenarios decide together, so that the chance of each does not give that of all."""
    for name, policy in policies.suites.items():
        if why := _find_joint_rule(policy):
            raise RulesMissing(
                f"suite {name}: `{why}` judges scenarios together, which `calibrate` can't take apart yet"
            )


def _find_joint_rule(policy: Policy) -> str:
    if policy.regression.correction != "none":
        return "regression.correction"
    return "compare_variants" if policy.compare_variants else "min_evaluated" if policy.min_evaluated else ""


def _build_table(key: ScenarioKey, entry: Scenario, recorded: Sequence[Trial], size: int, policies: Policies) -> Table:
    """Whether the gate is red by this scenario alone, by the trials that passed on each side."""
    passing, failing = _choose_trials(entry, recorded)
    sides = [_judge(key, entry, [*[passing] * count, *[failing] * (size - count)]) for count in range(size + 1)]
    return tuple(tuple(_is_red(key, baseline, run, policies) for run in sides) for baseline in sides)


def _choose_trials(entry: Scenario, recorded: Sequence[Trial]) -> tuple[Trial, Trial]:
    """A trial that passed and one that did not; one that was never recorded is made of the other."""
    passing = next((each for each in recorded if each.status == "passed"), None)
    failing = next((each for each in recorded if each.status != "passed"), None)
    status: TrialStatus = "hard_fail" if any(each.required for each in entry.assertions) else "failed"
    first = passing or failing or recorded[0]
    return passing or _change(first, "passed", 1.0), failing or _change(first, status, 0.0)


def _change(trial: Trial, status: TrialStatus, score: float) -> Trial:
    return replace(trial, status=status, score=score)


def _judge(key: ScenarioKey, entry: Scenario, trials: Sequence[Trial]) -> Run:
    """A run of this scenario alone, judged as any other."""
    fresh = [
        replace(each, trial=number, trace=replace(each.trace, digest=None, stale=None))
        for number, each in enumerate(trials)
    ]
    found = judge_scenario(fresh, entry.threshold, entry.rules)
    if found is None:
        raise SettingError(f"scenario {key.id} has no trials")
    scenario = ScenarioResult(key.id, found.verdict, found.score, entry.threshold, fresh, variant=key.variant)
    return Run([SuiteResult(key.suite, "", [scenario], traces=len(fresh))])


def _is_red(key: ScenarioKey, baseline: Run, run: Run, policies: Policies) -> bool:
    """Whether the check of a run is red: it fails, or can't be judged."""
    rules = {key.suite: policies.suites[key.suite].regression}
    comparison = compare(outcomes_from_run(run), outcomes_from_run(baseline), rules)
    info = BaselineInfo("given")
    decision = decide(run, comparison, info, policies)
    return decision.exit_code != 0
