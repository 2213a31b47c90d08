"""Measures inferred suites: held-out passing trials that pass them, and small changes that they catch.

    .venv/bin/python benchmarks/inference.py TRACES...

Each passing trial is held out once: a suite is inferred from all other passing traces, and the trial is judged by it.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from evalgate.adapters.progress import SilentProgress
from evalgate.bootstrap.sources import build_suite_files, build_trace_files
from evalgate.features.learn.application.inference.build_suite import draft_suite
from evalgate.features.learn.application.inference.draft import SuiteHead
from evalgate.features.learn.application.inference.self_check import find_failing
from evalgate.features.learn.application.inference.trace_choice import FoundTraces
from evalgate.features.learn.application.mutation.score import MutationRun
from evalgate.models.trace.trace import Trace
from evalgate.scoring.recorded_result import is_passing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.features.learn.application.inference.checks import Strictness
    from evalgate.suite.models import Suite

STRUCTURAL = ("drop_call", "duplicate_call", "swap_calls", "other_tool")
"""Operators on tools, order and number of calls."""
STRICTNESS: tuple[Strictness, ...] = ("loose", "normal", "strict")
HEAD = SuiteHead("measured", ["*"])


def read(patterns: Sequence[str]) -> list[Trace]:
    """All traces."""
    return [each for each in build_trace_files(".").read(patterns, ".", "auto") if isinstance(each, Trace)]


def load(text: str) -> Suite:
    """The suite in a text."""
    return build_suite_files(".").parse_text(text, "measured.yaml")


def infer_text(traces: Sequence[Trace], strictness: Strictness = "normal") -> str | None:
    """The text of the suite that `init` infers from these traces, of which some may not have passed."""
    passing = list(filter(is_passing, traces))
    found = FoundTraces(HEAD.traces, passing, [trace for trace in traces if trace not in passing])
    drafted = draft_suite(found, HEAD, strictness, load)
    return None if drafted is None else drafted.draft.render()[0]


def infer(traces: Sequence[Trace], strictness: Strictness = "normal") -> Suite | None:
    """The suite that `init` infers from these traces."""
    text = infer_text(traces, strictness)
    return None if text is None else load(text)


def hold_out(traces: Sequence[Trace], strictness: Strictness = "normal") -> tuple[int, int, Counter[str]]:
    """How many held-out passing trials pass, of how many, and the checks that fail on the others."""
    passing = list(filter(is_passing, traces))
    trials = Counter(trace.scenario_id for trace in passing)
    passed = total = 0
    failed: Counter[str] = Counter()
    for held in passing:
        if trials[held.scenario_id] < 2:  # noqa: PLR2004
            continue
        total += 1
        suite = infer([trace for trace in traces if trace is not held], strictness)
        failing = [] if suite is None else list(find_failing(suite, [held]))
        passed += not failing
        failed.update(name for each in failing for name in each.names)
    return passed, total, failed


def describe_held_out(strictness: Strictness, traces: int, passed: int, total: int) -> str:
    """The line of the figure, as benchmarks/README.md has it."""
    share = f"{passed / total:.1%}" if total else "none"
    return f"{strictness}, {traces} passing traces: held-out trials that pass: {passed} of {total} ({share})"


def count_caught(suite: Suite, groups: Sequence[Sequence[Trace]], records: Sequence[Trace]) -> dict[str, list[int]]:
    """Per operator how many changes were caught, of how many; changes that a group's traces show are not counted."""
    found: dict[str, list[int]] = {}
    for group in groups:
        run = MutationRun([suite], None)
        run.add_traces(0, group, SilentProgress())
        run.add_tools(0, records)
        run.choose(1_000_000)
        for name, tally in run.try_changes(None, SilentProgress()).operators.items():
            row = found.setdefault(name, [0, 0])
            row[0] += tally.caught
            row[1] += tally.tried
    return found


def main(patterns: Sequence[str]) -> None:
    """Prints the figures."""
    records = read(patterns)
    traces = list(filter(is_passing, records))
    for strictness in ("normal", "strict"):
        passed, total, failed = hold_out(records, strictness)
        print(describe_held_out(strictness, len(traces), passed, total))
        print(f"failing checks: {dict(failed.most_common(25))}")
    for strictness in STRICTNESS:
        text = infer_text(records, strictness)
        if text is None:
            continue
        suite, lines = load(text), text.count("\n")
        size = f"{lines} lines, {len(text) / 1000:.1f} KB for {len(suite.scenarios)} scenarios"
        print(f"{strictness}: {size}, {lines / len(suite.scenarios):.1f} lines a scenario")
        for word, groups in (("changes", [traces]), ("with those that other traces show", [[each] for each in traces])):
            rows = count_caught(suite, groups, records)
            caught, tried = (sum(rows[name][at] for name in STRUCTURAL) for at in (0, 1))
            print(f"{strictness}, {word}: tools, order, number {caught} of {tried} ({caught / max(1, tried):.1%})")
            print("   ", ", ".join(f"{name} {row[0]}/{row[1]}" for name, row in rows.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
