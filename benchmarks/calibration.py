"""How often the interval of `evalgate calibrate` covers the truth: synthetic worlds with known pass rates.

    .venv/bin/python benchmarks/calibration.py [WORLDS] [FIRST]

A world is a suite with a policy of its own and an agent whose scenarios pass at known rates; its recorded traces are
judged by `evalgate run`, and `evalgate calibrate` reads that run. Scenarios have required checks, others, or a pass
rate of their own, and 2 to 4 times the trials of a side. The rates are those that a family draws: some always pass,
some never, the others follow a Beta distribution, two points, or the logarithm of odds.

The truth is the chance that any scenario is red at its rate. When one is red is not asked of `calibrate`: for each
policy and number of trials every pair of numbers of passed trials is judged once by `evalgate run` with a baseline.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from functools import cache
from io import StringIO
from math import exp, prod
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.cli import main as run_command
from evalgate.cli.shell import Shell
from evalgate.features.evidence.measures.alarm_rates import chance_at
from evalgate.measures.numeric.estimates import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.features.evidence.measures.alarm_rates import Table

KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "required": {"required": True},
    "lenient": {"trials": {"min_pass_rate": 0.5}, "required": True},
}
POLICIES: tuple[dict[str, Any], ...] = (
    {"fail_on": ["broken"]},
    {"fail_on": ["hard_fail"]},
    {"fail_on": ["new_hard_fail", "broken"]},
    {"fail_on": ["broken", "regression"]},
    {"fail_on": ["broken"], "regression": {"require_evidence": True}},
)


def draw_beta(chance: Random) -> Callable[[], float]:
    """Rates of a Beta distribution."""
    a, b = chance.uniform(0.5, 10), chance.uniform(0.3, 3)
    return lambda: chance.betavariate(a, b)


def draw_two_points(chance: Random) -> Callable[[], float]:
    """Two rates, each as often."""
    points = chance.uniform(0.3, 0.8), chance.uniform(0.85, 0.99)
    return lambda: chance.choice(points)


def draw_log_odds(chance: Random) -> Callable[[], float]:
    """Rates whose logarithm of odds follows a normal distribution."""
    mean, spread = chance.uniform(-0.5, 4), chance.uniform(0.3, 2.5)
    return lambda: 1 / (1 + exp(-chance.gauss(mean, spread)))


PLAIN = 0.001
"""A chance of red this near to 0 or 1 is easily covered."""
FAMILIES = {"beta": draw_beta, "two points": draw_two_points, "log odds": draw_log_odds}


class Scenario(NamedTuple):
    """A scenario of a world: what it asks for, how often it passes, and how many of its trials passed."""

    kind: str
    rate: float
    passed: int
    trials: int


class World(NamedTuple):
    """A world."""

    policy: int
    size: int
    family: str
    scenarios: list[Scenario]


def draw_world(seed: int) -> World:
    """A world; equal seeds give equal ones."""
    chance = Random(f"calibration {seed}")
    policy, size = chance.randrange(len(POLICIES)), chance.choice([1, 2, 3, 4])
    family = chance.choice(list(FAMILIES))
    always, never, draw = chance.uniform(0, 0.8), chance.uniform(0, 0.2), FAMILIES[family](chance)
    scenarios = []
    for _ in range(chance.randint(20, 60)):
        place = chance.random()
        rate = 1.0 if place < always else 0.0 if place > 1 - never else draw()
        trials = size * chance.choice([2, 2, 2, 3, 4])
        passed = sum(chance.random() < rate for _ in range(trials))
        scenarios.append(Scenario(chance.choice(list(KINDS)), rate, passed, trials))
    return World(policy, size, family, scenarios)


def covers(world: World) -> tuple[bool, float, dict[str, Any]]:
    """Whether the interval of a world covers its rate; that rate, and what `calibrate` says."""
    tables = measure_tables(world.policy, world.size)
    truth = 1 - prod(1 - chance_at(tables[each.kind], each.rate, each.rate) for each in world.scenarios)
    with tempfile.TemporaryDirectory() as folder:
        named = [(f"s{number}", each.kind) for number, each in enumerate(world.scenarios)]
        write_suite(folder, named, POLICIES[world.policy])
        counts = {f"s{number}": (each.passed, each.trials) for number, each in enumerate(world.scenarios)}
        write_traces(folder, "all", counts)
        judge(folder, "all")
        found = command(folder, "calibrate", "--history", "all", "--trials", str(world.size), "--json")
    rates = found["red_without_change"]
    return rates["low"] - 1e-6 <= truth <= rates["high"] + 1e-6, truth, rates


@cache
def measure_tables(policy: int, size: int) -> Mapping[str, Table]:
    """Whether a run is red by a scenario of each kind, by the trials that passed in the baseline, then in the run."""
    cells = {
        f"{kind}-{before}-{now}": (kind, before, now)
        for kind in KINDS
        for before in range(size + 1)
        for now in range(size + 1)
    }
    with tempfile.TemporaryDirectory() as folder:
        write_suite(folder, [(name, kind) for name, (kind, _, _) in cells.items()], POLICIES[policy])
        write_traces(folder, "base", {name: (before, size) for name, (_, before, _) in cells.items()})
        write_traces(folder, "head", {name: (now, size) for name, (_, _, now) in cells.items()})
        judge(folder, "base")
        judge(folder, "head", "--baseline", "base")
        results = json.loads(Path(folder, "head/results.json").read_bytes())
    red = {cells[each["scenario"]] for each in results["reasons"]}
    return {
        kind: tuple(tuple((kind, before, now) in red for now in range(size + 1)) for before in range(size + 1))
        for kind in KINDS
    }


def write_suite(folder: str, scenarios: list[tuple[str, str]], policy: dict[str, Any]) -> None:
    """A suite in which each scenario has one check."""
    entries = []
    for name, kind in scenarios:
        check = {"type": "tool_called", "tool": "book", "required": KINDS[kind].get("required", False)}
        rules = {key: value for key, value in KINDS[kind].items() if key == "trials"}
        entries.append({"id": name, "assertions": [check], **rules})
    Path(folder, "suite.yaml").write_text(json.dumps({"suite": "world", "scenarios": entries, "policy": policy}))


def write_traces(folder: str, name: str, counts: Mapping[str, tuple[int, int]]) -> None:
    """Traces of each scenario, of which so many pass."""
    call = {"name": "book", "arguments": {}, "result": "ok"}
    with Path(folder, f"{name}.jsonl").open("w") as stream:
        for scenario, (passed, trials) in counts.items():
            for trial in range(trials):
                messages = [{"role": "user", "content": "book"}, {"role": "assistant", "content": f"{name} {trial}"}]
                trace = {"schema": "evalgate.trace/1", "scenario_id": scenario, "trial": trial, "messages": messages}
                trace |= {"tool_calls": [call] if trial < passed else [], "metadata": {"scenario": scenario}}
                stream.write(json.dumps(trace) + "\n")


def judge(folder: str, name: str, *more: str) -> None:
    """Judges traces of this name."""
    execute(folder, "run", "suite.yaml", "--traces", f"{name}.jsonl", "--output-dir", name, "-q", *more)


def command(folder: str, *words: str) -> dict[str, Any]:
    """What a command prints as JSON."""
    found: dict[str, Any] = json.loads(execute(folder, *words))
    return found


def execute(folder: str, *words: str) -> str:
    """Runs a command in this process; raises RuntimeError for wrong input."""
    shell = Shell(out=StringIO(), err=StringIO(), environ={}, cwd=folder)
    if run_command(words, shell) not in (0, 1):
        raise RuntimeError(shell.err.getvalue())  # type: ignore[attr-defined]
    return str(shell.out.getvalue())  # type: ignore[attr-defined]


def main() -> None:
    """Prints the share of worlds whose interval covers the truth, in all and by policy, trials and family."""
    worlds, first = (int(sys.argv[at]) if len(sys.argv) > at else default for at, default in ((1, 1_000), (2, 0)))
    covered: Counter[str] = Counter()
    number: Counter[str] = Counter()
    below = 0
    for seed in range(first, first + worlds):
        world = draw_world(seed)
        is_covered, truth, rates = covers(world)
        below += truth < rates["low"] - 1e-6
        groups = ["all", str(POLICIES[world.policy]), f"{world.size} trials a side", world.family]
        if PLAIN < truth < 1 - PLAIN:
            groups.insert(1, "all that are not plainly red or green")
        for name in groups:
            number[name] += 1
            covered[name] += is_covered
    for name in number:
        low, high = wilson_interval(covered[name], number[name])
        share = f"{covered[name] / number[name]:.3f} (95 % {low:.3f} to {high:.3f})"
        print(f"{name}: {covered[name]} of {number[name]} covered: {share}")
    print(f"not covered: {below} above the truth, {number['all'] - covered['all'] - below} below")


if __name__ == "__main__":
    main()
