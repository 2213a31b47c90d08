"""How the CPU time of a run grows with each thing that a user may have more of: 1.0 is in proportion.

python benchmarks/growth.py [NAME...]
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gate import WITHOUT_ZIP, Gate, conversation

if TYPE_CHECKING:
    from collections.abc import Callable

    Case = Callable[[Gate, int], list[str | Path]]

FACTOR = 4
"""The larger of the two sizes, in smaller ones."""
REACH = 1.2
CHECK = {"type": "output_contains", "value": "done"}
FAILS = {"type": "output_contains", "value": "nowhere"}


def ids(count: int) -> list[str]:
    """Names of scenarios."""
    return [f"case-{number:06d}" for number in range(count)]


def judge(gate: Gate, documents: list[Any], checks: list[Any], **rest: Any) -> list[str | Path]:
    """One scenario for all traces, with these checks."""
    suite = gate.write_suite("growth", [{"id": "*", "assertions": checks}], **rest)
    return gate.run_arguments(suite, gate.write_lines("traces.jsonl", documents), *WITHOUT_ZIP)


def traces(gate: Gate, size: int) -> list[str | Path]:
    """Traces of one file, each another scenario."""
    return judge(gate, [conversation(each) for each in ids(size)], [CHECK])


def failing_checks(gate: Gate, size: int) -> list[str | Path]:
    """Traces that fail."""
    return judge(gate, [conversation(each) for each in ids(size)], [FAILS])


def trials(gate: Gate, size: int) -> list[str | Path]:
    """Trials of one scenario."""
    documents = [conversation("case", text=f"It is done: {number}.") | {"trial": number} for number in range(size)]
    return judge(gate, documents, [CHECK])


def files(gate: Gate, size: int) -> list[str | Path]:
    """Files with a trace each."""
    folder = gate.folder / f"files-{size}"
    folder.mkdir(exist_ok=True)
    for each in ids(size):
        gate.write_lines(f"{folder.name}/{each}.json", [conversation(each)])
    suite = gate.write_suite("growth", [{"id": "*", "assertions": [CHECK]}])
    return gate.run_arguments(suite, folder, *WITHOUT_ZIP)


def scenarios(gate: Gate, size: int) -> list[str | Path]:
    """Scenarios of a suite, each with a trace."""
    suite = gate.write_suite("growth", [{"id": each, "assertions": [CHECK]} for each in ids(size)])
    file = gate.write_lines("traces.jsonl", [conversation(each) for each in ids(size)])
    return gate.run_arguments(suite, file, *WITHOUT_ZIP)


def globs(gate: Gate, size: int) -> list[str | Path]:
    """Scenarios whose id is a glob, each with a trace."""
    suite = gate.write_suite("growth", [{"id": f"{each}*", "assertions": [CHECK]} for each in ids(size)])
    file = gate.write_lines("traces.jsonl", [conversation(each) for each in ids(size)])
    return gate.run_arguments(suite, file, *WITHOUT_ZIP)


def conditions(gate: Gate, size: int) -> list[str | Path]:
    """Scenarios that a condition on the trace chooses, each with a trace."""
    chosen = [
        {"id": each, "match": {"where": f"metadata.custom.kind == '{each}'"}, "assertions": [CHECK]}
        for each in ids(size)
    ]
    documents = [conversation(f"t-{each}") | {"metadata": {"kind": each}} for each in ids(size)]
    suite = gate.write_suite("growth", chosen)
    return gate.run_arguments(suite, gate.write_lines("traces.jsonl", documents), *WITHOUT_ZIP)


def assertions(gate: Gate, size: int) -> list[str | Path]:
    """Assertions of one scenario."""
    checks = [{"type": "output_contains", "value": f"nowhere {place}", "negate": True} for place in range(size)]
    return judge(gate, [conversation("case")], checks)


def suites(gate: Gate, size: int) -> list[str | Path]:
    """Suites with a scenario and a trace each."""
    folder = gate.folder / f"suites-{size}"
    folder.mkdir(exist_ok=True)
    for each in ids(size):
        gate.write_suite(f"{folder.name}/{each}", [{"id": each, "assertions": [CHECK]}], traces=f"../{each}.jsonl")
        gate.write_lines(f"{each}.jsonl", [conversation(each)])
    return ["run", folder, "--output-dir", gate.folder / "output", *WITHOUT_ZIP]


def calls(gate: Gate, size: int) -> list[str | Path]:
    """Calls of one trace."""
    return judge(gate, [conversation("case", size)], [{"type": "forbidden_tools", "tools": ["drop"]}])


def parallel_calls(gate: Gate, size: int) -> list[str | Path]:
    """Calls of one turn."""
    return judge(gate, [conversation("case", size, in_one_turn=size)], [{"type": "tool_calls", "max": 10**6}])


def repeated_calls(gate: Gate, size: int) -> list[str | Path]:
    """Calls that a sequence looks through."""
    check = {"type": "tool_sequence", "sequence": ["look", "act"], "mode": "in_order"}
    return judge(gate, [conversation("case", size)], [check])


def sequence(gate: Gate, size: int) -> list[str | Path]:
    """Steps of an exact sequence, and as many calls."""
    check = {"type": "tool_sequence", "sequence": ["look"] * (size - 1) + ["act"], "mode": "exact"}
    return judge(gate, [conversation("case", size)], [check])


def any_order(gate: Gate, size: int) -> list[str | Path]:
    """Steps in any order, and as many calls."""
    check = {"type": "tool_sequence", "sequence": ["look"] * (size - 1) + ["act"], "mode": "any_order"}
    return judge(gate, [conversation("case", size)], [check])


def answer(gate: Gate, size: int) -> list[str | Path]:
    """Words of the answer."""
    return judge(gate, [conversation("case", text="it is done " * size)], [CHECK, {"regex": r"\bnot\s+here\b"}])


def results(gate: Gate, size: int) -> list[str | Path]:
    """Values of one tool's result."""
    document = conversation("case")
    found = json_lines(size)
    document["messages"][2]["content"] = found
    return judge(gate, [document], [CHECK])


