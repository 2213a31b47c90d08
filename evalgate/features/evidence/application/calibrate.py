"""How often the gate is red without a change, and what it would miss: trials of one agent against one another."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from evalgate.application.comparison.baseline_rules import read_rules
from evalgate.application.comparison.policies import policies_of
from evalgate.application.documents.run_documents import run_of
from evalgate.errors import Problem, RulesMissing, SettingError
from evalgate.features.evidence.measures.alarm_rates import (
    RecordedScenario,
    chance_at,
    chance_of_recorded,
    interval_of_rate,
    join_chances,
)
from evalgate.features.evidence.models import Calibration, ScenarioAlarm
from evalgate.gate.common.scenarios import ScenarioIndex
from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.outcomes import outcomes_from_run
from evalgate.gate.decision.decide import decide
from evalgate.models.comparison.comparison import BaselineInfo, ScenarioKey
from evalgate.models.run.run import Run, ScenarioResult, SuiteResult
from evalgate.models.run.trials import list_agent_parts, list_measured
from evalgate.scoring.scenario import judge_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.features.evidence.measures.alarm_rates import Table
    from evalgate.models.run.run import Trial, TrialStatus
    from evalgate.ports import Baseline, BaselineFiles
    from evalgate.suite.models import Scenario
    from evalgate.suite.policy import Policies, Policy

FEWEST = 5
"""Scenarios with enough trials without which no number is given."""
DROPS = {"3/4": 0.75, "1/2": 0.5, "0": 0.0}
MOST_TRIALS = 8
"""Trials a side up to which every outcome is judged."""


def calibrate(files: BaselineFiles, paths: Sequence[str], trials: int | None) -> Calibration:
    """Calibrates by the rules and the agent of the newest run; a side has `trials`, else `trials.min` of a scenario.

    Raises RulesMissing if the runs hold too little, or the policy judges scenarios together.
    """
    runs, others = _choose_runs(files, paths)
    newest = read_rules(files, runs[-1][0])
    if newest.configuration is None or newest.unknown is not None:
        raise RulesMissing(f"{runs[-1][0]}: its suites are not known: {newest.unknown}")
    policies = policies_of(newest.configuration, None)
    _require_separable(policies)
    asked = {suite.name: ScenarioIndex(suite) for suite in newest.configuration.suites}
    judged, left_out = list[_Judged](), 0
    for key, recorded in _pool_trials(baseline for _, baseline in runs).items():
        entry = _find_entry(asked, key)
        size = None if entry is None else min(trials or entry.rules.min, MOST_TRIALS)
        if entry is None or size is None or len(recorded) < 2 * size:
            left_out += 1
            continue
        judged.append(_Judged(key, recorded, _build_table(key, entry, recorded, size, policies)))
    if len(judged) < FEWEST:
        size = trials or 1
        raise RulesMissing(
            f"too little history: {len(judged)} scenarios have the {2 * size} trials of one agent and one set of rules"
            f" that it takes, at least {FEWEST} are needed (record {size} more trials of each, or give more runs)"
        )
    return _summarize(judged, left_out, len(runs), others)


class _Judged(NamedTuple):
    key: ScenarioKey
    trials: Sequence[Trial]
    table: Table

    @property
    def recorded(self) -> RecordedScenario:
        """Its trials as counts."""
        return RecordedScenario(sum(each.status == "passed" for each in self.trials), len(self.trials), self.table)


def _summarize(judged: Sequence[_Judged], left_out: int, runs: int, others: int) -> Calibration:
    recorded = [each.recorded for each in judged]
    chances = list(map(chance_of_recorded, recorded))
    texts = sorted(f"{each.key}{sorted(_identify(trial) for trial in each.trials)}" for each in judged)
    low, median, high = interval_of_rate(recorded, sha256("\n".join(texts).encode("utf-8", "replace")).digest())
    scenarios = [
        ScenarioAlarm(each.key, counts.passed, counts.trials, chance, _measure_noticed(counts))
        for each, counts, chance in zip(judged, recorded, chances, strict=True)
    ]
    passing = [each.noticed for each in scenarios if each.passed]
    never = [each for each in recorded if each.passed == each.trials]
    return Calibration(
        trials=max(len(each.table) - 1 for each in judged),
        runs=runs,
        other_runs=others,
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


def _choose_runs(files: BaselineFiles, paths: Sequence[str]) -> tuple[list[tuple[str, Baseline]], int]:
    """The runs of the rules and the agent of the newest, oldest first, and how many others there are."""
    loaded = sorted(
        ((path, files.load(path)) for path in paths), key=lambda each: (each[1].results["created_at"], each[0])
    )
    newest = _identify_rules(loaded[-1][1])
    if newest[0] is None:
        problem = Problem(f"{loaded[-1][0]} holds no suites", None, "give the baseline.zip of runs, or their folders")
        raise SettingError(problem)
    same = [each for each in loaded if _identify_rules(each[1]) == newest]
    return same, len(loaded) - len(same)


def _identify_rules(baseline: Baseline) -> tuple[object, ...]:
    """What must be the same in runs whose trials are pooled: suites, evaluators, models, tools and prompts."""
    manifest = baseline.manifest or {}
    run = run_of(baseline.results)
    agents = {parts for suite in run.suites for each in suite.scenarios for parts in list_agent_parts(each.trials)}
    return manifest.get("config_hash"), manifest.get("evaluators"), frozenset(agents)


def _pool_trials(baselines: Iterator[Baseline]) -> dict[ScenarioKey, list[Trial]]:
    """The measured trials of each scenario over all runs; a recording counts once."""
    found: dict[ScenarioKey, dict[object, Trial]] = {}
    for number, baseline in enumerate(baselines):
        for suite in run_of(baseline.results).suites:
            for scenario in suite.scenarios:
                if scenario.quarantined or scenario.golden is not None:
                    continue
                trials = found.setdefault(ScenarioKey(suite.name, scenario.id, scenario.variant), {})
                for index, trial in enumerate(list_measured(scenario.trials)):
                    trials.setdefault(_identify(trial) or (number, index), trial)
    return {key: list(trials.values()) for key, trials in found.items()}


def _identify(trial: Trial) -> str:
    """What identifies the recording of a trial; empty if it was not kept."""
    return "" if trial.trace.digest is None else str(trial.trace.digest)


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
