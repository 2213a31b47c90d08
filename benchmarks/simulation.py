"""How often the comparison raises a false alarm or misses a break: seeded, in under 30 seconds.

    python benchmarks/simulation.py            writes table and picture into docs/
    python benchmarks/simulation.py --row 4    prints the row of four trials
    python benchmarks/simulation.py --draw     prints the picture of the table in docs/statistics.md

A run has 50 scenarios. 46 of them have not changed: 20 always pass, 10 pass in 90 % of their trials, 10 in
70 % and 6 in 40 %. The other four always passed and now pass in 75 %, 50 %, 25 % and 0 % of their trials.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Literal, NamedTuple

import chart

from evalgate.gate.comparison.compare import compare
from evalgate.models.comparison.comparison import ScenarioKey, ScenarioOutcome
from evalgate.suite.policy import RegressionPolicy

if TYPE_CHECKING:
    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.run.run import Verdict

    Correction = Literal["none", "holm", "bh"]

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, PICTURE = DOCS / "statistics.md", DOCS / "statistics.svg"
BEGIN, END = "<!-- simulation -->\n", "<!-- end of simulation -->\n"
RUNS = 300
TRIALS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16)
CORRECTIONS: tuple[Correction, ...] = ("none", "holm", "bh")
UNCHANGED = [1.0] * 20 + [0.9] * 10 + [0.7] * 10 + [0.4] * 6
DROPS = (0.75, 0.5, 0.25, 0.0)
THRESHOLD = 0.8
NO_VALUE = "\u2013"
ALARMS = frozenset({"broken", "fixed", "regressed", "improved"})
FLIPS = frozenset({"broken", "fixed"})
FOUND = frozenset({"broken", "regressed"})
HEAD = (
    *("trials", "alarms", "flips of them", "flips expected", "alarms, holm", "alarms, bh"),
    *("missed to 75 %", "to 50 %", "to 25 %", "to 0 %", "to 0 %, holm", "to 0 %, bh"),
)


class Count(NamedTuple):
    """The counts of many runs under one policy."""

    alarms: int
    flips: int
    expected: float
    misses: Counter[float]


def main(words: list[str]) -> None:
    """Prints the requested part, else writes both files."""
    if words[:1] == ["--row"]:
        print(row(int(words[1])))
    elif words == ["--draw"]:
        print(chart.draw_picture(read_rows(PAGE.read_text(encoding="utf-8"))), end="")
    else:
        lines = [f"| {' | '.join(HEAD)} |", f"|{'--:|' * len(HEAD)}", *map(row, TRIALS)]
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        text = before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + rest.partition(END)[2]
        PAGE.write_text(text, encoding="utf-8")
        PICTURE.write_text(chart.draw_picture(read_rows(text)), encoding="utf-8")


def row(trials: int) -> str:
    """A line of the table: alarms a run, and the share of breaks that were missed."""
    counts = simulate(trials)
    none, holm, bh = (counts[word] for word in CORRECTIONS)
    misses = [*(none.misses[rate] for rate in DROPS), holm.misses[0.0], bh.misses[0.0]]
    sums = [none.alarms, none.flips, none.expected, holm.alarms, bh.alarms, *misses]
    figures = [f"{each / RUNS:.2f}" for each in sums]
    if trials == 1:
        figures[2] = NO_VALUE
    return f"| {trials} | {' | '.join(figures)} |"


def read_rows(text: str) -> list[list[float | None]]:
    """The figures of the table in the page."""
    table = text.partition(BEGIN)[2].partition(END)[0].strip().splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return [[None if cell == NO_VALUE else float(cell) for cell in line] for line in cells]


def simulate(trials: int) -> dict[str, Count]:
    """Simulates the runs, each compared under every correction."""
    chance = Random(f"evalgate {trials}")
    policies = {word: {"s": RegressionPolicy(correction=word)} for word in CORRECTIONS}
    counts: dict[str, Count] = {word: Count(0, 0, 0.0, Counter()) for word in CORRECTIONS}
    for _ in range(RUNS):
        before = draw_side([*UNCHANGED, *[1.0] * len(DROPS)], trials, chance)
        now = draw_side([*UNCHANGED, *DROPS], trials, chance)
        for word, policy in policies.items():
            counts[word] = add_run(counts[word], compare(now, before, policy))
    return counts


def draw_side(rates: list[float], trials: int, chance: Random) -> dict[ScenarioKey, ScenarioOutcome]:
    """One side of a comparison: each trial scores 1 or 0."""
    found = {}
    for place, rate in enumerate(rates):
        passed = [chance.random() < rate for _ in range(trials)]
        score = sum(passed) / trials
        verdict: Verdict = "PASS" if score >= THRESHOLD else "PARTIAL" if score else "FAIL"
        key = ScenarioKey("s", str(place), None)
        found[key] = ScenarioOutcome(key, verdict, score, passed, [float(each) for each in passed])
    return found


def add_run(count: Count, comparison: Comparison) -> Count:
    """The counts with one more run."""
    kinds = [change.kind for change in comparison.changes.values()]
    unchanged, dropped = kinds[: len(UNCHANGED)], kinds[len(UNCHANGED) :]
    missed = Counter(rate for rate, kind in zip(DROPS, dropped, strict=True) if kind not in FOUND)
    return Count(
        count.alarms + sum(kind in ALARMS for kind in unchanged),
        count.flips + sum(kind in FLIPS for kind in unchanged),
        count.expected + ((comparison.power and comparison.power.expected_false_alarms) or 0.0),
        count.misses + missed,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
