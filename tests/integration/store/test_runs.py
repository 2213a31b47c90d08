"""Runs in a store: recorded whole or not at all, listed, followed over time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from msgspec.structs import replace

from evalgate.errors import SettingError
from evalgate.features.store.ports import Page, Subject
from evalgate.models.comparison.comparison import ChangeKind, ScenarioKey
from evalgate.models.history.stored_run import (
    RunApproval,
    RunFacts,
    RunIssues,
    RunTotals,
    StoredRun,
    StoredScenarioRow,
    StoredSuiteRow,
)
from evalgate.models.run.golden import Golden, Issue
from evalgate.models.run.run import Verdict

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEY = ScenarioKey("refunds", "late", None)


def run(number=1, *, branch="main", suite="refunds", scenarios=None, **facts):
    """A run that ended `number` hours after noon."""
    fields = {
        "id": f"r{number}",
        "suites": (suite,),
        "verdict": "pass",
        "exit_code": 0,
        "started_at": NOON + timedelta(hours=number, minutes=-1),
        "completed_at": NOON + timedelta(hours=number),
        "duration_ms": 60_000,
        "branch": branch,
        "commit": f"{number:040x}",
        "score": number / 100,
    }
    rows = scenarios if scenarios is not None else (scenario(score=number / 100),)
    return StoredRun(
        RunFacts(**fields | facts),
        (StoredSuiteRow(suite, "pass", score=number / 100, dimensions={"tone_adherence": number / 10}),),
        tuple(rows),
        b'{"schema": "evalgate.results/1"}',
    )


def scenario(key=KEY, verdict="PASS", **changes):
    return StoredScenarioRow(key, verdict, **{"n": 1, "passed": 1} | changes)


def test_a_run_comes_back_whole(store):
    whole = StoredRun(
        RunFacts(
            id="r1",
            suites=("refunds", "night"),
            verdict="fail",
            exit_code=1,
            started_at=NOON,
            completed_at=NOON + timedelta(seconds=3),
            duration_ms=3_000,
            branch="main",
            commit="ab" * 20,
            pull_request=12,
            url="https://example.com/runs/1",
            report_only=True,
            totals=RunTotals(3, 2, 1, 0.7, 1, 0, 1),
            score=0.7,
            pass_rate=2 / 3,
            cost_usd=0.0123456789,
            total_tokens=1234,
            latency_p50_s=0.5,
            latency_p95_s=2.5,
            issues=RunIssues({"tone": 2}, {"error": 2}, (Issue("tone", "error", "curt", "no", 0),)),
            approval=RunApproval("approved", "ada", "known", NOON),
        ),
        (
            StoredSuiteRow("refunds", "fail", 0.5, 0.5, 0.01, 900, 0.4, 2.0, {"tone_adherence": 0.5, "memory_recall": None}),
            StoredSuiteRow("night", "cannot_judge"),
        ),
        (
            scenario(ScenarioKey("refunds", "b", "fast"), "FAIL", score=0.4, n=3, passed=1, pass_rate=1 / 3,
                     dimensions={"tone_adherence": 0.5}, cost_usd=0.01, latency_s=1.5, tokens=12.5, change="broken",
                     trace_sha256="cd" * 32, quarantined=True),
            scenario(ScenarioKey("refunds", "a", None), "MISSING", n=0, passed=0),
        ),
        b'{"schema": "evalgate.results/1", "suites": []}' * 1000,
    )  # fmt: skip

    assert store.runs.record(whole)

    assert store.runs.get("r1") == whole
    assert store.runs.list() == [whole.facts]
    assert store.runs.get("r2") is None


def test_the_same_run_is_stored_once(store, evaluation):
    store.goldens.create(Golden("refund"))

    assert store.runs.record(run(1), [evaluation(run_id="r1")])
    assert not store.runs.record(run(1, verdict="fail"), [evaluation(run_id="r1")])

    assert store.runs.list() == [run(1).facts]
    assert len(store.evaluations.list(run_id="r1")) == 1


def test_a_run_is_stored_with_its_evaluations_or_not_at_all(store, evaluation):
    with pytest.raises(SettingError, match="there is no golden `refund`"):
        store.runs.record(run(1), [evaluation(run_id="r1")])

    assert store.runs.list() == []
    assert store.runs.last_status(KEY) is None


def test_deleting_a_run_deletes_its_evaluations(store, evaluation):
    store.goldens.create(Golden("refund"))
    store.runs.record(run(1), [evaluation(run_id="r1")])
    store.evaluations.create(evaluation(id="alone"))

    assert store.runs.delete("r1")

    assert [each.id for each in store.evaluations.list()] == ["alone"]
    assert store.runs.last_status(KEY) is None
    assert not store.runs.delete("r1")


def test_runs_are_listed_the_newest_first_by_suite_branch_and_time(store):
    for number, branch, suite in (
        (2, "main", "refunds"),
        (1, "dev", "refunds"),
        (3, "main", "night"),
        (4, None, "night"),
    ):
        store.runs.record(run(number, branch=branch, suite=suite))

    def ids(found):
        return [each.id for each in found]

    assert ids(store.runs.list()) == ["r4", "r3", "r2", "r1"]
    assert ids(store.runs.list(Page(2, 1))) == ["r3", "r2"]
    assert ids(store.runs.list(suite="refunds")) == ["r2", "r1"]
    assert ids(store.runs.list(branch="main")) == ["r3", "r2"]
    assert ids(store.runs.list(suite="refunds", branch="main")) == ["r2"]
    assert ids(store.runs.list(suite="unheard")) == []
    hours = [NOON + timedelta(hours=hour) for hour in (2, 4)]
    assert ids(store.runs.list(since=hours[0], until=hours[1])) == ["r3", "r2"]
    assert ids(store.runs.list(suite="night", since=hours[1])) == ["r4"]
    assert store.runs.count() == 4
    assert store.runs.count(suite="night") == 2
    assert store.runs.count(branch="main") == 2
    assert store.runs.count(suite="night", branch="main") == 1


def test_runs_that_ended_at_once_keep_their_order(store):
    for name in ("b", "a", "c"):
        store.runs.record(run(1, id=name))

    assert [each.id for each in store.runs.list()] == ["c", "a", "b"]
    assert store.runs.last_status(KEY).run_id == "c"
    assert [each.run_id for each in store.runs.last_statuses()] == ["c"]
    assert [each.run_id for each in store.runs.sightings(KEY, 2)] == ["a", "c"]
    assert [each.run_id for each in store.runs.all_sightings(2)[KEY]] == ["a", "c"]
    assert store.runs.all_sightings(0) == {}


def test_trends_of_runs_suites_and_scenarios_are_the_last_ones_oldest_first(store):
    for number in (3, 1, 4, 2):
        store.runs.record(run(number, branch="main" if number != 4 else "dev"))

    def scores(subject, limit=20):
        return [point.score for point in store.runs.trend(subject, limit)]

    assert scores(Subject()) == [0.01, 0.02, 0.03, 0.04]
    assert scores(Subject(), 2) == [0.03, 0.04]
    assert scores(Subject(branch="main"), 2) == [0.02, 0.03]
    assert scores(Subject("refunds")) == [0.01, 0.02, 0.03, 0.04]
    assert scores(Subject("refunds", branch="dev")) == [0.04]
    assert scores(Subject("refunds", "late"), 3) == [0.02, 0.03, 0.04]
    assert scores(Subject("refunds", "late", branch="main"), 1) == [0.03]
    assert scores(Subject("refunds", "unheard")) == []
    assert scores(Subject("unheard")) == []


def test_a_point_of_a_trend_says_which_run_it_is(store):
    store.runs.record(run(1, pass_rate=0.5, cost_usd=0.25, latency_p50_s=1.5))

    (point,) = store.runs.trend(Subject())

    assert (point.run_id, point.branch, point.commit) == ("r1", "main", f"{1:040x}")
    assert (point.verdict, point.pass_rate, point.cost_usd, point.latency_s) == ("pass", 0.5, 0.25, 1.5)
    assert point.at == NOON + timedelta(hours=1)
    assert point.dimension is None


def test_trends_of_a_dimension(store):
    store.runs.record(run(1, scenarios=[scenario(dimensions={"memory_recall": 0.25})]))
    two = run(2)
    store.runs.record(
        replace(two, suites=(*two.suites, StoredSuiteRow("night", "pass", dimensions={"tone_adherence": 1.0})))
    )

    def read_dimensions(subject):
        return [point.dimension for point in store.runs.trend(subject)]

    assert read_dimensions(Subject(dimension="tone_adherence")) == [0.1, 0.6]
    assert read_dimensions(Subject("refunds", dimension="tone_adherence")) == [0.1, 0.2]
    assert read_dimensions(Subject("night", dimension="tone_adherence")) == [1.0]
    assert read_dimensions(Subject("refunds", "late", dimension="memory_recall")) == [0.25, None]
    assert read_dimensions(Subject(dimension="unheard")) == [None, None]


def test_the_last_status_is_that_of_the_last_run_with_the_scenario(store):
    store.runs.record(run(1, scenarios=[scenario(verdict="FAIL")]))
    store.runs.record(run(3, branch="dev", scenarios=[scenario(verdict="ERROR")]))
    store.runs.record(run(2, scenarios=[scenario(), scenario(ScenarioKey("refunds", "late", "fast"), "PARTIAL")]))
    store.runs.record(run(4, scenarios=[]))

    assert store.runs.last_status(KEY).row.verdict == "ERROR"
    assert store.runs.last_status(KEY, "main").row.verdict == "PASS"
    assert store.runs.last_status(KEY, "main").run_id == "r2"
    assert store.runs.last_status(KEY, "unheard") is None
    assert store.runs.last_status(ScenarioKey("refunds", "late", "fast")).row.verdict == "PARTIAL"
    assert store.runs.last_status(ScenarioKey("refunds", "late", "")) is None


def test_last_statuses_list_every_scenario_once(store):
    keys = [ScenarioKey(suite, name, None) for suite, name in (("b", "x"), ("a", "y"), ("a", "x"))]
    store.runs.record(run(1, scenarios=[scenario(key, "FAIL") for key in keys]))
    store.runs.record(run(2, branch="dev", scenarios=[scenario(keys[1])]))

    def read_statuses(**asked):
        return [(each.row.key.suite, each.row.key.id, each.row.verdict) for each in store.runs.last_statuses(**asked)]

    assert read_statuses() == [("a", "x", "FAIL"), ("a", "y", "PASS"), ("b", "x", "FAIL")]
    assert read_statuses(suite="a") == [("a", "x", "FAIL"), ("a", "y", "PASS")]
    assert read_statuses(branch="main") == [("a", "x", "FAIL"), ("a", "y", "FAIL"), ("b", "x", "FAIL")]
    assert read_statuses(branch="dev") == [("a", "y", "PASS")]
    assert read_statuses(page=Page(1, 1)) == [("a", "y", "PASS")]


def test_sightings_are_the_last_ones_oldest_first(store):
    other = ScenarioKey("refunds", "early", None)
    for number, verdict in ((1, "PASS"), (2, "FAIL"), (3, "PASS"), (4, "PASS")):
        branch = "dev" if number == 4 else "main"
        store.runs.record(run(number, branch=branch, scenarios=[scenario(verdict=verdict), scenario(other, n=5)]))

    def read_verdicts(found):
        return [(each.run_id, each.row.verdict) for each in found]

    assert read_verdicts(store.runs.sightings(KEY, 3)) == [("r2", "FAIL"), ("r3", "PASS"), ("r4", "PASS")]
    assert read_verdicts(store.runs.sightings(KEY, 2, "main")) == [("r2", "FAIL"), ("r3", "PASS")]
    every = store.runs.all_sightings(2, branch="main")
    assert list(every) == [other, KEY]
    assert read_verdicts(every[KEY]) == [("r2", "FAIL"), ("r3", "PASS")]
    assert every[KEY] == store.runs.sightings(KEY, 2, "main")
    assert store.runs.all_sightings(2, suite="unheard") == {}


def test_a_decision_about_a_run_is_kept(store):
    store.runs.record(run(1))
    decided = RunApproval("rejected", "grace", "not this one", NOON)

    assert store.runs.decide("r1", decided)

    assert store.runs.get("r1").facts.approval == decided
    assert not store.runs.decide("r2", decided)


def test_every_verdict_and_every_change_of_a_scenario_is_accepted(store):
    for number, verdict in enumerate(get_args(Verdict)):
        store.runs.record(run(number, scenarios=[scenario(verdict=verdict)]))
        assert store.runs.last_status(KEY).row.verdict == verdict
    for number, kind in enumerate(get_args(ChangeKind), 10):
        store.runs.record(run(number, scenarios=[scenario(change=kind)]))
        assert store.runs.last_status(KEY).row.change == kind


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        (run(1, verdict="splendid"), "run verdict is known"),
        (run(1, score=1.1), "run score is 0 to 1"),
        (run(1, scenarios=[scenario(verdict="GOOD")]), "run scenario verdict is known"),
        (run(1, scenarios=[scenario(change="worse")]), "run scenario change is known"),
        (run(1, scenarios=[scenario(score=2.0)]), "run scenario score is 0 to 1"),
        (run(1, approval=RunApproval("maybe")), "run approval status is known"),  # type: ignore[arg-type]
    ],
    ids=["verdict", "score", "scenario", "change", "scenario-score", "approval"],
)
def test_a_run_with_an_invalid_verdict_or_score_is_refused(store, made, rule):
    with pytest.raises(SettingError, match=rule):
        store.runs.record(made)
    assert store.runs.list() == []


def test_the_longest_ids_of_scenarios_are_kept_apart(store):
    keys = [ScenarioKey("refunds", "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 511 + end, "v" * 512) for end in "ab"]
    store.runs.record(run(1, scenarios=[scenario(keys[0]), scenario(keys[1], "FAIL")]))

    assert [store.runs.last_status(key).row.verdict for key in keys] == ["PASS", "FAIL"]
    assert store.runs.last_status(keys[0]).row.key == keys[0]


def test_a_name_too_long_for_an_index_is_refused_with_a_clear_message(store):
    with pytest.raises(SettingError, match="a name in a store may have at most 512 bytes"):
        store.runs.record(run(1, branch="b" * 513))
    assert store.runs.list() == []


def test_damaged_results_are_reported(store, store_url):
    from sqlalchemy import text

    from evalgate.features.store.adapters.database import Database
    from evalgate.features.store.adapters.store_url import parse_store_url

    store.runs.record(run(1))
    database = Database(parse_store_url(store_url, "/"))
    with database.writing() as connection:
        connection.execute(text("UPDATE evalgate_run_results SET results = :bytes"), {"bytes": b"zip"})
    database.close()

    with pytest.raises(SettingError, match="the results of a stored run are damaged"):
        store.runs.get("r1")
    assert store.runs.list() == [run(1).facts]
