"""`make bench-peers`: the same six checks on the same traces with EvalGate and with tools people use instead.

Needs the network. Every tool is installed in `.demo/peers`, in the version below, and runs with its default flags. They
take turns; the least CPU of each counts. The table goes into README.md. The exit code is 1 if a tool did not run
all checks, or if a ratio is below its reach divided by 1.5.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, NamedTuple

import measure
from run import HERE, ROOM, ROOT, describe_machine, install_wheel, write_between

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FOLDER = ROOT / ".demo" / "peers"
JOBS = HERE / "peers"
MARKERS = "<!-- peers: begin -->", "<!-- peers: end -->"
ROUNDS = {100: 7, 1_000: 4, 10_000: 2}
CHECKS = 6
PROMPTFOO = "0.123.1"
NODE = "24.21.0"
PYDANTIC_EVALS = "2.62.0"
AGENTEVALS = "0.0.9"
QUIET = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
COUNT_CHECKS = """
select count(*), sum(success),
       sum((select sum(value) from json_each(named_scores))),
       sum((select count(*) from json_each(grading_result, '$.componentResults')))
from eval_results
"""


class Counts(NamedTuple):
    """Traces, how many of them pass, checks that passed, and checks that ran."""

    traces: int
    passed: int
    checks_passed: int
    checks: int


class Tool(NamedTuple):
    """A tool, its command, how to count what it did, and how many times our CPU it should take by size."""

    name: str
    command: Callable[[Path, Path], Sequence[str | Path]]
    count: Callable[[Path], Counts]
    reach: dict[int, float]
    exits: tuple[int, ...] = (0,)


def main() -> int:
    """Installs, measures, prints, and updates README.md."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    python = install_wheel()
    tools = [make_evalgate(python), install_promptfoo(), *map(install_python_tool, ("pydantic-evals", "agentevals"))]
    load = os.getloadavg()[0]
    used: dict[tuple[str, int], measure.Usage] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for size, rounds in ROUNDS.items():
            file = Path(scratch, f"traces-{size}.jsonl")
            subprocess.run([python, HERE / "traces.py", file, str(size)], check=True)
            used |= {(name, size): usage for name, usage in measure_tools(tools, file, rounds).items()}
    lines = [describe_machine(python, load, os.getloadavg()[0]), "", *format_table(tools, used)]
    print("\n".join(lines))
    write_between(MARKERS, lines)
    slow = [name for name, size, reach, ratio in list_ratios(tools, used) if ratio * ROOM < reach]
    if slow:
        print(f"less than the reach over {ROOM}: {', '.join(slow)}", file=sys.stderr)
    return 1 if slow else 0


def make_evalgate(python: Path) -> Tool:
    """The installed wheel."""

    def command(file: Path, output: Path) -> Sequence[str | Path]:
        words = ["run", HERE / "suite.yaml", "--traces", file, "--output-dir", output]
        return [python.parent / "evalgate", *words]

    def count(output: Path) -> Counts:
        with (output / "results.json").open("rb") as file:
            start = file.read(4096).decode()
        summary = dict(re.findall(r'"(\w+)":(\d+)', start.partition('"summary":')[2].partition('"checks":')[0]))
        checks = dict(re.findall(r'"(\w+)":(\d+)', start.partition('"checks":{')[2].partition("}")[0]))
        ran = sum(map(int, checks.values()))
        return Counts(int(summary["scenarios"]), int(summary["passed"]), int(checks["passed"]), ran)

    return Tool("EvalGate", command, count, {}, (0, 1))


