"""Judges recorded traces with pydantic-evals: python pydantic_evals_job.py FILE COUNTS."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import checks
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, EvaluatorContext

Run = dict[str, Any]


@dataclass
class Check(Evaluator[Run, Run, None]):
    """One of the checks, by the name of its function."""

    name: str

    def get_default_evaluation_name(self) -> str:
        """The name of its results in the report."""
        return self.name

    def evaluate(self, ctx: EvaluatorContext[Run, Run, None]) -> bool:
        """Whether the recorded run passes."""
        passed: bool = getattr(checks, self.name)(ctx.output)
        return passed


def replay(trace: Run) -> Run:
    """The recorded run is the output."""
    return trace


def main() -> None:
    """Evaluates every trace and writes how many checks and traces pass."""
    with Path(sys.argv[1]).open(encoding="utf-8") as lines:
        traces = list(map(json.loads, lines))
    cases = [Case(name=trace["trace_id"], inputs=trace) for trace in traces]
    evaluators = [Check(name) for name in checks.WEIGHTS]
    report = Dataset(name="refunds", cases=cases, evaluators=evaluators).evaluate_sync(replay)
    counts: Counter[str] = Counter()
    for case in report.cases:
        results = {name: found.value for name, found in case.assertions.items()}
        counts.update(results)
        counts["traces"] += 1
        counts["passed"] += checks.passes(results)
    Path(sys.argv[2]).write_text(json.dumps(counts), encoding="utf-8")


if __name__ == "__main__":
    main()
