"""`evalgate store history prune`: old runs and what belongs to them are deleted, and nothing that people made."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import func, select
from store_builders import make_evaluation, make_feedback, make_golden
from store_verbs import Verbs

from evalgate.features.store.adapters import run_writer
from evalgate.features.store.adapters.schema.tables import RUN_RESULTS, RUN_SCENARIOS, RUN_SUITES, RUNS, SCENARIOS
from evalgate.features.store.bootstrap.store import open_store
from evalgate.models.approvals.approval import Approval, Provenance, StoredApproval
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.goldens import RegressionSuite
from evalgate.models.history.stored_run import RunApproval, RunFacts, StoredRun, StoredScenarioRow, StoredSuiteRow

NOW = datetime(2025, 12, 31, 22, 40, 49, tzinfo=UTC)  # of the verbs
ON_SQLITE = pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)


def record(store, id_, days, *scenarios, evaluations=()):
    """A run that ended some days ago."""
    at = NOW - timedelta(days=days)
    facts = RunFacts(id_, ("s",), "pass", 0, at, at, 1, branch="main")
    rows = tuple(StoredScenarioRow(ScenarioKey("s", name, None), "PASS", n=1, passed=1) for name in scenarios)
    assert store.runs.record(StoredRun(facts, (StoredSuiteRow("s", "pass"),), rows, b"{}"), evaluations)


def fill(store):
    """Two old runs and two new ones, and what people made."""
    store.goldens.create(make_golden())
    store.suites.create(RegressionSuite("nightly", golden_ids=("refund",)))
    record(store, "old-1", 200, "a", "gone", evaluations=[make_evaluation("e1", run_id="old-1", conversation_id="t-1")])
    record(store, "old-2", 91, "a", "b", evaluations=[make_evaluation("e2", run_id="old-2")])
    record(store, "new-1", 89, "a", "b", evaluations=[make_evaluation("e3", run_id="new-1")])
    record(store, "new-2", 0, "b")
    store.evaluations.create(make_evaluation("imported", at=NOW - timedelta(days=400)))
    store.feedback.create(make_feedback("f1", "t-1", golden_id="refund"))
    store.feedback.create(make_feedback("f2", "t-2", created_at=NOW - timedelta(days=400)))
    approval = Approval("s", "a", None, None, None, 0.5, "known", "Ana", date(2026, 12, 31), frozenset(), None)
    store.approvals.create(StoredApproval("in-force", approval, Provenance("shell"), NOW - timedelta(days=300)))


def counts(store):
    """How many rows each table of runs has."""
    with store.runs._database.reading() as connection:
        tables = (RUNS, RUN_RESULTS, RUN_SUITES, RUN_SCENARIOS, SCENARIOS)
        return [connection.scalar(select(func.count()).select_from(table)) for table in tables]


def test_old_runs_are_deleted_with_what_belongs_to_them(verbs, store):
    fill(store)
    assert counts(store) == [4, 4, 4, 7, 3]

    done = verbs("history", "prune", "--keep", "90d")

    assert done.out == (
        "deleted: 2 runs of 2025-06-14 to 2025-10-01, 4 scenario results, 2 evaluations,"
        " 1 scenario name that no run has now\n"
        "kept: 2 runs of the last 90 days\n"
    )
    assert [each.id for each in store.runs.list()] == ["new-2", "new-1"]
    assert counts(store) == [2, 2, 2, 3, 2]


def test_what_people_made_is_kept(verbs, store):
    fill(store)

    done = verbs("history", "prune", "--keep", "1h")

    assert store.goldens.ids() == ["refund"]
    assert store.suites.get("nightly").golden_ids == ("refund",)
    assert [each.id for each in store.feedback.list()] == ["f2", "f1"]
    assert [each.id for each in store.approvals.list()] == ["in-force"]
    assert {each.id for each in store.evaluations.list()} == {"imported"}
    assert "approvals, goldens, regression suites and feedback are never deleted" in done.err


def test_a_run_that_a_person_decided_about_is_kept(verbs, store):
    fill(store)
    store.runs.decide("old-1", RunApproval("approved", "Ana", "known", NOW))

    done = verbs("history", "prune", "--keep", "90d")

    assert [each.id for each in store.runs.list()] == ["new-2", "new-1", "old-1"]
    assert store.runs.get("old-1").facts.approval.approved_by == "Ana"
    assert {each.id for each in store.evaluations.list()} == {"imported", "e1", "e3"}
    assert "kept: 1 older run, which a person approved or rejected\n" in done.out


def test_a_dry_run_says_the_same_and_deletes_nothing(verbs, store):
    fill(store)
    store.runs.decide("old-2", RunApproval("rejected", "Ana", "", NOW))
    before = counts(store)

    planned = verbs("history", "prune", "--keep", "13w", "--dry-run")

    assert counts(store) == before
    assert len(store.evaluations.list()) == 4
    assert planned.out.startswith("would delete: 1 run of 2025-06-14, 2 scenario results, 1 evaluation, ")
    assert verbs("history", "prune", "--keep", "13w").out == planned.out.replace("would delete", "deleted")


def test_without_old_runs_nothing_is_deleted(verbs, store):
    record(store, "new", 1, "a")

    done = verbs("history", "prune", "--keep", "90d")

    assert done.out == "deleted: nothing\nkept: 1 run of the last 90 days\n"


@pytest.mark.parametrize(("most_runs", "most_rows"), [(3, 1_000), (1_000, 5), (1, 1)])
def test_runs_are_deleted_a_few_at_a_time(store, most_runs, most_rows):
    for number in range(10):
        record(store, f"r{number}", 100, *(f"s{each}" for each in range(number)))
    record(store, "new", 0, "s1")
    sizes = []
    before = NOW - timedelta(days=90)

    found = run_writer.prune_runs(
        store.runs._database,
        before,
        dry_run=False,
        bounds=run_writer.BatchBounds(most_runs, most_rows),
        seen=sizes.append,
    )

    assert (found.runs, found.results, found.names, found.kept) == (10, 45, 8, 1)
    assert sum(sizes) == 10
    assert max(sizes) <= most_runs
    assert counts(store) == [1, 1, 1, 1, 1]


def test_runs_that_are_stored_meanwhile_are_whole(store_url, store):
    """A writer numbers scenarios whose names are deleted at the same time."""
    for number in range(60):
        record(store, f"old-{number}", 100, *(f"s{each}" for each in range(20)))
    failed, stop = [], threading.Event()

    def write():
        with open_store(store_url, "/") as other:
            for number in range(60):
                try:
                    record(other, f"new-{number}", 0, *(f"s{each}" for each in range(20)))
                except Exception as error:  # noqa: BLE001  (whatever it is, it is a failure)
                    failed.append(error)
                other.runs.delete(f"new-{number - 1}")
        stop.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not stop.is_set():
        run_writer.prune_runs(store.runs._database, NOW - timedelta(days=90), dry_run=False)
    writer.join()

    assert failed == []
    assert [each.id for each in store.runs.list()] == ["new-59"]
    assert len(store.runs.get("new-59").scenarios) == 20


@ON_SQLITE
@pytest.mark.parametrize("keep", ["", "90", "d", "-1d", "0d", "1.5d", "90 d", "90y", "99999d", "9" * 400 + "d", "٣d"])
def test_an_invalid_span_is_one_clear_line(verbs, keep):
    done = verbs("history", "prune", f"--keep={keep}", code=2)

    assert done.err.count("\n") == 1
    assert "--keep takes a time span such as 12h, 90d or 26w" in done.err


@ON_SQLITE
def test_keep_is_required_and_belongs_to_prune(verbs):
    assert "--keep" in verbs("history", "prune", code=2).err
    assert verbs("history", "--keep", "90d", code=2).err.count("\n") == 1


@ON_SQLITE
def test_a_span_before_the_first_year_keeps_everything(verbs, store):
    record(store, "r", 9_000, "a")

    assert "kept: 1 run" in verbs("history", "prune", "--keep", "9999w", SOURCE_DATE_EPOCH="86400").out


@ON_SQLITE
@pytest.mark.parametrize("place", ["before", "after"])
def test_the_store_may_be_named_before_or_after_the_action(verbs, store, store_url, tmp_path, place):
    record(store, "old", 100, "a")
    flag = ("--store-url", store_url)
    words = (*flag, "prune") if place == "before" else ("prune", *flag)

    done = Verbs(tmp_path, str(tmp_path / "another.db"))("history", *words, "--keep", "90d")

    assert "deleted: 1 run" in done.out
    assert not (tmp_path / "another.db").exists()


@ON_SQLITE
def test_no_store_is_made(verbs, tmp_path):
    done = Verbs(tmp_path, "none.db")("history", "prune", "--keep", "90d", code=2)

    assert "there is no store at none.db" in done.err
