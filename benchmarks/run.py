"""`make bench`: the gate on 100 to 100,000 traces beside hand-written floors, in under three minutes.

CPU is user and system time of the whole process. The gate does everything a run does but write baseline.zip,
in one process. With `--write` the table goes into README.md.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import further
import measure
import scenarios
import traces

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
MARKS = "<!-- table: begin, written by `make bench` -->", "<!-- table: end -->"
SIZES = {100: 5, 1_000: 3, 10_000: 2, 100_000: 1}
GATE_EXITS = (0, 1)
TARGETS = {100: "0.22 s", 10_000: "0.65 s, 60 MB; 0.75 s compared", 100_000: "4 s, memory that does not grow"}
COMPARED_UP_TO = 10_000


class Row(NamedTuple):
    """One size: the gate alone, the gate with a baseline, and the two floors."""

    count: int
    gate: measure.Usage
    compared: measure.Usage | None
    floor: measure.Usage
    generic: measure.Usage


def main() -> None:
    """Measures, prints, and with `--write` keeps what it prints."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        lines = [about(), "", *start_up()]
        rows = [measured(folder, count, times) for count, times in SIZES.items()]
        lines += ["", *table(rows), "", *further.lines(folder), *scenarios.lines(folder)]
    print("\n".join(lines))
    if "--write" in sys.argv:
        keep(lines)


def about() -> str:
    """What the figures were measured on."""
    return (
        f"Python {platform.python_version()} on {platform.machine()}; CPU seconds, user and system, "
        "the least of several runs of the whole process."
    )


def start_up() -> list[str]:
    """What a command costs before it does anything."""
    words = (["--version"], ["validate", str(HERE / "suite.yaml")])
    used = [(each[0], measure.best(["-m", "evalgate", *each], 5)) for each in words]
    return [f"- `evalgate {verb}`: {usage.cpu:.3f} s, {usage.memory_mb:.0f} MB" for verb, usage in used]


def judging(suite: str, file: Path, output: Path) -> list[str]:
    """The command that is measured: one process, whatever the number of traces."""
    words = ["-m", "evalgate", "run", str(HERE / suite), "--traces", str(file), "--jobs", "1"]
    return [*words, "--no-baseline-zip", "--quiet", "--output-dir", str(output)]


def measured(folder: Path, count: int, times: int) -> Row:
    """One size; the gate and the floor must agree about the traces before their speed is compared."""
    file, output = folder / f"traces-{count}.jsonl", folder / f"output-{count}"
    if count <= COMPARED_UP_TO:
        traces.write(file, count)
    else:
        traces.write_many(file, count, folder / f"traces-{COMPARED_UP_TO}.jsonl")
    gate = measure.best(judging("suite.yaml", file, output), times, GATE_EXITS)
    compared = None
    if count <= COMPARED_UP_TO:
        agree(output / "results.json", folder, file)
        again = judging("suite.yaml", file, folder / "compared")
        archive = str(folder / f"baseline-{count}.zip")
        measure.once(["-m", "evalgate", "baseline", "create", str(output), "-o", archive])
        before = ["--baseline", archive]
        compared = measure.best([*again, *before], times, GATE_EXITS)
    hand = [str(HERE / "floor.py"), str(file)]
    return Row(
        *(count, gate, compared),
        measure.best(hand, times),
        measure.best([*hand, "--generic"], times),
    )


def agree(results: Path, folder: Path, file: Path) -> None:
    """Ends the benchmark where the gate and the floor judged the same traces differently."""
    # Counted, not parsed: what this process holds counts as the peak of every process that it starts.
    gate = results.read_bytes().count(b'"status":"passed"')
    told = folder / "floor.json"
    measure.once([str(HERE / "floor.py"), str(file)], output=told)
    passed = json.loads(told.read_bytes())["passed"]
    if gate != passed:
        sys.exit(f"the gate passed {gate} traces, the floor {passed}")


def table(rows: list[Row]) -> list[str]:
    """The figures beside those to reach."""
    lines = [
        "| traces | gate | memory | compared | floor | generic floor | ratio to the generic | to reach |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        compared = "" if row.compared is None else f"{row.compared.cpu:.2f} s"
        ratio, target = row.gate.cpu / row.generic.cpu, TARGETS.get(row.count, "")
        lines.append(
            f"| {row.count:,} | {row.gate.cpu:.2f} s | {row.gate.memory_mb:.0f} MB | {compared} "
            f"| {row.floor.cpu:.2f} s | {row.generic.cpu:.2f} s | {ratio:.1f}x | {target} |"
        )
    return lines


def keep(lines: list[str]) -> None:
    """Puts the figures between the marks of README.md."""
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    README.write_text("\n".join([f"{before}{MARKS[0]}", "", *lines, "", f"{MARKS[1]}{after}"]), encoding="utf-8")


if __name__ == "__main__":
    main()
