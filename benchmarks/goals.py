"""The figures that users wait for, each beside its reach: runs on traces in six formats, start, suites, comparison."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, NamedTuple

import growth
import measure
import shapes
from gate import HERE, WITHOUT_ZIP, Gate, conversation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 300
"""Generated runs in each format."""
SUITE = HERE / "suite.yaml"
SHARED = HERE.parent.parent / "shared" / "traces"
REAL = {"tau2_bench": "tau2-bench", "tau_bench": "tau-bench"}
RUN_REACH = {"tau2_bench": 14, "tau_bench": 13, "otlp": 5}
"""Megabytes a second of a default run, net of its start."""
READ_REACH = {"otlp": 20}
OTHER_READ_REACH = 10
MANY = 1_000


class Figure(NamedTuple):
    """One row: what was measured, its figure and its reach in `unit`; more is better for speeds only."""

    name: str
    value: float
    reach: float
    unit: str = "x"
    more_is_better: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the reach is met."""
        return self.value >= self.reach if self.more_is_better else self.value <= self.reach

    def row(self) -> str:
        """A row of the table."""
        missed = "" if self.is_met else f"missed by {abs(self.value / self.reach - 1):.0%}"
        return f"| {self.name} | {self.value:,.3g} {self.unit} | {self.reach:g} {self.unit} | {missed} |"


def measure_goals(gate: Gate) -> Iterator[Figure]:
    """Every figure, in the order of the table."""
    yield from measure_formats(gate)
    yield measure_start(gate)
    yield measure_files(gate)
    yield measure_assertions(gate)
    yield from measure_comparison(gate)
    yield measure_failures(gate)
    yield from measure_memory(gate)
    for name in growth.CASES:
        yield Figure(f"growth: {name}", growth.measure_growth(gate, name), growth.REACH, "exponent")


def measure_formats(gate: Gate) -> Iterator[Figure]:
    """Default runs, reading, and the share of baseline.zip, for each format."""
    for name in shapes.SHAPES:
        folder = gate.folder / name
        shapes.write(name, folder, COUNT)
        yield from measure_folder(gate, name, folder, f"{name}, generated")
    for name, real in REAL.items():
        if (SHARED / real).is_dir():
            yield from measure_folder(gate, name, SHARED / real, f"{name}, recorded")


def measure_folder(gate: Gate, name: str, folder: Path, title: str) -> Iterator[Figure]:
    """The figures of one folder of traces."""
    megabytes = sum(each.stat().st_size for each in folder.iterdir()) / 1e6
    whole, without = gate.net(SUITE, folder), gate.net(SUITE, folder, *WITHOUT_ZIP)
    if name in RUN_REACH:
        yield Figure(f"default run: {title}", megabytes / whole, RUN_REACH[name], "MB/s", more_is_better=True)
    command = [gate.python, HERE / "reading.py", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    reach = READ_REACH.get(name, OTHER_READ_REACH)
    yield Figure(f"reading: {title}", float(done.stdout), reach, "x orjson")
    if name == "tau2_bench":
        yield Figure(f"baseline.zip: {title}", 100 * (whole - without) / whole, 15, "% of a run")


def measure_start(gate: Gate) -> Figure:
    """A run of one trace against the imports that it can't do without."""
    floor = min(measure.once([gate.python, "-c", "import yaml, pydantic"]).cpu for _ in range(20))
    return Figure("run of one trace", gate.start() / floor, 3, "x import yaml, pydantic")


def measure_files(gate: Gate) -> Figure:
    """What a file costs beyond a line of one file."""
    documents = [conversation(each) for each in growth.ids(MANY)]
    folder = gate.folder / "many-files"
    folder.mkdir()
    for number, each in enumerate(documents):
        gate.write_lines(f"many-files/{number}.json", [each])
    lines = gate.write_lines("one-file.jsonl", documents)
    beyond = gate.run(SUITE, folder, *WITHOUT_ZIP) - gate.run(SUITE, lines, *WITHOUT_ZIP)
    return Figure("a file beyond a line", 1_000 * beyond / MANY, 0.15, "ms")


def measure_assertions(gate: Gate) -> Figure:
    """What an assertion costs that is only loaded."""
    checks = [{"regex": f"order {place} of [A-Z]+"} for place in range(5)]

    def validate(count: int) -> float:
        entries = [{"id": each, "assertions": checks} for each in growth.ids(count)]
        return gate.cpu("validate", gate.write_suite("assertions", entries))

    return Figure(
        "an assertion of a suite", 1_000 * (validate(MANY) - validate(1)) / (len(checks) * (MANY - 1)), 0.07, "ms"
    )


def measure_comparison(gate: Gate) -> Iterator[Figure]:
    """What a baseline costs beyond not comparing: traces as recorded before, and traces recorded again."""
    recorded = shapes.runs(MANY)
    old = gate.write_lines("recorded.jsonl", recorded)
    gate.run(SUITE, old, "--output-dir", gate.folder / "base", rounds=1)
    for each in recorded:
        each["messages"][-1]["content"] += " Thank you."
    new = gate.write_lines("again.jsonl", recorded)
    flags = ("--baseline", gate.folder / "base" / "baseline.zip", *WITHOUT_ZIP)
    for name, file in (("the same traces", old), ("traces recorded again", new)):
        alone = gate.net(SUITE, file, *WITHOUT_ZIP)
        yield Figure(f"comparing {name}", 100 * (gate.net(SUITE, file, *flags) / alone - 1), 12, "% more")


def measure_failures(gate: Gate) -> Figure:
    """Failing checks against passing ones."""
    file = gate.write_lines("checked.jsonl", [conversation(each) for each in growth.ids(MANY)])

    def judge(check: dict[str, str], count: int) -> float:
        checks = [check | {"value": f"{check['value']}{' ' * place}"} for place in range(count)]
        suite = gate.write_suite("failures", [{"id": "*", "assertions": checks}])
        return gate.run(suite, file, *WITHOUT_ZIP)

    failing, passing = (
        judge(check, 20) - judge(check, 1) for check in (growth.FAILS, {"type": "output_contains", "value": "It is"})
    )
    return Figure("failing checks", failing / passing, 5, "x passing ones")


def measure_memory(gate: Gate) -> Iterator[Figure]:
    """The most that a run of 10,000 traces with a baseline, and of 100,000 without, holds."""
    small, large = gate.folder / "10000.jsonl", gate.folder / "100000.jsonl"
    for file, count in ((small, 10_000), (large, 100_000)):
        subprocess.run([gate.python, HERE / "traces.py", file, str(count)], check=True)
    gate.run(SUITE, small, "--output-dir", gate.folder / "before", rounds=1)
    compared = gate.run_arguments(SUITE, small, "--baseline", gate.folder / "before" / "baseline.zip")
    alone = gate.run_arguments(SUITE, large, *WITHOUT_ZIP)
    for name, arguments, reach in (("10,000 with a baseline", compared, 110), ("100,000 without", alone, 250)):
        held = measure.memory_of_tree([gate.python, "-m", "evalgate", *arguments], folder=gate.folder)
        yield Figure(f"memory: {name}", held, reach, "MB")
