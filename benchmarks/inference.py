"""Measures inferred suites: held-out passing trials that pass them, and small changes that they catch.

    .venv/bin/python benchmarks/inference.py TRACES...

Each passing trial is held out once: a suite is inferred from all other passing traces, and the trial is judged by it.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from evalgate.adapters.progress import SilentProgress
from evalgate.application.inference.infer import SuiteHead, infer_suite
from evalgate.application.inference.passing import is_passing
from evalgate.application.inference.self_check import check_draft, find_failing
from evalgate.application.mutation.score import MutationRun
from evalgate.bootstrap.sources import build_suite_files, build_trace_files
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.inference.checks import Strictness
    from evalgate.suite.models import Suite

STRUCTURAL = ("drop_call", "duplicate_call", "swap_calls", "other_tool")
"""Operators on tools, order and number of calls."""
STRICTNESS: tuple[Strictness, ...] = ("loose", "normal", "strict")
HEAD = SuiteHead("measured", ["*"])


def read(patterns: Sequence[str]) -> list[Trace]:
    """All traces."""
    return [each for each in build_trace_files(".").read(patterns, ".", "auto") if isinstance(each, Trace)]


def infer(traces: Sequence[Trace], strictness: Strictness = "normal") -> Suite | None:
    """The suite that `init` infers from these traces."""
    files = build_suite_files(".")
    draft = infer_suite(traces, HEAD, strictness)
    return check_draft(draft, traces, lambda text: files.parse_text(text, "measured.yaml"))


def hold_out(traces: Sequence[Trace]) -> tuple[int, int, Counter[str]]:
    """How many held-out trials pass, of how many, and the checks that fail on the others."""
    trials = Counter(trace.scenario_id for trace in traces)
    passed = total = 0
    failed: Counter[str] = Counter()
    for held in traces:
        if trials[held.scenario_id] < 2:  # noqa: PLR2004
            continue
        total += 1
        suite = infer([trace for trace in traces if trace is not held])
        failing = [] if suite is None else list(find_failing(suite, [held]))
        passed += not failing
        failed.update(name for each in failing for name in each.names)
    return passed, total, failed


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
    passed, total, failed = hold_out(traces)
    share = f"{passed / total:.1%}" if total else "none"
    print(f"{len(traces)} passing traces; held-out trials that pass: {passed} of {total} ({share})")
    print(f"failing checks: {dict(failed.most_common(25))}")
    for strictness in STRICTNESS:
        suite = infer(traces, strictness)
        if suite is None:
            continue
        for word, groups in (("changes", [traces]), ("with those that other traces show", [[each] for each in traces])):
            rows = count_caught(suite, groups, records)
            caught, tried = (sum(rows[name][at] for name in STRUCTURAL) for at in (0, 1))
            print(f"{strictness}, {word}: tools, order, number {caught} of {tried} ({caught / max(1, tried):.1%})")
            print("   ", ", ".join(f"{name} {row[0]}/{row[1]}" for name, row in rows.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
