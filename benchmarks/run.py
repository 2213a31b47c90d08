"""`make bench`: what users wait for beside its reach, and an installed gate beside a hand-written floor.

A wheel is built and installed with pip into `.demo/bench`. Gate and floor take turns, and the least of each counts.
The tables go into README.md. The exit code is 1 if a row needs more than 1.5 times its reach.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import goals
import measure
from gate import Gate

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
README = HERE / "README.md"
MARKERS = "<!-- bench: begin -->", "<!-- bench: end -->"
GOAL_MARKERS = "<!-- goals: begin -->", "<!-- goals: end -->"
GOAL_HEAD = ("| figure | measured | reach | |", "|---|--:|--:|---|")
VENV = ROOT / ".demo" / "bench"
GATE_EXITS = (0, 1)
ROOM = 1.5


class Reach(NamedTuple):
    """One row of the alarm: the traces, rounds, and the most times the floor."""

    traces: int
    rounds: int
    ratio: float


REACHES = (Reach(100, 25, 6), Reach(10_000, 5, 20))


class Row(NamedTuple):
    """The measured CPU seconds beside their reach."""

    reach: Reach
    floor: float
    gate: float

    @property
    def ratio(self) -> float:
        """CPU of the gate over CPU of the floor."""
        return self.gate / self.floor

    @property
    def is_within_room(self) -> bool:
        """Whether the ratio is at most `ROOM` times its reach."""
        return self.ratio <= ROOM * self.reach.ratio


def main() -> int:
    """Installs, measures, prints, and updates README.md."""
    python = install_wheel()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        write_between(GOAL_MARKERS, measure_goals(Gate(python, Path(scratch))))
        rows = [measure_row(python, Path(scratch), reach) for reach in REACHES]
    lines = [describe_machine(python, load, os.getloadavg()[0]), "", *format_table(rows)]
    print("\n".join(lines))
    write_between(MARKERS, lines)
    too_slow = [f"{row.reach.traces:,}" for row in rows if not row.is_within_room]
    if too_slow:
        print(f"more than {ROOM} times the reach at {', '.join(too_slow)} traces", file=sys.stderr)
    return 1 if too_slow else 0


def measure_goals(gate: Gate) -> list[str]:
    """The table of figures beside their reaches, printed while it grows."""
    lines = [f"{datetime.now(UTC):%Y-%m-%d}, the same machine.", "", *GOAL_HEAD]
    for figure in goals.measure_goals(gate):
        lines.append(figure.row())
        print(lines[-1], flush=True)
    return lines


def install_wheel() -> Path:
    """Builds a wheel of this checkout and installs it as a user does; returns the Python of its virtual environment."""
    python = VENV / "venv" / "bin" / "python"
    quiet = ("-m", "pip", "--disable-pip-version-check", "--quiet")
    subprocess.run([sys.executable, "-m", "venv", "--clear", VENV / "venv"], check=True)
    with tempfile.TemporaryDirectory() as scratch:
        # From a copy: setuptools leaves a folder next to its sources, whose files would be in the next wheel too.
        source, wheels = Path(scratch, "source"), Path(scratch, "wheels")
        shutil.copytree(ROOT / "evalgate", source / "evalgate", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
            shutil.copy(ROOT / name, source)
        subprocess.run([python, *quiet, "wheel", "--no-deps", "--wheel-dir", wheels, source], check=True)
        subprocess.run([python, *quiet, "install", *wheels.glob("*.whl")], check=True)
    return python


def measure_row(python: Path, folder: Path, reach: Reach) -> Row:
    """Measures one row; the gate and the floor must agree on how many traces pass."""
    file, output = folder / f"traces-{reach.traces}.jsonl", folder / "output"
    if not file.exists():
        # In a process of its own: what this one holds would count as memory of those that it starts.
        subprocess.run([python, HERE / "traces.py", file, str(reach.traces)], check=True)
    gate: list[str | Path] = [
        python.parent / "evalgate",
        "run",
        HERE / "suite.yaml",
        "--traces",
        file,
        "--output-dir",
        output,
    ]
    floor: list[str | Path] = [python, HERE / "floor.py", file]
    floors, gates = [], []
    for _ in range(reach.rounds):
        floors.append(measure.once(floor, output=folder / "floor.json").cpu)
        gates.append(measure.once(gate, GATE_EXITS, folder=folder).cpu)
    require_same_verdicts(output / "results.json", folder / "floor.json")
    return Row(reach, min(floors), min(gates))


def require_same_verdicts(results: Path, floor: Path) -> None:
    """Ends the benchmark if gate and floor did not read and pass as many traces."""
    with results.open("rb") as file:
        start = file.read(4096)
    found = re.search(rb'"summary":\{"scenarios":(\d+),"passed":(\d+)', start)
    gate = [int(number) for number in found.groups()] if found else None
    expected = json.loads(floor.read_bytes())
    if gate != [expected["traces"], expected["passed"]]:
        sys.exit(f"the gate counts {gate}, the floor {expected}")


def describe_machine(python: Path, before: float, after: float) -> str:
    """Where and when the table was made."""
    version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {version}, {os.cpu_count()} cores of {platform.machine()}, "
        f"load {before:.1f} at the start and {after:.1f} at the end."
    )


def format_table(rows: list[Row]) -> list[str]:
    """The figures beside their reach."""
    lines = ["| traces | gate | floor | ratio | reach |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        figures = f"{row.gate:.2f} s | {row.floor:.3f} s | {row.ratio:.1f}x | {row.reach.ratio:g}x"
        lines.append(f"| {row.reach.traces:,} | {figures} |")
    return lines


def write_between(markers: tuple[str, str], lines: list[str]) -> None:
    """Writes lines between two markers of README.md."""
    before, begin, rest = README.read_text(encoding="utf-8").partition(markers[0])
    _, end, after = rest.partition(markers[1])
    README.write_text("\n".join([f"{before}{begin}", "", *lines, "", f"{end}{after}"]), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