def json_lines(count: int) -> str:
    """A tool's result with so many rows."""
    return "[" + ", ".join(f'{{"sku": {place}, "title": "lamp {place}"}}' for place in range(count)) + "]"


def sources(gate: Gate, size: int) -> list[str | Path]:
    """Calls whose arguments must have a source."""
    return judge(gate, [conversation("case", size)], [{"type": "grounded_arguments", "tools": ["look", "act"]}])


def agents(gate: Gate, size: int) -> list[str | Path]:
    """Agents of one trace, with a call each."""
    document = conversation("case", size)
    for place, message in enumerate(each for each in document["messages"] if each.get("tool_calls")):
        message["actor"] = f"root/helper-{place}"
    return judge(gate, [document], [{"type": "forbidden_tools", "tools": ["drop"]}])


def spans(gate: Gate, size: int) -> list[str | Path]:
    """Spans of one OpenTelemetry trace."""
    source, output = gate.write_lines("native.jsonl", [conversation("case", size)]), gate.folder / "spans.jsonl"
    gate.cpu("convert", source, "--to", "otlp", "-o", output, rounds=1)
    suite = gate.write_suite("growth", [{"id": "*", "assertions": [CHECK]}])
    return gate.run_arguments(suite, output, *WITHOUT_ZIP)


def baseline(gate: Gate, size: int) -> list[str | Path]:
    """Scenarios of the baseline, of which one is judged."""
    return compare(gate, ids(size), ids(1))


def compared(gate: Gate, size: int) -> list[str | Path]:
    """Scenarios that are compared with a baseline, each recorded again."""
    return compare(gate, ids(size), ids(size))


def compare(gate: Gate, before: list[str], now: list[str]) -> list[str | Path]:
    """A run of traces with other answers than those of the baseline."""
    suite = gate.write_suite("growth", [{"id": "*", "assertions": [CHECK]}])
    old = gate.write_lines("before.jsonl", [conversation(each) for each in before])
    gate.run(suite, old, "--output-dir", gate.folder / "before", rounds=1)
    new = gate.write_lines("now.jsonl", [conversation(each, text="Now it is done.") for each in now])
    return gate.run_arguments(suite, new, "--baseline", gate.folder / "before" / "baseline.zip", *WITHOUT_ZIP)


CASES: dict[str, tuple[Case, int]] = {
    "traces": (traces, 1_000),
    "failing checks": (failing_checks, 1_000),
    "trials of a scenario": (trials, 1_000),
    "files": (files, 500),
    "scenarios": (scenarios, 500),
    "scenarios by glob": (globs, 500),
    "scenarios by `where`": (conditions, 250),
    "assertions": (assertions, 1_000),
    "suites": (suites, 100),
    "calls": (calls, 4_000),
    "calls of one turn": (parallel_calls, 4_000),
    "calls a sequence looks through": (repeated_calls, 4_000),
    "steps of an exact sequence": (sequence, 2_000),
    "steps in any order": (any_order, 2_000),
    "words of the answer": (answer, 200_000),
    "rows of a result": (results, 100_000),
    "calls with sources": (sources, 500),
    "agents": (agents, 2_000),
    "spans": (spans, 1_000),
    "scenarios of the baseline": (baseline, 1_000),
    "scenarios recorded again": (compared, 500),
}
"""What grows, with the smaller of the two sizes that are measured."""


def measure_growth(gate: Gate, name: str) -> float:
    """The exponent between two sizes: the CPU time beyond that of the size 1 grows with the size to this power."""
    build, size = CASES[name]
    start, small, large = (gate.cpu(*build(gate, each)) for each in (1, size, size * FACTOR))
    return math.log(max(large - start, 0.001) / max(small - start, 0.001), FACTOR)


def main() -> int:
    """Prints a line for each; the exit code is 1 if one grows faster than its reach."""
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(Path(sys.executable), Path(folder), rounds=3)
        found = {}
        for name in sys.argv[1:] or CASES:
            found[name] = measure_growth(gate, name)
            print(f"{name:<32} {found[name]:5.2f}", flush=True)
    return 1 if max(found.values()) > REACH else 0


if __name__ == "__main__":
    sys.exit(main())
