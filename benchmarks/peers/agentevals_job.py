"""Judges recorded traces with agentevals: python agentevals_job.py FILE COUNTS.

agentevals compares conversations. None of its modes asks for tools in order among others: its superset mode finds the
wanted calls in the conversation, and plain functions do their order and the other five checks.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import checks
from agentevals.trajectory.match import create_trajectory_match_evaluator


def to_openai(message: dict[str, Any]) -> dict[str, Any]:
    """A message as OpenAI writes it, which is what agentevals reads."""
    calls = message.get("tool_calls") or ()
    functions = [{"name": call["name"], "arguments": json.dumps(call["arguments"])} for call in calls]
    found = {"role": message["role"], "content": message["content"] or ""}
    if calls:
        pairs = zip(calls, functions, strict=True)
        found["tool_calls"] = [{"id": call["id"], "type": "function", "function": each} for call, each in pairs]
    if "tool_call_id" in message:
        found["tool_call_id"] = message["tool_call_id"]
    return found


def main() -> None:
    """Evaluates every trace and writes how many checks and traces pass."""
    evaluate = create_trajectory_match_evaluator(trajectory_match_mode="superset", tool_args_match_mode="ignore")
    wanted = [{"id": name, "name": name, "arguments": {}} for name in checks.WANTED]
    expected = [to_openai({"role": "assistant", "content": None, "tool_calls": wanted})]
    counts: Counter[str] = Counter()
    with Path(sys.argv[1]).open(encoding="utf-8") as lines:
        for trace in map(json.loads, lines):
            found = evaluate(outputs=list(map(to_openai, trace["messages"])), reference_outputs=expected)
            results = {
                "contains": checks.contains(trace),
                "regex": checks.regex(trace),
                "status": checks.status(trace),
                "sequence": found["score"] and checks.sequence(trace),
                "cost": checks.cost(trace),
                "latency": checks.latency(trace),
            }
            counts.update(results)
            counts["traces"] += 1
            counts["passed"] += checks.passes(results)
    Path(sys.argv[2]).write_text(json.dumps(counts), encoding="utf-8")


if __name__ == "__main__":
    main()
