"""Why an agent turns an unchanged pull request red more often than the simulation of docs/statistics.md does.

    .venv/bin/python benchmarks/alarm_sources.py [RUN]

RUN is a finished run with four trials of each scenario, as of tau-bench, judged with `fail_on: [broken]`. Two trials a
side: a scenario is red if both trials passed before and none now, which the comparison's own test decides.
"""

from __future__ import annotations

import sys
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING

from simulation import UNCHANGED

from evalgate.application.comparison.baseline_rules import read_rules
from evalgate.bootstrap.sources import build_baseline_files
from evalgate.features.evidence.application.calibrate import calibrate
from evalgate.features.evidence.application.past_runs import read_past_runs
from evalgate.features.evidence.measures.alarm_rates import (
    RecordedScenario,
    chance_at,
    interval_of_rate,
    join_chances,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

RED = ((False, False, False), (False, False, False), (True, False, False))
"""Whether a scenario is red, by the trials that passed in the baseline, then in the run."""
RECORDED, DRAWS = 4, 200


def red_at(rates: Iterable[float]) -> float:
    """The chance that any scenario is red, if they pass at these rates."""
    return join_chances([chance_at(RED, rate, rate) for rate in rates])


def record(chance: Random) -> list[RecordedScenario]:
    """Four trials of each scenario of the simulation that did not change."""
    return [RecordedScenario(sum(chance.random() < rate for _ in range(RECORDED)), RECORDED, RED) for rate in UNCHANGED]


def red_as_recorded(scenarios: Iterable[RecordedScenario]) -> float:
    """The chance of red if each passes in just the share of trials that passed, so that 4 of 4 is always."""
    return red_at(each.passed / each.trials for each in scenarios)


def main() -> None:
    """Prints the figures of the simulation, then those of the run."""
    chance = Random("alarm sources")
    drawn = [record(chance) for _ in range(DRAWS)]
    print(f"simulation: {red_at(UNCHANGED):.3f} at its pass rates")
    print(f"  as recorded four times: {fmean(map(red_as_recorded, drawn)):.3f} by the shares that passed")
    found = fmean(interval_of_rate(each, str(number).encode())[1] for number, each in enumerate(drawn))
    print(f"  as `calibrate` finds it: {found:.3f} (means of {DRAWS} draws)")
    if len(sys.argv) > 1:
        files = build_baseline_files(".")
        suites = read_rules(files, sys.argv[1]).configuration
        if suites is None:
            raise SystemExit(f"{sys.argv[1]} holds no suites")
        result = calibrate(read_past_runs(files, [sys.argv[1]]), suites, 2)
        recorded = [RecordedScenario(each.passed, each.trials, RED) for each in result.scenarios]
        print(f"run: {red_as_recorded(recorded):.3f} by the shares that passed")
        print(f"  as `calibrate` finds it: {result.alarms:.3f}; of all splits {result.of_splits:.3f}")


if __name__ == "__main__":
    main()
