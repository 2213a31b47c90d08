"""A store that fails midway is a warning, whatever the query."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from results_builder import a_change, a_scenario, a_suite, results, some_calls

from evalgate.application.documents.run_identity import run_identity
from evalgate.errors import SettingError, StoreUnreachable
from evalgate.features.store.application.history.run_record import RunContext, build_stored_run
from evalgate.features.store.application.history.run_recorder import MAX_UNSTEADY, RunRecorder, history_of
from evalgate.models.comparison.comparison import Cause, ScenarioKey
from evalgate.models.history.stored_run import ScenarioHistoryEntry, StoredScenarioRow
from evalgate.reporting.results.results_json import dump_results

NOW = datetime(2026, 3, 1, tzinfo=UTC)
AROUND = RunContext("main", "7", history_branch="main")


class Clock:
    """Advances by one second per call."""

    def __init__(self):
        self._seconds = 0

    def now(self):
        self._seconds += 1
        return NOW + timedelta(seconds=self._seconds)


class Runs:
    """A run repository in which one query fails; it keeps only what is recorded."""

    def __init__(self, trouble=None, scenarios=0):
        self.trouble, self.scenarios, self.kept = trouble, scenarios, []

    def _fail(self, what):
        if self.trouble and self.trouble[0] == what:
            raise self.trouble[1]

    def trend(self, *_):
        self._fail("trend")
        return []

    def find_unsteady(self, _window, **_):
        return [ScenarioKey("s", f"{n}", None) for n in range(self.scenarios)]

    def sightings(self, key, _window, _branch):
        return [ScenarioHistoryEntry("r", NOW, "main", None, StoredScenarioRow(key, "PASS"))]

    def record(self, run, evaluations=()):
        self._fail("record")
        is_new = run.facts.id not in [each.facts.id for each in self.kept]
        self.kept.append(run)
        return is_new


class NoApprovals:
    def active(self, _today, **_):
        return []


class Store:
    approvals = NoApprovals()
    is_shared = False
    display_url = "postgresql://db/evalgate"

    def __init__(self, runs):
        self.runs, self.is_open = runs, True

    def close(self):
        self.is_open = False


def save(memory, verdict="pass"):
    """The notes of saving a run of one scenario."""
    document = results([a_suite("support", [a_scenario()])], verdict)
    return [tuple(note) for note in memory.deliver(dump_results(document), document).notes]


@pytest.mark.parametrize("error", [StoreUnreachable("it is gone"), SettingError("it is damaged")])
def test_an_error_midway_is_a_warning_and_the_store_is_closed(error):
    store = Store(Runs(("record", error)))
    memory = RunRecorder(store, Clock(), AROUND)
    assert save(memory) == [("warning", f"the run was not stored: {error}")]
    assert not store.is_open


def test_an_error_before_the_run_is_a_warning_and_the_run_continues():
    memory = RunRecorder(Store(Runs(("trend", StoreUnreachable("it is gone")))), Clock(), AROUND)
    assert memory.load() == (None, ())
    stored, warning = save(memory)
    assert stored[1].startswith("stored in postgresql://db/evalgate as run ")
    assert warning == ("warning", "the history and the stored approvals are not available: it is gone")


def test_a_store_that_could_not_be_opened_adds_one_warning_only():
    memory = RunRecorder(None, Clock(), AROUND, "no store")
    assert memory.load() == (None, ())
    assert save(memory) == [("warning", "no store")]


def test_a_run_with_invalid_input_is_not_stored():
    runs = Runs()
    memory = RunRecorder(Store(runs), Clock(), AROUND)
    assert save(memory, "invalid") == []
    assert runs.kept == []


def test_a_run_is_stored_once_with_its_time():
    runs = Runs()
    memory = RunRecorder(Store(runs), Clock(), AROUND)
    assert save(memory)[0][1].startswith("stored in")
    assert save(memory)[0][1].startswith("not stored again in")
    facts = runs.kept[0].facts
    assert (facts.branch, facts.duration_ms) == ("main", 1000)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_stability_is_reported_for_a_bounded_number_of_scenarios(more):
    scenarios = history_of(Store(Runs(scenarios=MAX_UNSTEADY + more)), None).scenarios
    assert len(scenarios) == min(MAX_UNSTEADY, MAX_UNSTEADY + more)


def record(**changes):
    document = {**results([a_suite("support", [a_scenario()])], "pass"), **changes}
    return build_stored_run(document, dump_results(document), AROUND, NOW, NOW)


@pytest.mark.parametrize(
    "changes",
    [{"created_at": "2027-01-01T00:00:00Z"}, {"command": "another"}, {"warnings": []}, {"approvals": []}],
)
def test_the_time_of_a_run_does_not_change_its_identity(changes):
    assert record(**changes).facts.id == record().facts.id


def test_other_results_or_another_workflow_run_change_the_identity():
    document = results([a_suite("support", [a_scenario("other")])], "pass")
    ids = {
        record().facts.id,
        record(commit="f" * 40).facts.id,
        run_identity(document, "7"),
        run_identity(document, "8"),
    }
    assert len(ids) == 4


def test_the_records_of_a_run_do_not_change_its_identity():
    change = a_change("broken", calls=some_calls(["a"], ["b"]), cause=Cause("agent", "it changed", None, None))
    document = results([a_suite("support", [a_scenario("refund", "FAIL", change)])])
    assert run_identity(document, "7") == run_identity(json.loads(dump_results(document)), "7")


def test_an_unknown_verdict_is_stored_as_not_evaluable():
    document = results([a_suite("support", [a_scenario(verdict="PASS")])], "pass")
    document["suites"][0]["scenarios"][0]["verdict"] = "LATER"
    assert build_stored_run(document, b"", AROUND, NOW, NOW).scenarios[0].verdict == "NOT_EVALUABLE"
