"""A store of several repositories: what one of them stores is not read in another."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import MetaData, Table, text
from store_builders import migrate

from evalgate.errors import SettingError
from evalgate.features.store.adapters.database import Database
from evalgate.features.store.adapters.store_url import parse_store_url
from evalgate.features.store.application.history.run_record import RunContext
from evalgate.features.store.application.history.run_recorder import RunRecorder
from evalgate.features.store.bootstrap.approvals import StoreApprovals
from evalgate.features.store.bootstrap.store import find_repository, open_store, require_repository
from evalgate.features.store.ports import Subject
from evalgate.models.approvals.approval import Approval, Provenance, StoredApproval
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.history.stored_run import RunFacts, StoredRun, StoredScenarioRow, StoredSuiteRow

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEY = ScenarioKey("support", "refund", None)
ONE, TWO = "acme/one", "acme/two"


class Clock:
    def now(self):
        return NOON


def record(store, number, repository, verdict="PASS", branch="main"):
    at = NOON + timedelta(hours=number)
    facts = RunFacts(f"r{number}", ("support",), "pass", 0, at, at, 0, branch=branch, repository=repository, score=1.0)
    row = StoredScenarioRow(KEY, verdict, 1.0, 1, int(verdict == "PASS"))
    assert store.runs.record(StoredRun(facts, (StoredSuiteRow("support", "pass"),), (row,), b"{}"))


def approve(store, who, repository, source="shell"):
    provenance = Provenance(source, repository=repository)
    nothing = dict.fromkeys(("variant", "assertion", "change", "least_score", "location"))
    approval = Approval(
        suite="support",
        scenario="refund",
        reason="known",
        who=who,
        **{"until": date(2026, 6, 1), "traces": frozenset(), "provenance": provenance, **nothing},
    )
    store.approvals.create(StoredApproval("", approval, provenance))


def load(store, repository):
    """The people whose approvals count in a run of the repository, and the warnings."""
    store.select_repository(repository)
    recorder = RunRecorder(store, Clock(), RunContext("main", repository=repository))
    _, approvals = recorder.load()
    return [each.who for each in approvals], recorder.warnings


def test_an_approval_of_another_repository_does_not_count(store):
    approve(store, "ada", ONE)

    assert load(store, ONE) == (["ada"], [])
    assert load(store, TWO) == ([], [])


def test_an_approval_that_names_no_repository_counts_where_the_store_has_but_one(store):
    approve(store, "ada", None)
    assert load(store, ONE) == (["ada"], [])
    record(store, 1, ONE)
    assert load(store, ONE) == (["ada"], [])

    record(store, 2, TWO)

    warning = (
        f"1 approval in {store.display_url} count in no repository, because they name none and the store has "
        "several (docs/store.md)"
    )
    assert load(store, ONE) == ([], [warning])
    assert load(store, "acme/three") == ([], [warning])
    assert load(store, None) == (["ada"], [])


def test_the_first_run_of_a_second_repository_gets_nothing_of_the_first(store):
    record(store, 1, ONE, "FAIL")
    approve(store, "ada", None)

    assert load(store, TWO)[0] == []
    assert list(store.runs.trend(Subject())) == []


def test_histories_are_of_one_repository(store):
    for number in range(1, 5):
        record(store, number, ONE)
        record(store, number + 10, TWO, "FAIL")
    record(store, 20, None, "FAIL")
    assert store.runs.find_unsteady(6) == [KEY]

    for repository, verdict, ids in (
        (ONE, "PASS", ["r1", "r2", "r3", "r4"]),
        (TWO, "FAIL", ["r11", "r12", "r13", "r14"]),
        (None, "FAIL", ["r20"]),
    ):
        store.select_repository(repository)
        runs = store.runs
        assert runs.find_unsteady(6) == []
        assert [each.run_id for each in runs.sightings(KEY, 6)] == ids
        assert [each.run_id for each in runs.all_sightings(6, branch="main")[KEY]] == ids
        assert {each.row.verdict for each in runs.last_statuses()} == {verdict}
        assert [each.id for each in runs.list(branch="main")] == ids[::-1]
        assert [each.id for each in runs.list(suite="support")] == ids[::-1]
        assert (runs.count(), runs.count(suite="support"), runs.count(branch="dev")) == (len(ids), len(ids), 0)
        for subject in (Subject(), Subject("support"), Subject(*KEY, branch="main"), Subject(dimension="tone")):
            assert [each.run_id for each in runs.trend(subject)] == ids


def test_a_store_of_one_repository_is_read_whole(store):
    record(store, 1, None)
    record(store, 2, ONE)

    for repository in (ONE, None):
        store.select_repository(repository)
        assert not store.is_shared
        assert [each.id for each in store.runs.list()] == ["r2", "r1"]


def test_a_shell_names_the_repository_where_the_store_has_several(store, store_url):
    record(store, 1, ONE)
    record(store, 2, TWO)
    approve(store, "ada", ONE)
    approve(store, "bob", TWO)

    with pytest.raises(SettingError, match=r"has several repositories \(set EVALGATE_REPOSITORY to the one that is m"):
        require_repository(store, None)
    with pytest.raises(SettingError, match="has several repositories"):
        StoreApprovals(store_url, "/", None).record([], None, None)
    [found] = StoreApprovals(store_url, "/", None, TWO).list()
    assert (found.approval.who, found.provenance.repository) == ("bob", TWO)


def test_an_approval_of_a_shell_is_stored_with_its_repository(store, store_url):
    approve(store, "ada", None)
    [ada] = store.approvals.list()

    StoreApprovals(store_url, "/", None, ONE).record([ada.approval], None, None)

    assert {each.provenance.repository for each in store.approvals.list()} == {None, ONE}


def test_ci_systems_name_the_repository():
    assert find_repository({}) is None
    assert find_repository({"CI_PROJECT_PATH": "acme/group/one"}) == "acme/group/one"
    assert find_repository({"GITHUB_REPOSITORY": ONE, "CI_PROJECT_PATH": "x"}) == ONE
    assert find_repository({"EVALGATE_REPOSITORY": TWO, "GITHUB_REPOSITORY": ONE}) == TWO


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_runs_of_before_get_the_repository_of_their_url(request, tmp_path, kind):
    url = str(tmp_path / "s.db") if kind == "sqlite" else request.getfixturevalue("empty_postgres_url")
    database = Database(parse_store_url(url, "/"))
    zeros = dict.fromkeys(
        ("exit_code", "duration_ms", "evaluated", "passed", "failed", "regressions", "improvements", "degradations"), 0
    )
    row = {"suites": [], "verdict": "pass", "report_only": False, "started_at": NOON, "completed_at": NOON, **zeros}
    row |= {
        "issues": {"by_category": {}, "by_severity": {}, "top": []},
        "approval_status": "pending",
        "approval_comment": "",
    }
    urls = ["https://github.com/acme/one/actions/runs/7", "https://ci.example.com/acme/two/-/jobs/7", None]
    with database.writing() as connection:
        migrate(connection, "0006")
        tables = {
            each: Table(f"evalgate_{each}", MetaData(), autoload_with=connection)
            for each in ("runs", "scenarios", "run_scenarios")
        }
        connection.execute(tables["scenarios"].insert(), {"number": 1, "digest": "d", "suite": "s", "scenario_id": "a"})
        for number, each in enumerate(urls, 1):
            connection.execute(tables["runs"].insert(), {**row, "number": number, "id": f"r{number}", "url": each})
            scenario = {"run": number, "scenario": 1, "position": 0, "verdict": "PASS", "n": 1, "passed": 1}
            scenario |= {"dimensions": {}, "completed_at": NOON}
            connection.execute(tables["run_scenarios"].insert(), scenario)

    with open_store(url, "/") as opened:
        assert {each.id: each.repository for each in opened.runs.list()} == {"r1": ONE, "r2": None, "r3": None}
    with database.reading() as connection:
        query = "SELECT repository FROM evalgate_run_scenarios ORDER BY run"
        assert list(connection.scalars(text(query))) == [ONE, None, None]
    database.close()
