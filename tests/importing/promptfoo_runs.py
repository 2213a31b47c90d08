"""The cases of `promptfoo_verdicts.yaml`: a configuration of promptfoo with a test for each, and traces of their runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import yaml

CASES = Path(__file__).with_name("promptfoo_verdicts.yaml")


class VerdictCase(NamedTuple):
    """A check of promptfoo, a run, and whether it passes there."""

    id: str
    check: dict[str, Any]
    run: dict[str, Any]
    passes: bool


def read_cases() -> list[VerdictCase]:
    """Each run of each check."""
    found: list[VerdictCase] = []
    for number, entry in enumerate(yaml.safe_load(CASES.read_text(encoding="utf-8"))):
        for expected in ("passes", "fails"):
            for index, run in enumerate(entry[expected]):
                filled = {"answer": run} if isinstance(run, str) else {"answer": "Done.", **run}
                id_ = f"{number:02}-{entry['check']['type'].replace(':', '-')}-{expected}-{index}"
                found.append(VerdictCase(id_, entry["check"], filled, expected == "passes"))
    return found


def build_configuration(cases: list[VerdictCase]) -> str:
    """promptfoo's configuration, a test for each case."""
    tests = [{"description": case.id, "assert": [case.check]} for case in cases]
    return json.dumps({"prompts": ["{{q}}"], "providers": ["echo"], "tests": tests}, indent=1)


def build_traces(cases: list[VerdictCase]) -> str:
    """A native trace for each case."""
    return "".join(f"{json.dumps(_build_trace(case))}\n" for case in cases)


def _build_trace(case: VerdictCase) -> dict[str, Any]:
    run = case.run
    calls = [{"id": f"c{n}", "name": name, "arguments": args} for n, (name, args) in enumerate(run.get("calls", []))]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in calls]
    asked = [{"role": "assistant", "content": None, "tool_calls": calls}, *results] if calls else []
    figures = {"cost_usd": run.get("cost"), "latency_seconds": run.get("seconds"), "finish_reason": run.get("reason")}
    return {
        "schema": "evalgate.trace/1",
        "trace_id": case.id,
        "scenario_id": case.id,
        "messages": [{"role": "user", "content": "q"}, *asked, {"role": "assistant", "content": run["answer"]}],
        **{name: value for name, value in figures.items() if value is not None},
    }
