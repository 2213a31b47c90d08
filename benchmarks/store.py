"""How fast a store of 10,000 runs answers: milliseconds, median and best of many, on both databases.

python benchmarks/store.py [RUNS]; PostgreSQL is the server of the tests, or the one that EVALGATE_TEST_POSTGRES names.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from evalgate.features.store.adapters.database import Database
from evalgate.features.store.adapters.run_writer import write_run
from evalgate.features.store.adapters.store_url import parse_store_url
from evalgate.features.store.bootstrap.store import open_store
from evalgate.features.store.ports import Page, Subject
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.history.stored_run import RunFacts, StoredRun, StoredScenarioRow, StoredSuiteRow

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from store_fixtures import PostgresServer, database_on, programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalgate.features.store.ports import Store

RUNS, SUITES, SCENARIOS, TIMES = 10_000, 2, 10, 30
BRANCHES = ("main", "main", "main", "dev", "fix/a")
START = datetime(2026, 1, 1, tzinfo=UTC)
RESULTS = b'{"schema": "evalgate.results/1", "suites": [' + b'{"id": "a scenario", "verdict": "PASS"},' * 400


def make_run(number: int, draw: random.Random) -> StoredRun:
    """A run of two suites with ten scenarios each."""
    when, branch = START + timedelta(minutes=number), draw.choice(BRANCHES)
    names = [f"suite{n}" for n in range(SUITES)]
    dimensions = {"tone_adherence": draw.random(), "memory_recall": draw.random()}
    facts = RunFacts(
        *(f"run{number}", tuple(names), "pass", 0, when, when, 1000, branch, f"{number:040x}"),
        score=draw.random(),
        pass_rate=draw.random(),
        cost_usd=draw.random(),
        latency_p50_s=draw.random(),
    )
    suites = tuple(StoredSuiteRow(name, "pass", draw.random(), draw.random(), dimensions=dimensions) for name in names)
    scenarios = tuple(
        StoredScenarioRow(
            *(
                ScenarioKey(name, f"scenario{n}", None),
                draw.choice(["PASS", "PASS", "FAIL"]),
                draw.random(),
                1,
                1,
            ),
            dimensions=dimensions,
            trace_sha256=f"{draw.getrandbits(256):064x}",
        )
        for name in names
        for n in range(SCENARIOS)
    )
    return StoredRun(facts, suites, scenarios, RESULTS)


def seed(url: str, runs: int) -> float:
    """Seconds to record the runs, five hundred in a transaction."""
    open_store(url, "/").close()
    database, draw, started = Database(parse_store_url(url, "/")), random.Random(7), perf_counter()
    for first in range(0, runs, 500):
        with database.writing() as connection:
            for number in range(first, min(first + 500, runs)):
                write_run(connection, database, make_run(number, draw), ())
    database.close()
    return perf_counter() - started


def make_queries(store: Store, runs: int) -> dict[str, Callable[[], Any]]:
    """The queries of people and of verbs."""
    key = ScenarioKey("suite1", "scenario3", None)
    draw = random.Random(8)
    numbers = iter(range(runs, runs + 10_000))
    return {
        "list runs, page of 50": store.runs.list,
        "list runs, last page": lambda: store.runs.list(Page(50, runs - 50)),
        "list runs of a suite and a branch": lambda: store.runs.list(suite="suite1", branch="dev"),
        "count runs": store.runs.count,
        "trend of 100 runs": lambda: store.runs.trend(Subject(), 100),
        "trend of 100 runs, one dimension": lambda: store.runs.trend(Subject(dimension="tone_adherence"), 100),
        "trend of 100 runs, one suite": lambda: store.runs.trend(Subject("suite1", branch="main"), 100),
        "trend of 100 runs, one scenario": lambda: store.runs.trend(Subject("suite1", "scenario3"), 100),
        "trend of a rare branch": lambda: store.runs.trend(Subject("suite1", "scenario3", branch="rare"), 100),
        "last status of a scenario": lambda: store.runs.last_status(key),
        "last status of all scenarios": store.runs.last_statuses,
        "last status of all scenarios, one branch": lambda: store.runs.last_statuses(branch="dev"),
        "last 20 results of each scenario": lambda: store.runs.all_sightings(20),
        "read a whole run": lambda: store.runs.get(f"run{runs // 2}"),
        "store one more run": lambda: store.runs.record(make_run(next(numbers), draw)),
    }


def measure_query(ask: Callable[[], Any]) -> tuple[float, float]:
    """Milliseconds: the median, and the best."""
    took = []
    for _ in range(TIMES):
        started = perf_counter()
        ask()
        took.append((perf_counter() - started) * 1000)
    return median(took), min(took)


@contextmanager
def postgres() -> Iterator[str]:
    """A PostgreSQL server."""
    named = os.environ.get("EVALGATE_TEST_POSTGRES")
    if named:
        yield named
        return
    server = PostgresServer(
        programs(), Path(tempfile.mkdtemp(prefix="evalgate-pg-", dir="/tmp"))
    )  # a socket's path is short
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


def measure_store(url: str, runs: int) -> tuple[float, dict[str, tuple[float, float]], float]:
    """Seconds of seeding, milliseconds per query, milliseconds of opening."""
    seeded = seed(url, runs)
    started = perf_counter()
    with open_store(url, "/") as store:
        opened = (perf_counter() - started) * 1000
        return seeded, {name: measure_query(ask) for name, ask in make_queries(store, runs).items()}, opened


def main() -> None:
    """Prints one line per query."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    folder = Path(tempfile.mkdtemp())
    try:
        files = measure_store(str(folder / "store.db"), runs)
        size = (folder / "store.db").stat().st_size / 1e6
    finally:
        shutil.rmtree(folder)
    with postgres() as server, database_on(server) as url:
        servers = measure_store(url, runs)
    print(f"{runs:,} runs of {SUITES * SCENARIOS} scenarios; the SQLite file has {size:.0f} MB")
    print(f"recorded in {files[0]:.0f} s (SQLite), {servers[0]:.0f} s (PostgreSQL), 500 in a transaction")
    print(f"{'milliseconds, median (best)':34}{'SQLite':>16}{'PostgreSQL':>16}")
    print(f"{'open again':34}{files[2]:16.1f}{servers[2]:16.1f}")
    for name, (middle, least) in files[1].items():
        other = servers[1][name]
        print(f"{name:34}{f'{middle:.1f} ({least:.1f})':>16}{f'{other[0]:.1f} ({other[1]:.1f})':>16}")


if __name__ == "__main__":
    main()
