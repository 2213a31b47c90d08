"""`make bench`: the gate on 100 to 100,000 traces compared with hand-written floors, in under three minutes.

CPU is user and system time of the whole process. The gate does everything a run does except writing baseline.zip,
in one process. With `--write` the table goes into README.md.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import marginal_cost
import measure
import scenarios
import traces

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
MARKERS = "<!-- table: begin, written by `make bench` -->", "<!-- table: end -->"
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
    """Measures, prints, and with `--write` updates README.md."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        lines = [describe_machine(), "", *measure_start_up()]
        rows = [measure_size(folder, count, times) for count, times in SIZES.items()]
        lines += ["", *format_table(rows), "", *marginal_cost.format_lines(folder), *scenarios.format_lines(folder)]
    print("\n".join(lines))
    if "--write" in sys.argv:
        write_readme(lines)


def describe_machine() -> str:
    """The machine, for the README."""
    return (
        f"Python {platform.python_version()} on {platform.machine()}; CPU seconds, user and system, "
        "the best of several runs of the whole process."
    )


def measure_start_up() -> list[str]:
    """The cost of starting a command."""
    words = (["--version"], ["validate", str(HERE / "suite.yaml")])
    used = [(each[0], measure.best(["-m", "evalgate", *each], 5)) for each in words]
    return [f"- `evalgate {verb}`: {usage.cpu:.3f} s, {usage.memory_mb:.0f} MB" for verb, usage in used]


def gate_command(suite: str, file: Path, output: Path) -> list[str]:
    """The measured command: one process for any number of traces."""
    words = ["-m", "evalgate", "run", str(HERE / suite), "--traces", str(file), "--jobs", "1"]
    return [*words, "--no-baseline-zip", "--quiet", "--output-dir", str(output)]


def measure_size(folder: Path, count: int, times: int) -> Row:
    """Measures one size; the gate and the floor must first agree on which traces pass."""
    file, output = folder / f"traces-{count}.jsonl", folder / f"output-{count}"
    if count <= COMPARED_UP_TO:
        traces.write(file, count)
    else:
        traces.write_many(file, count, folder / f"traces-{COMPARED_UP_TO}.jsonl")
    gate = measure.best(gate_command("suite.yaml", file, output), times, GATE_EXITS)
    compared = None
    if count <= COMPARED_UP_TO:
        require_same_verdicts(output / "results.json", folder, file)
        again = gate_command("suite.yaml", file, folder / "compared")
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


def require_same_verdicts(results: Path, folder: Path, file: Path) -> None:
    """Exits if the gate and the floor judged the same traces differently."""
    # Counted, not parsed: what this process holds counts as the peak of every process that it starts.
    gate = results.read_bytes().count(b'"status":"passed"')
    floor_output = folder / "floor.json"
    measure.once([str(HERE / "floor.py"), str(file)], output=floor_output)
    passed = json.loads(floor_output.read_bytes())["passed"]
    if gate != passed:
        sys.exit(f"the gate passed {gate} traces, the floor {passed}")


def format_table(rows: list[Row]) -> list[str]:
    """The results next to their targets."""
    lines = [
        "| traces | gate | memory | compared | floor | generic floor | ratio to the generic | target |",
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


def write_readme(lines: list[str]) -> None:
    """Writes the results between the markers of README.md."""
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(MARKERS[0])
    _, _, after = rest.partition(MARKERS[1])
    README.write_text("\n".join([f"{before}{MARKERS[0]}", "", *lines, "", f"{MARKERS[1]}{after}"]), encoding="utf-8")


if __name__ == "__main__":
    main()
