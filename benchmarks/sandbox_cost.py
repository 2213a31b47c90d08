"""The cost of judging in a sandboxed process, compared with one process that does everything.

Both take turns, and the median of their differences is printed: on a shared machine one pair proves little.
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
ONE_PROCESS = """
import os, sys
from evalgate.action import run
from evalgate.adapters.github.workflow_step import WorkflowStep
from evalgate.bootstrap import process
process.configure_python()
os._exit(run(os.environ, WorkflowStep(sys.stdout), is_sandboxed=False))
"""
ISOLATED = (sys.executable, "-I", "-X", "utf8")
TARGET_MS = 60


def make_job(folder: Path, count: int) -> dict[str, str]:
    """The environment of a job that judges so many traces without a network."""
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
        "INPUT_GITHUB-TOKEN": "ghs_of_a_job_without_network",
    }


def main(count: int = 100, rounds: int = 15) -> None:
    """Prints both times and what the second process adds."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= make_job(Path(folder), count)
        pairs = [
            (once([*ISOLATED, "-c", ONE_PROCESS], (0, 1)), once([*ISOLATED, str(ENTRYPOINT)], (0, 1)))
            for _ in range(rounds)
        ]
    bare = min(once([*ISOLATED, "-c", "pass"]).cpu for _ in range(rounds))
    one, two = (min(pair[side].cpu for pair in pairs) for side in (0, 1))
    added = median(sandboxed.cpu - together.cpu for together, sandboxed in pairs)
    print(f"{count:,} traces in one process {one:.3f} s, with a sandboxed judge {two:.3f} s (least of {rounds})")
    print(f"a sandboxed judge adds {added * 1000:.0f} ms (median of pairs), target: {TARGET_MS}")
    print(f"a bare interpreter takes {bare * 1000:.0f} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
