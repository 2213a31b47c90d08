"""Judges recorded traces with agentevals: python agentevals_job.py FILE COUNTS.

agentevals compares trajectories, so the order of the tools is its check; plain functions do the other five. Its strict
mode compares whole trajectories, so it is given the wanted calls only.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import checks
from agentevals.trajectory.match import create_trajectory_match_evaluator


def trajectory(names: list[str]) -> list[dict[str, Any]]:
    """The messages of an agent that calls these tools, as OpenAI writes them."""
    calls = [{"function": {"name": name, "arguments": "{}"}} for name in names]
    return [{"role": "assistant", "content": "", "tool_calls": [call]} for call in calls]


def main() -> None:
    """Evaluates every trace and writes how many checks and traces pass."""
    evaluate = create_trajectory_match_evaluator(trajectory_match_mode="strict", tool_args_match_mode="ignore")
    expected = trajectory(list(checks.WANTED))
    counts: Counter[str] = Counter()
    with Path(sys.argv[1]).open(encoding="utf-8") as lines:
        for trace in map(json.loads, lines):
            calls = trajectory([name for name in checks.called(trace) if name in checks.WANTED])
            results = {
                "contains": checks.contains(trace),
                "regex": checks.regex(trace),
                "status": checks.status(trace),
                "sequence": evaluate(outputs=calls, reference_outputs=expected)["score"],
                "cost": checks.cost(trace),
                "latency": checks.latency(trace),
            }
            counts.update(results)
            counts["traces"] += 1
            counts["passed"] += checks.passes(results)
    Path(sys.argv[2]).write_text(json.dumps(counts), encoding="utf-8")


if __name__ == "__main__":
    main()
