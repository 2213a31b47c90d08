"""The gate on the example agent: main's traces make a baseline, then a pull request's traces meet it.

Records and posts nothing; reads the bundled traces and writes below .demo/.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SUITE = "examples/support-agent/evals/support.yaml"
PASSED, FAILED = 0, 1


def gate(version: str, *options: str) -> int:
    """Runs the gate on the traces of one version of the agent; gives its exit code."""
    traces = f"examples/support-agent/traces/{version}/*.jsonl"
    arguments = ["run", SUITE, "--traces", traces, "--output-dir", f".demo/{version}", *options]
    print(f"\n$ evalgate {' '.join(arguments)}\n", flush=True)
    done = subprocess.run([sys.executable, "-m", "evalgate", *arguments], cwd=ROOT, check=False)  # noqa: S603
    print(f"\nexit code {done.returncode}", flush=True)
    return done.returncode


def main() -> int:
    """Both runs; fails where the gate did not say what it should."""
    print("1. main: everything passes, and the run leaves a baseline.")
    green = gate("main")
    print("\n2. A pull request that wanted faster refunds, compared with that baseline.")
    red = gate("pr", "--baseline", ".demo/main/baseline.zip")
    print(f"\nThe comment a pull request would get: {ROOT / '.demo/pr/comment.md'}")
    if (green, red) == (PASSED, FAILED):
        print("The gate let main pass (0) and stopped the pull request (1), as it should.")
        return 0
    print(f"The gate should have returned {PASSED} and {FAILED}, it returned {green} and {red}.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
