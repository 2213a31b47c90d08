"""How often an unchanged agent seems to act differently: trials of one agent, compared with one another.

    .venv/bin/python benchmarks/behaviour_noise.py FILE...

Each file holds several trials of each task by the same agent. It prints the lines per comparison of two scenarios, by
kind, with the Wilson interval of the share of comparisons that have a line: two trials against two, over all
scenarios and over those whose trials all pass (reward 1), and one against one, over pairs of trials that both pass.
Sources of arguments, and calls of some trials, are compared from three trials a side on, which four trials can't give:
there each side is two trials, of which one counts twice. Three different ones agree less often, so that is at least as
many lines.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from evalgate.bootstrap.sources import build_trace_files
from evalgate.gate.trajectory.behaviour import behaviour_from_trace
from evalgate.gate.trajectory.behaviour_differences import find_differences
from evalgate.measures.numeric.estimates import wilson_interval
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.comparison.behaviour import Behaviour, BehaviourDifference

Trial = tuple["Behaviour", bool]
"""What a trial did, and whether it passed."""


def load_tasks(path: str) -> list[list[Trial]]:
    """The trials of each task, in the order of the file."""
    tasks: dict[str, list[Trial]] = defaultdict(list)
    for trace in build_trace_files("/").read([path], "/", "auto"):
        if isinstance(trace, Trace):
            tasks[trace.scenario_id or ""].append(
                (behaviour_from_trace(trace, with_sources=True), trace.scores.get("reward") == 1)
            )
    return list(tasks.values())


def split_in_pairs(trials: Sequence[Trial]) -> Iterator[tuple[Sequence[Trial], Sequence[Trial]]]:
    """Every way to take two trials against two others."""
    places = range(len(trials))
    for first in combinations(places, 2):
        for second in combinations([at for at in places if at not in first and at > first[0]], 2):
            yield [trials[at] for at in first], [trials[at] for at in second]


def compare(before: Iterable[Trial], now: Iterable[Trial], *, passes: bool) -> list[BehaviourDifference]:
    """The differences between two sides."""
    return find_differences([each for each, _ in before], [each for each, _ in now], None, passes=passes)


def report(title: str, found: Sequence[Sequence[BehaviourDifference]]) -> None:
    """Prints the figures of some comparisons."""
    lines, noisy = sum(map(len, found)), sum(map(bool, found))
    low, high = wilson_interval(noisy, len(found)) if found else (0.0, 0.0)
    kinds = Counter(each.kind for differences in found for each in differences)
    print(
        f"{title}: {len(found)} comparisons, {lines / max(1, len(found)):.3f} lines each, a line in {noisy} "
        f"({noisy / max(1, len(found)):.3f}, 95 % {low:.3f} to {high:.3f}); {dict(kinds)}"
    )


def main(paths: Sequence[str]) -> None:
    """Prints both figures for each file."""
    for path in paths:
        tasks = load_tasks(path)
        pairs = [pair for trials in tasks for pair in split_in_pairs(trials)]
        report(f"{path}: two against two", [compare(*pair, passes=False) for pair in pairs])
        report(
            f"{path}: three against three, one of them twice",
            [compare([*before, before[0]], [*now, now[0]], passes=False) for before, now in pairs],
        )
        good = [pair for pair in pairs if all(passes for side in pair for _, passes in side)]
        report(f"{path}: two against two that all pass", [compare(*pair, passes=True) for pair in good])
        report(
            f"{path}: three against three that all pass, one of them twice",
            [compare([*before, before[0]], [*now, now[0]], passes=True) for before, now in good],
        )
        singles = [pair for trials in tasks for pair in combinations(trials, 2) if pair[0][1] and pair[1][1]]
        report(f"{path}: one against one", [compare([one], [two], passes=True) for one, two in singles])


if __name__ == "__main__":
    main(sys.argv[1:])
