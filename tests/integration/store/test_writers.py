"""Several processes at one store, and processes that die over it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import select

from evalgate.features.store.bootstrap.store import open_store
from evalgate.features.store.ports import EVERYTHING

SCRIPT = Path(__file__).parents[2] / "store_writers.py"
WRITERS, RUNS = 8, 2


def command(url, *words):
    return [sys.executable, str(SCRIPT), url, *map(str, words)]


@contextmanager
def running(url, *words):
    """A writer that is killed without an error message."""
    process = subprocess.Popen(command(url, *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(params=["sqlite", "postgresql"])
def nothing_yet(request, tmp_path):
    """A store that was never opened before."""
    if request.param == "sqlite":
        return str(tmp_path / "new/store.db")
    return request.getfixturevalue("empty_postgres_url")


def test_writers_who_begin_at_once_on_a_new_store_lose_nothing(nothing_yet):
    done = subprocess.run(command(nothing_yet, "many", WRITERS, RUNS), capture_output=True, text=True, check=True)

    assert done.stdout == "0 failed\n", done.stderr
    with open_store(nothing_yet, "/") as store:
        assert store.runs.count() == WRITERS * RUNS
        assert store.goldens.count() == WRITERS
        sightings = store.runs.all_sightings(1000)
        common = [len(seen) for key, seen in sightings.items() if key.id.startswith("common")]
        assert common == [WRITERS * RUNS] * 5
        assert len(sightings) == 5 + WRITERS * RUNS


def test_a_writer_killed_in_the_middle_of_a_run_leaves_every_run_it_confirmed_and_no_other(store_url):
    with running(store_url, "half") as output:
        assert [output.readline() for _ in range(4)] == ["0\n", "1\n", "2\n", "half\n"]

    with open_store(store_url, "/") as store:
        assert sorted(each.id for each in store.runs.list(EVERYTHING)) == ["r0", "r1", "r2"]
        whole = store.runs.get("r2")
        assert len(whole.scenarios) == 50
        assert store.runs.record(replace(whole, facts=replace(whole.facts, id="half")))
        assert store.runs.count() == 4


def test_a_reader_sees_one_state_while_others_write(store_url):
    from evalgate.features.store.adapters.database import Database
    from evalgate.features.store.adapters.schema.tables import GOLDENS
    from evalgate.features.store.adapters.store_url import parse_store_url
    from evalgate.models.run.golden import Golden

    reader = Database(parse_store_url(store_url, "/"))
    with open_store(store_url, "/") as store:
        with reader.reading() as connection:
            assert connection.execute(select(GOLDENS)).all() == []
            store.goldens.create(Golden("g"))
            assert connection.execute(select(GOLDENS)).all() == []
        assert store.goldens.get("g") is not None
    reader.close()
