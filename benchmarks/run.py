"""`make bench`: the gate on 100, 1,000 and 10,000 traces beside a hand-written floor, in under three minutes.

CPU is user and system time of the whole process. The gate does everything a run does but write baseline.zip.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import floor
import measure
import traces

HERE = Path(__file__).resolve().parent
SUITE = str(HERE / "suite.yaml")
SIZES = {100: 5, 1_000: 3, 10_000: 2}
GATE_EXITS = (0, 1)
TARGETS = {100: "0.22 s", 10_000: "0.65 s, 60 MB"}
FURTHER_TARGET_US = 45
FLOOR_TARGET = 2.0


class Row(NamedTuple):
    """One size: the gate alone, the gate with a baseline, the floor."""

    count: int
    gate: measure.Usage
    compared: measure.Usage
    floor: measure.Usage


def main() -> None:
    """Measures and prints."""
    print(f"Python {platform.python_version()}, {platform.machine()}; CPU is user + system, best of several")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        start_up()
        rows = [measured(folder, count, times) for count, times in SIZES.items()]
    table(rows)


def start_up() -> None:
    """What a command costs before it does anything."""
    for words in (["--version"], ["validate", SUITE]):
        usage = measure.best(["-m", "evalgate", *words], 7)
        print(f"evalgate {words[0]:12} {usage.cpu:6.3f} s {usage.memory_mb:6.0f} MB")


def measured(folder: Path, count: int, times: int) -> Row:
    """One size; the gate and the floor must agree about the traces before their speed is compared."""
    file, output = folder / f"traces-{count}.jsonl", folder / f"output-{count}"
    traces.write(file, count)
    judge = ["-m", "evalgate", "run", SUITE, "--traces", str(file), "--no-baseline-zip"]
    gate = measure.best([*judge, "--output-dir", str(output)], times, GATE_EXITS)
    agree(output / "results.json", file)
    again = [*judge, "--output-dir", str(folder / "compared"), "--baseline", str(output / "results.json")]
    compared = measure.best(again, times, GATE_EXITS)
    return Row(count, gate, compared, measure.best([str(HERE / "floor.py"), str(file)], times))


def agree(results: Path, file: Path) -> None:
    """Ends the benchmark where the gate and the floor judged the same traces differently."""
    suites = json.loads(results.read_bytes())["suites"]
    statuses = [
        trial["status"] for suite in suites for scenario in suite["scenarios"] for trial in scenario["trials"]
    ]
    with file.open("rb") as lines:
        passed = sum(floor.score(json.loads(line)) >= floor.THRESHOLD for line in lines)
    if statuses.count("passed") != passed:
        sys.exit(f"the gate passed {statuses.count('passed')} of {len(statuses)} traces, the floor {passed}")


def table(rows: list[Row]) -> None:
    """The figures beside those to reach."""
    print(f"\n{'traces':>8}{'gate':>9}{'memory':>9}{'compared':>10}{'floor':>9}{'ratio':>8}   to reach")
    for row in rows:
        ratio = row.gate.cpu / row.floor.cpu
        print(
            f"{row.count:8,}{row.gate.cpu:8.3f}s{row.gate.memory_mb:7.0f}MB{row.compared.cpu:9.3f}s"
            f"{row.floor.cpu:8.3f}s{ratio:7.1f}x   {TARGETS.get(row.count, '')}"
        )
    first, last = rows[-2], rows[-1]
    further = (last.gate.cpu - first.gate.cpu) / (last.count - first.count) * 1e6
    least = (last.floor.cpu - first.floor.cpu) / (last.count - first.count) * 1e6
    print(f"\na further trace: {further:.0f} us (to reach: {FURTHER_TARGET_US}), floor {least:.0f} us")
    ratio = last.gate.cpu / last.floor.cpu
    print(f"ratio to the floor at {last.count:,}: {ratio:.1f} (to reach: {FLOOR_TARGET})")


if __name__ == "__main__":
    main()
