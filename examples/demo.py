"""The gate on the example agent: main's traces make a baseline, then a pull request's traces are compared with it.

Records and posts nothing; reads the bundled traces and writes below .demo/, or the folder named as argument.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUITE = "examples/support-agent/evals/support.yaml"
PASSED, FAILED = 0, 1


def gate(version: str, output: Path, *options: str) -> int:
    """Runs the gate on the traces of one version of the agent; gives its exit code."""
    traces = f"examples/support-agent/traces/{version}/*.jsonl"
    arguments = ["run", SUITE, "--traces", traces, "--output-dir", str(output / version), *options]
    print(f"\n$ {shlex.join(['evalgate', *arguments])}\n", flush=True)
    done = subprocess.run([sys.executable, "-m", "evalgate", *arguments], cwd=ROOT, check=False)  # noqa: S603
    print(f"\nexit code {done.returncode}", flush=True)
    return done.returncode


def main(output: Path) -> int:
    """Runs both; fails unless both exit codes are as expected."""
    print("1. main: everything passes, and the run leaves a baseline.")
    green = gate("main", output)
    print("\n2. A pull request that wanted faster refunds, compared with that baseline.")
    red = gate("pr", output, "--baseline", str(output / "main" / "baseline.zip"))
    print(f"\nThe comment a pull request would get: {ROOT / output / 'pr' / 'comment.md'}")
    if (green, red) == (PASSED, FAILED):
        print("The gate let main pass (0) and stopped the pull request (1), as it should.")
        return 0
    print(f"The gate should have returned {PASSED} and {FAILED}, it returned {green} and {red}.")
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".demo")))
