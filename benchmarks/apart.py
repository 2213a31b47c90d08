"""What it costs a job that its judge is a process of its own, beside one process that does both.

Both take turns, and the median of their differences is told: on a shared machine a single pair says little.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from statistics import median

import traces
from measure import once

HERE = Path(__file__).resolve().parent
ENTRYPOINT = HERE.parent / "entrypoint.py"
IN_ONE = """
import os, sys
from evalgate.action import run
from evalgate.adapters.github.workflow_step import WorkflowStep
from evalgate.bootstrap import process
process.settle_python()
os._exit(run(os.environ, WorkflowStep(sys.stdout), is_apart=False))
"""
ISOLATED = ("-I", "-X", "utf8")
REACH_MS = 20


def job_in(folder: Path, count: int) -> dict[str, str]:
    """The environment of a job that judges so many traces and speaks with nobody."""
    (folder / "suite.yaml").write_bytes((HERE / "suite.yaml").read_bytes())
    (folder / "event.json").write_text("{}")
    traces.write(folder / "traces.jsonl", count)
    return {
        "GITHUB_WORKSPACE": str(folder),
        "GITHUB_EVENT_NAME": "workflow_dispatch",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_REPOSITORY": "acme/agent",
        "GITHUB_REPOSITORY_ID": "1",
        "GITHUB_SHA": "a" * 40,
        "GITHUB_RUN_ID": "1",
        "RUNNER_TEMP": str(folder),
        "INPUT_CONFIG": "suite.yaml",
        "INPUT_TRACES": "traces.jsonl",
        "INPUT_BASELINE": "none",
        "INPUT_COMMENT": "off",
        "INPUT_UPLOAD-BASELINE": "false",
        "INPUT_GITHUB-TOKEN": "ghs_of_a_job_that_speaks_with_nobody",
    }


def main(count: int = 100, rounds: int = 15) -> None:
    """Prints both figures and what the second process adds."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= job_in(Path(folder), count)
        pairs = [
            (once([*ISOLATED, "-c", IN_ONE], (0, 1)), once([*ISOLATED, str(ENTRYPOINT)], (0, 1))) for _ in range(rounds)
        ]
    bare = min(once([*ISOLATED, "-c", "pass"]).cpu for _ in range(rounds))
    one, two = (min(pair[side].cpu for pair in pairs) for side in (0, 1))
    added = median(apart.cpu - together.cpu for together, apart in pairs)
    print(f"{count:,} traces in one process {one:.3f} s, with the judge apart {two:.3f} s (least of {rounds})")
    print(f"a judge apart adds {added * 1000:.0f} ms (median of pairs), to reach: {REACH_MS}")
    print(f"a bare interpreter takes {bare * 1000:.0f} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
