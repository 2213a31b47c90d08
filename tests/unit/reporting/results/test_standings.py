"""What a comparison reads of a run: made from its results, written, and read back as untrusted input."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from damage import ANYTHING, places
from hypothesis import given
from hypothesis import strategies as st
from results_builder import a_scenario, a_suite, a_trial, results

from evalgate.errors import InvalidInput
from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.scenario_outcome import outcomes_from_baseline
from evalgate.models.comparison.baseline_run import build_baseline_run
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.records import replace
from evalgate.reporting.results.standings import (
    build_baseline_from_results,
    dump_standings,
    load_standings,
    standings_of_results,
)

IDENTITY: Any = {"bytes": 12, "crc32": 34}
PRICING = {
    "table": "genai-prices 1",
    "usd": 0.5,
    "known_usd": 0.5,
    "recorded_usd": 0,
    "missing_models": [],
    "usage": None,
}
APPROVAL = {
    "suite": "one",
    "scenario": "a",
    "variant": None,
    "assertion": None,
    "change": None,
    "limit": {"score": 0.5},
    "trace": ["0" * 64],
    "reason": "known",
    "who": "ann",
    "until": "2026-02-01",
    "status": "active",
    "message": "is active",
    "days_left": 30,
    "location": None,
}


def a_document() -> Any:
    one = [
        a_trial(0, tool_calls=["look_up", "pay"], cost_usd=0.5, pricing=PRICING),
        a_trial(1, "failed", tool_calls=[], cost_usd=None, latency_seconds=None, total_tokens=None),
    ]
    one[1]["trace"] |= {"path": one[0]["trace"]["path"], "line": 7, "model": "m", "tools_hash": "a1"}
    suites = [
        a_suite("one", [a_scenario("a", "PARTIAL", trials=one, variant="de"), a_scenario("b", "MISSING")]),
        a_suite("two", [a_scenario("x.json", "ERROR", location=None), a_scenario("c", "LATER")]),
    ]
    return results(suites, approvals=[APPROVAL])


def write_standings(document: Any) -> bytes:
    content = dump_standings(standings_of_results(document), IDENTITY)
    assert content is not None
    return content


def test_standings_of_a_run_equal_its_results():
    document = a_document()
    read_back = build_baseline_run(load_standings(write_standings(document), IDENTITY))
    assert read_back == replace(build_baseline_from_results(document), document=None)
    assert read_back.verdicts == ["PARTIAL", "MISSING", "ERROR", "LATER"]
    assert read_back.find_trials(ScenarioKey("one", "a", "de")) == [
        (0, True, 1.0, 0.5, 2.0, 900, ["look_up", "pay"], ("traces/0.json", None, None), (None, None, None)),
        (1, False, 0.0, None, None, None, [], ("traces/0.json", 7, None), ("m", "a1", None)),
    ]
    assert read_back.find_trials(ScenarioKey("one", "b", None)) == []
    assert read_back.find_trials(ScenarioKey("one", "z", None)) == ()
    assert read_back.find_unreadable_keys() == {("two", "x.json", None)}
    assert read_back.trials.pricing == [PRICING, None, None, None]
    assert read_back.approvals == document["approvals"]


def test_standings_have_no_assertions():
    assert b"assertions" not in write_standings(a_document())


def test_a_column_of_only_nulls_is_null():
    columns = orjson.loads(write_standings(results([a_suite("s", [a_scenario("a")])])))
    assert columns["scenarios"]["variant"] is columns["trials"]["line"] is columns["trials"]["record"] is None


def test_standings_of_traces_that_record_no_agent_have_no_column_for_it():
    columns = orjson.loads(write_standings(results([a_suite("s", [a_scenario("a")])])))
    assert "agents" not in columns
    assert "agent" not in columns["trials"]


def test_a_run_without_scenarios_has_standings_too():
    assert build_baseline_run(load_standings(write_standings(results([])), IDENTITY)).keys == []


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("schema", "evalgate.standings/2", "its schema is 'evalgate.standings/2'"),
        ("created_at", "yesterday", "created_at is not an RFC 3339 time"),
        ("summary", [], "summary is not"),
        ("summary.scenarios", -1, "summary.scenarios is not between"),
        ("approvals.0.suite", 1, r"approvals\[0\].suite is not text"),
        ("texts", {}, "texts is not a list"),
        ("texts.0", 1, "texts holds a value of the wrong type"),
        ("calls.0", "pay", "calls holds a value of the wrong type"),
        ("calls.0.0", None, r"calls\[0\] holds something that is not text"),
        ("suites.0.scenarios", -1, r"suites\[0\].scenarios is not between 0 and 100,000"),
        ("suites.0.scenarios", 3, "scenarios.id has 4 entries, expected 5"),
        ("suites.0.scenarios", 10**9, r"suites\[0\].scenarios is not between"),
        ("scenarios.id.0", None, "scenarios.id holds a value of the wrong type"),
        ("scenarios.verdict.0", 99, "scenarios.verdict holds a value that is not between"),
        ("scenarios.verdict.0", True, "scenarios.verdict holds a value of the wrong type"),
        ("scenarios.score.0", 1.5, "scenarios.score holds a value that is not between 0 and 1"),
        ("scenarios.n.0", -1, "scenarios.n holds a value that is not between"),
        ("scenarios.n.0", 3, "trials.trial has 4 entries, expected 5"),
        ("scenarios.unread.0", 4, "scenarios.unread holds a value that is not between 0 and 3"),
        ("trials.trial", None, "trials.trial is not a list"),
        ("trials.passed.0", 1, "trials.passed holds a value of the wrong type"),
        ("trials.cost_usd.0", 1e30, "trials.cost_usd holds a value that is not between"),
        ("trials.total_tokens.0", 1.5, "trials.total_tokens holds a value of the wrong type"),
        ("trials.tool_calls.0", -1, "trials.tool_calls holds a value that is not between"),
        ("trials.path.0", 99, "trials.path holds a value that is not between"),
        ("trials.line.0", "7", "trials.line holds a value of the wrong type"),
        ("trials.pricing.0", [], "trials.pricing holds a value of the wrong type"),
        ("trials.pricing.0.usd", -1, r"trials.pricing\[0\].usd is not between"),
        ("agents", None, "agents is not a list"),
        ("agents.0", ["m"], r"agents\[0\] is not a list of 3 texts or nulls"),
        ("agents.0.1", 7, r"agents\[0\] is not a list of 3 texts or nulls"),
        ("trials.agent.0", 2, "trials.agent holds a value that is not between"),
        ("trials.agent", [0], "trials.agent has 1 entries, expected 4"),
        ("trials", None, "trials is not an object"),
        ("results.crc32", "34", "results.crc32 is not a whole number"),
        ("results.crc32", 35, "does not belong to the results.json next to it"),
    ],
)
def test_an_invalid_value_is_reported_with_its_location(place: str, value: Any, message: str):
    document: Any = orjson.loads(write_standings(a_document()))
    *path, name = [int(part) if part.isdigit() else part for part in place.split(".")]
    parent = document
    for part in path:
        parent = parent[part]
    parent[name] = value
    with pytest.raises(InvalidInput, match=message):
        load_standings(orjson.dumps(document), IDENTITY)


@given(st.integers(0), ANYTHING | st.integers(-2, 9))
def test_any_value_in_any_field_is_refused_or_can_be_compared(number: int, value: Any):
    document: Any = orjson.loads(write_standings(a_document()))
    every = list(places(document))[1:]
    *way, last = every[number % len(every)]
    parent = document
    for key in way:
        parent = parent[key]
    parent[last] = value
    try:
        run = build_baseline_run(load_standings(orjson.dumps(document), IDENTITY))
    except InvalidInput:
        return
    found = outcomes_from_baseline(run)
    assert all(len(each.trials) == len(run.find_trials(key)) for key, each in found.items())
    assert run.find_unreadable_keys() <= set(run.keys)
    assert compare(found, found, {}).changes.keys() == run.row_by_key.keys()


@pytest.mark.parametrize("name", ["results", "suites", "texts", "calls", "scenarios", "trials", "approvals"])
def test_a_missing_field_is_reported(name: str):
    document: Any = orjson.loads(write_standings(a_document()))
    del document[name]
    with pytest.raises(InvalidInput, match=f"{name} is missing"):
        load_standings(orjson.dumps(document), IDENTITY)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"null", b'{"schema":"evalgate.standings/1"}'])
def test_invalid_standings_are_refused(content: bytes):
    with pytest.raises(
        InvalidInput, match=r"^standings\.json is not (valid JSON: error at|a valid evalgate\.standings/1 document: )"
    ):
        load_standings(content, IDENTITY)


def test_too_many_brackets_are_refused_before_decoding():
    with pytest.raises(InvalidInput, match="more values than any run"):
        load_standings(b'{"calls":[' + b"[]," * 1_000_001 + b"[]]}", IDENTITY)


def unmeasured_document() -> Any:
    outage = {"reason": "the last model call failed: 429", "assertions": [], "score": None}
    trials = [a_trial(0, "not_measured", **outage), a_trial(1, cost_usd=0.5), a_trial(2, "not_measured", **outage)]
    lost = a_scenario("lost", verdict="NOT_EVALUABLE", score=None, trials=[a_trial(0, "not_measured", **outage)])
    return results([a_suite("one", [lost, a_scenario("a", trials=trials)])])


def test_trials_that_an_outage_left_unmeasured_count_as_absent():
    standings: Any = standings_of_results(unmeasured_document())
    assert (standings["scenarios"]["n"], standings["trials"]["trial"]) == ([0, 1], [1])
    assert standings["scenarios"]["unmeasured"] == [0]
    baseline = build_baseline_run(load_standings(dump_standings({**standings}, IDENTITY) or b"", IDENTITY))
    assert [key.id for key in baseline.keys] == ["lost", "a"]
    (outcome,) = outcomes_from_baseline(baseline).values()
    assert (outcome.key.id, outcome.costs, outcome.trials) == ("a", [0.5], [1])


def test_scenario_that_the_baseline_did_not_measure_is_new_and_never_removed():
    baseline = outcomes_from_baseline(build_baseline_from_results(unmeasured_document()))
    now = {ScenarioKey("one", "lost", None): replace(baseline[ScenarioKey("one", "a", None)], verdict="HARD_FAIL")}
    found = compare(now, baseline, {})
    assert [each.kind for each in found.changes.values()] == ["new"]
    assert [each.key.id for each in found.removed] == ["a"]
    assert [each.key.id for each in compare({}, baseline, {}).removed] == ["a"]
