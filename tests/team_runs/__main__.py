"""Prints the table of all runs: `make teams`, or `python -m team_runs NAME...` with tests/ on PYTHONPATH."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from team_runs import frameworks, harnesses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from team_runs.rows import Row

HEADING = "| framework | team | called | record | own tracer or file | equal, in order, judged so |"


def main(names: list[str]) -> int:
    """Returns 1 if a recording differs from what was called."""
    runs = wrong = 0
    print(HEADING, "|---|---|--:|--:|---|---|", sep="\n")
    for name, version in list_versions(names):
        for row in run_all(name):
            runs, wrong = runs + 1, wrong + bool(row.wrong)
            print(show_row(row, version), flush=True)
    print(f"\n{runs} runs, {runs - wrong} equal")
    return min(wrong, 1)


def list_versions(names: list[str]) -> Iterator[tuple[str, str]]:
    """The frameworks and harnesses that are installed, with their versions; names the others."""
    for name in names or [*frameworks.FRAMEWORKS, *harnesses.HARNESSES]:
        own = frameworks.FRAMEWORKS.get(name)
        program = harnesses.HARNESSES[name].program if own is None else own.python
        if program is None or not program.exists():
            print(f"not installed: {name} (make sdks, make examples, make harnesses)", file=sys.stderr)
        else:
            yield name, frameworks.find_version(name) if own is not None else harnesses.find_version(program)


def run_all(name: str) -> Iterator[Row]:
    """The runs of a framework, in one process, or of a harness, each in one of its own."""
    if name in frameworks.FRAMEWORKS:
        with tempfile.TemporaryDirectory() as folder:
            yield from frameworks.run_framework(Path(folder), name)
        return
    for shape in harnesses.RAN:
        with tempfile.TemporaryDirectory() as folder:
            yield harnesses.HARNESSES[name].run(Path(folder), shape)


def show_row(row: Row, version: str) -> str:
    """A line of the table."""
    record, *own = row.found.items()
    others = ", ".join(f"{name} {count}" for name, count in own)
    equal = "; ".join(row.wrong) or "yes"
    return f"| {row.framework} {version} | {row.shape} | {len(row.calls)} | {record[1]} | {others} | {equal} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
