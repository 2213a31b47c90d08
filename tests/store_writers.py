"""Processes that write to a store; a test starts this file with a store, a task and figures.

`many N M`: N processes open the store at the same moment and record M runs and one golden each.
`half`: records three runs and prints that, then begins another and stops in the middle of it, holding its transaction.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta

from evalgate.features.store.adapters import store as store_module  # imported once, before the processes fork
from evalgate.features.store.bootstrap.store import open_store
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.history.stored_run import RunFacts, StoredRun, StoredScenarioRow, StoredSuiteRow
from evalgate.models.run.golden import Golden

__all__ = ["store_module"]
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def a_run(name, scenarios=()):
    when = NOON + timedelta(seconds=sum(map(ord, name)))
    facts = RunFacts(name, ("s",), "pass", 0, when, when, 1, branch="main", score=1.0)
    return StoredRun(facts, (StoredSuiteRow("s", "pass"),), scenarios, b"{}")


def rows(names):
    return tuple(StoredScenarioRow(ScenarioKey("s", name, None), "PASS", n=1, passed=1) for name in names)


def write(url, writer, runs, gate):
    gate.read(1)  # all begin when the parent closes its end
    with open_store(url, "/") as store:
        store.goldens.create(Golden(f"g{writer}", tags=("shared",)))
        for number in range(runs):
            names = [f"common{n}" for n in range(5)] + [f"own{writer}-{number}"]
            store.runs.record(a_run(f"w{writer}-{number}", rows(names if writer % 2 else reversed(names))))


def many(url, writers, runs):
    import alembic.command  # noqa: F401  the same

    reader, starter = os.pipe()
    children = []
    for writer in range(writers):
        child = os.fork()
        if not child:
            os.close(starter)
            code = 1
            try:
                with os.fdopen(reader) as gate:
                    write(url, writer, runs, gate)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    os.close(reader)
    os.close(starter)
    failed = sum(1 for child in children if os.waitpid(child, 0)[1])
    say(f"{failed} failed")


class Stopping(tuple):
    """Scenarios of which the second is never reached."""

    __slots__ = ()

    def __iter__(self):
        yield self[0]
        say("half")
        sys.stdin.read()


def half(url):
    with open_store(url, "/") as store:
        for number in range(3):
            store.runs.record(a_run(f"r{number}", rows(f"s{n}" for n in range(50))))
            say(str(number))
        store.runs.record(a_run("half", Stopping(rows(["a", "b"]))))


if __name__ == "__main__":
    given = sys.argv[1:]
    {"many": many, "half": half}[given[1]](given[0], *map(int, given[2:]))