def install_promptfoo_package() -> tuple[Path, Path]:
    """Installs promptfoo with its own Node.js; the program of Node.js, and the folder of the packages."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
    folder, node = FOLDER / "promptfoo", f"node-linux-{machine}"
    folder.mkdir(exist_ok=True)
    packages = [f"promptfoo@{PROMPTFOO}", f"{node}@{NODE}"]
    subprocess.run(["npm", "install", "--silent", "--no-fund", "--no-audit", *packages], cwd=folder, check=True)  # noqa: S607
    modules = folder / "node_modules"
    return modules / node / "bin" / "node", modules


def install_promptfoo() -> Tool:
    """promptfoo, with an empty database for every run."""
    node, modules = install_promptfoo_package()
    start = [node, modules / "promptfoo" / "dist" / "src" / "entrypoint.js"]

    def command(file: Path, output: Path) -> Sequence[str | Path]:
        variables = [f"{name}={value}" for name, value in QUIET.items()]
        own = [f"PROMPTFOO_CONFIG_DIR={output}", f"TRACES={file}"]
        return ["env", *variables, *own, *start, "eval", "-c", JOBS / "promptfooconfig.yaml"]

    def count(output: Path) -> Counts:
        with sqlite3.connect(output / "promptfoo.db") as database:
            return Counts(*map(int, database.execute(COUNT_CHECKS).fetchone()))

    return Tool(f"promptfoo {PROMPTFOO}, its database on", command, count, {100: 8, 10_000: 8}, (0, 100))


def install_python_tool(name: str) -> Tool:
    """Installs pydantic-evals or agentevals from PyPI, and the job that uses it."""
    version = {"pydantic-evals": PYDANTIC_EVALS, "agentevals": AGENTEVALS}[name]
    python = FOLDER / name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER / name], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"{name}=={version}"], check=True)
    job = JOBS / f"{name.replace('-', '_')}_job.py"

    def command(file: Path, output: Path) -> Sequence[str | Path]:
        return [python, job, file, output]

    def count(output: Path) -> Counts:
        found = json.loads(output.read_bytes())
        traces, passed = found.pop("traces"), found.pop("passed")
        return Counts(traces, passed, sum(found.values()), len(found) * traces)

    return Tool(f"{name} {version}", command, count, dict.fromkeys(ROUNDS, 2))


def measure_tools(tools: Sequence[Tool], file: Path, rounds: int) -> dict[str, measure.Usage]:
    """The least use of each tool, in turns; ends the benchmark if one of them did not do the same work."""
    found: dict[str, list[measure.Usage]] = {tool.name: [] for tool in tools}
    counts = {}
    for _ in range(rounds):
        for tool in tools:
            output = file.parent / "output"
            rmtree(output, ignore_errors=True)
            output.unlink(missing_ok=True)
            found[tool.name].append(measure.once(tool.command(file, output), tool.exits, folder=file.parent))
            counts[tool.name] = tool.count(output)
    expected = counts["EvalGate"]
    if set(counts.values()) != {expected} or expected.checks != CHECKS * expected.traces:
        sys.exit(f"the tools did not do the same: {counts}")
    return {name: min(usages, key=lambda usage: usage.cpu) for name, usages in found.items()}


def list_ratios(
    tools: Sequence[Tool], used: dict[tuple[str, int], measure.Usage]
) -> list[tuple[str, int, float, float]]:
    """Tool, size, reach and ratio to EvalGate, where there is a reach."""
    return [
        (tool.name, size, reach, used[tool.name, size].cpu / used["EvalGate", size].cpu)
        for tool in tools
        for size, reach in tool.reach.items()
    ]


def format_table(tools: Sequence[Tool], used: dict[tuple[str, int], measure.Usage]) -> list[str]:
    """CPU, ratio and memory of every tool and size."""
    sizes = [f"{size:,} traces" for size in ROUNDS]
    lines = [f"| tool | {' | '.join(sizes)} | memory at {max(ROUNDS):,} | reach |", f"|---|{'--:|' * (len(sizes) + 2)}"]
    for tool in tools:
        cells = []
        for size in ROUNDS:
            cpu, own = used[tool.name, size].cpu, used["EvalGate", size].cpu
            cells.append(f"{cpu:.2f} s" if tool.name == "EvalGate" else f"{cpu:.2f} s, {cpu / own:.1f}x")
        reach = ", ".join(f"{least:g}x at {size:,}" for size, least in tool.reach.items())
        memory = used[tool.name, max(ROUNDS)].memory_mb
        lines.append(f"| {tool.name} | {' | '.join(cells)} | {memory:,.0f} MB | {reach} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
