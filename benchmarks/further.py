"""What a further trace costs beside the floor: both in one process, in turns, so that neighbours slow both.

The gate does everything a run does: it reads the suite and the traces, judges, and leaves its reports. What
it does but once falls out of the difference between many traces and few.
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
    """How the traces are written, of how many scenarios (None: each has its own), and how they are judged."""

    shaped: traces.Shape | None = None
    scenarios: int | None = traces.SCENARIOS
    suite: str = "suite.yaml"


KINDS = {
    "with six path checks": Kind(),
    "with two filters among the checks": Kind(suite="filters.yaml"),
    "with more fields, one of them unknown": Kind(traces.fuller),
    "as OpenAI messages": Kind(traces.chat),
    "as OpenAI messages with flat calls": Kind(traces.flat_chat),
    "each in a scenario of its own": Kind(scenarios=None),
}


def lines(folder: Path) -> list[str]:
    """The figures, a line each."""
    heading = "- A further trace, and how many times what the generic floor takes for one (to reach: 2):"
    return [
        heading,
        *(told(name, kind, folder) for name, kind in KINDS.items()),
    ]


def told(name: str, kind: Kind, folder: Path) -> str:
    """One kind of traces."""
    find = floor.looking_by_expressions()
    for count in (FEW, MANY):
        traces.write(folder / f"plain-{count}.jsonl", count)
        traces.write(folder / f"kind-{count}.jsonl", count, kind.scenarios or count, kind.shaped)
        judge(folder / f"kind-{count}.jsonl", kind.suite)  # whatever is imported, compiled, remembered once
    gates, ratios = [], []
    for _ in range(ROUNDS):
        gate = further(lambda count: judge(folder / f"kind-{count}.jsonl", kind.suite))
        floor_took = further(lambda count: least(folder / f"plain-{count}.jsonl", find))
        gates.append(gate)
        ratios.append(gate / floor_took)
    return f"  - {name}: {statistics.median(gates):.0f} us, {statistics.median(ratios):.1f} times"


def further(work: Callable[[int], None]) -> float:
    """Microseconds of CPU that a further trace takes."""
    return (took(work, MANY) - took(work, FEW)) / (MANY - FEW) * 1e6


def took(work: Callable[[int], None], count: int) -> float:
    """Seconds of CPU."""
    before = time.process_time()
    work(count)
    return time.process_time() - before


def least(file: Path, find: Callable[[dict[str, object]], floor.Found]) -> None:
    """What the floor does."""
    with file.open("rb") as recorded:
        for line in recorded:
            floor.score(find(orjson.loads(line)))


def judge(file: Path, suite: str) -> None:
    """What a run does, without its start."""
    from evalgate.application.judge.judge import judge as judged
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.application.messages.write_outputs import write_outputs
    from evalgate.bootstrap import shell_verbs
    from evalgate.bootstrap.process import configure_python
    from evalgate.settings.limits import Limits

    configure_python()
    tools = shell_verbs.build_shell_tools(str(file.parent), "out", Limits(), source_date_epoch="0", progress_to=None)
    request = JudgeRequest(configs=[str(HERE / suite)], traces=[file.name], make_baseline_zip=False)
    write_outputs(judged(request, tools), tools.output)


if __name__ == "__main__":
    sys.path.append(str(HERE.parent))
    with tempfile.TemporaryDirectory() as scratch:
        print("\n".join(lines(Path(scratch))))
