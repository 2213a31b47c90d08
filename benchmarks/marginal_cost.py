"""The cost of one more trace, for the gate and for the floor: in turns in one process, so that other load slows both.

The gate does everything a run does: it reads the suite and the traces, judges, and writes its reports. The fixed
cost of a run cancels out in the difference between many traces and few.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import floor
import orjson
import traces

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
FEW, MANY = 500, 2_000
ROUNDS = 7


class Kind(NamedTuple):
    """The format of the traces, their number of scenarios (None: one each), and the suite."""

    shaped: traces.Shape | None = None
    scenarios: int | None = traces.SCENARIOS
    suite: str = "suite.yaml"


KINDS = {
    "with six path checks": Kind(),
    "with two filters among the checks": Kind(suite="filters.yaml"),
    "with more fields, one of them unknown": Kind(traces.add_fields),
    "as OpenAI messages": Kind(traces.chat),
    "as OpenAI messages with flat calls": Kind(traces.flat_chat),
    "one scenario per trace": Kind(scenarios=None),
}


def format_lines(folder: Path) -> list[str]:
    """The results, one line each."""
    heading = "- Cost of one more trace, and its ratio to the generic floor (target: 2):"
    return [
        heading,
        *(measure_kind(name, kind, folder) for name, kind in KINDS.items()),
    ]


def measure_kind(name: str, kind: Kind, folder: Path) -> str:
    """Measures one kind of traces."""
    find = floor.compile_reader()
    for count in (FEW, MANY):
        traces.write(folder / f"plain-{count}.jsonl", count)
        traces.write(folder / f"kind-{count}.jsonl", count, kind.scenarios or count, kind.shaped)
        run_gate(folder / f"kind-{count}.jsonl", kind.suite)  # imports, compiles and caches everything first
    gates, ratios = [], []
    for _ in range(ROUNDS):
        gate = marginal_cost(lambda count: run_gate(folder / f"kind-{count}.jsonl", kind.suite))
        floor_cost = marginal_cost(lambda count: run_floor(folder / f"plain-{count}.jsonl", find))
        gates.append(gate)
        ratios.append(gate / floor_cost)
    return f"  - {name}: {statistics.median(gates):.0f} us, {statistics.median(ratios):.1f} times"


def marginal_cost(work: Callable[[int], None]) -> float:
    """CPU microseconds of one more trace."""
    return (cpu_seconds(work, MANY) - cpu_seconds(work, FEW)) / (MANY - FEW) * 1e6


def cpu_seconds(work: Callable[[int], None], count: int) -> float:
    """CPU seconds of the work."""
    before = time.process_time()
    work(count)
    return time.process_time() - before


def run_floor(file: Path, find: Callable[[dict[str, object]], floor.Found]) -> None:
    """Reads and checks each trace as the floor does."""
    with file.open("rb") as recorded:
        for line in recorded:
            floor.weighted_score(find(orjson.loads(line)))


def run_gate(file: Path, suite: str) -> None:
    """Judges the traces as a run does, without its start-up."""
    from evalgate.application.judge.judge import judge
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.application.messages.write_outputs import write_outputs
    from evalgate.bootstrap import shell_verbs
    from evalgate.bootstrap.process import configure_python
    from evalgate.settings.limits import Limits

    configure_python()
    tools = shell_verbs.build_shell_tools(str(file.parent), "out", Limits(), source_date_epoch="0", progress_to=None)
    request = JudgeRequest(configs=[str(HERE / suite)], traces=[file.name], make_baseline_zip=False)
    write_outputs(judge(request, tools), tools.output)


if __name__ == "__main__":
    sys.path.append(str(HERE.parent))
    with tempfile.TemporaryDirectory() as scratch:
        print("\n".join(format_lines(Path(scratch))))
