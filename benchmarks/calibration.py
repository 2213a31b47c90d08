"""How often the interval of `evalgate calibrate` covers the truth: synthetic worlds with known pass rates.

    .venv/bin/python benchmarks/calibration.py [WORLDS]

A world has 20 to 60 scenarios: some pass always, some never, the others at rates of a Beta distribution; each has 2n
recorded trials. Red is a scenario that passed all n trials in the baseline and not all of them now, as `broken` is.
"""

from __future__ import annotations

import sys
from random import Random

from evalgate.features.evidence.measures.alarm_rates import RecordedScenario, chance_at, interval_of_rate, join_chances
from evalgate.measures.numeric.estimates import wilson_interval


def covers(seed: int) -> bool:
    """Whether the interval of one world covers its rate."""
    chance = Random(seed)
    size, count = chance.choice([1, 2, 3, 4]), chance.randint(20, 60)
    table = tuple(tuple(before == size > now for now in range(size + 1)) for before in range(size + 1))
    always, never, a, b = (
        chance.uniform(0, 0.8),
        chance.uniform(0, 0.2),
        chance.uniform(0.5, 10),
        chance.uniform(0.3, 3),
    )
    rates = []
    for _ in range(count):
        kind = chance.random()
        rates.append(1.0 if kind < always else 0.0 if kind > 1 - never else chance.betavariate(a, b))
    truth = join_chances([chance_at(table, rate, rate) for rate in rates])
    recorded = [
        RecordedScenario(sum(chance.random() < rate for _ in range(2 * size)), 2 * size, table) for rate in rates
    ]
    low, _, high = interval_of_rate(recorded, str(seed).encode())
    return low - 1e-9 <= truth <= high + 1e-9


def main() -> None:
    """Prints the share of worlds whose interval covers the truth."""
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    covered = sum(map(covers, range(worlds)))
    low, high = wilson_interval(covered, worlds)
    print(f"{covered} of {worlds} covered: {covered / worlds:.3f} (95 % {low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()
