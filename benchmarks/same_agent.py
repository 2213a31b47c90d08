"""How often `variant_regression` fires for two arms of one agent, and whether "would decide" is the right number.

    .venv/bin/python benchmarks/same_agent.py RUN [SPLITS]

RUN is the baseline.zip of a run with four or more trials of each scenario, as of tau-bench. Each split puts two of a
scenario's trials into one arm and two into the other. Then, for pairs of pass rates, the trials an arm that were
recommended are compared with the smallest number at which half of 2,000 drawn pairs of arms are decided.
"""

from __future__ import annotations

import sys
from random import Random
from typing import TYPE_CHECKING

from evalgate.application.documents.run_documents import run_of
from evalgate.bootstrap.sources import build_baseline_files
from evalgate.gate.arms.compare_arms import Arms, compare_arms
from evalgate.gate.comparison.significance import flip_p
from evalgate.gate.comparison.trials_that_decide import trials_for_flip
from evalgate.measures.numeric.estimates import wilson_interval
from evalgate.models.run.run import ScenarioResult
from evalgate.scoring.scenario import judge_scenario
from evalgate.suite.policy import RegressionPolicy, VariantComparison

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.run.run import Trial

RULES = VariantComparison(control="one", treatment="other")
POLICY = RegressionPolicy()
RATES = ((1.0, 0.5), (1.0, 0.25), (0.75, 0.25), (1.0, 0.75), (0.5, 0.0))
DRAWS = 2_000


def judge(scenario: ScenarioResult, trials: Sequence[Trial]) -> ScenarioResult:
    """A scenario over some of its trials."""
    found = judge_scenario(trials, scenario.threshold)
    verdict = "MISSING" if found is None else found.verdict
    return ScenarioResult(scenario.id, verdict, found and found.score, scenario.threshold, list(trials))


def split_once(scenarios: Sequence[ScenarioResult], chance: Random) -> tuple[bool, bool]:
    """Whether one split is a regression, and whether any of its scenarios broke."""
    arms: tuple[dict[tuple[str, str | None], ScenarioResult], ...] = ({}, {})
    for scenario in scenarios:
        drawn = chance.sample(list(scenario.trials), 4)
        for arm, trials in zip(arms, (drawn[:2], drawn[2:]), strict=True):
            arm[scenario.id, None] = judge(scenario, trials)
    (found,) = compare_arms([Arms("suite", *arms, RULES, POLICY)])
    return found.finding == "regression", found.broken > 0


def decided_at(before: float, now: float, chance: Random) -> int:
    """The smallest number of trials an arm at which half of the drawn pairs of arms are decided, but for chance."""
    half = DRAWS / 2 - 2 * (DRAWS / 4) ** 0.5  # two standard errors: at 0.5 to 0 and 7 trials it is exactly half
    for trials in range(2, 65):
        decided = sum(
            flip_p(_count(before, trials, chance), trials, _count(now, trials, chance), trials) <= POLICY.alpha
            for _ in range(DRAWS)
        )
        if decided >= half:
            return trials
    return 65


def _count(rate: float, trials: int, chance: Random) -> int:
    return sum(chance.random() < rate for _ in range(trials))


def main() -> None:
    """Prints both."""
    splits = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000  # noqa: PLR2004
    run = run_of(build_baseline_files("/").load(sys.argv[1]).results)
    scenarios = [each for suite in run.suites for each in suite.scenarios if len(each.trials) >= 4]  # noqa: PLR2004
    chance = Random(47)
    found = [split_once(scenarios, chance) for _ in range(splits)]
    for name, count in (("variant_regression", sum(red for red, _ in found)), ("any broken", sum(b for _, b in found))):
        low, high = wilson_interval(count, splits)
        print(f"{name}: {count} of {splits} ({count / splits:.4f}, 95 % {low:.4f} to {high:.4f})")
    for before, now in RATES:
        recommended = trials_for_flip(round(before * 4), 4, round(now * 4), 4, POLICY.alpha)
        print(f"{before:g} -> {now:g}: {recommended} recommended, {decided_at(before, now, chance)} in the simulation")


if __name__ == "__main__":
    main()
