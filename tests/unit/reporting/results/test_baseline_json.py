"""What a comparison reads of a run's results, as untrusted input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from damage import ANYTHING, places
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace
from results_builder import a_scenario, a_suite, a_trial, results

from evalgate.errors import InvalidInput
from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.outcomes import outcomes_from_baseline
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.trial_doc import AgentParts
from evalgate.reporting.results.load_results import convert_baseline_run, load_baseline_run
from evalgate.reporting.results.results_json import dump_results

if TYPE_CHECKING:
    from evalgate.models.results.baseline_run import BaselineRun

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
    one[1].trace = replace(one[1].trace, path=one[0].trace.path, line=7, model="m", tools_hash="a1")
    suites = [
        a_suite("one", [a_scenario("a", "PARTIAL", trials=one, variant="de"), a_scenario("b", "MISSING")]),
        a_suite("two", [a_scenario("x.json", "ERROR", location=None), a_scenario("c", "LATER")]),
    ]
    return orjson.loads(dump_results(results(suites, approvals=[APPROVAL])))


def read(document: Any) -> BaselineRun:
    return load_baseline_run(orjson.dumps(document, default=to_builtins))


def test_a_run_is_read_without_its_assertions():
    document = a_document()
    run = read(document)
    assert run == replace(convert_baseline_run(document), document=None)
    assert [(key.id, entry.verdict) for key, entry in run.entries.items()] == [
        ("a", "PARTIAL"),
        ("b", "MISSING"),
        ("x.json", "ERROR"),
        ("c", "LATER"),
    ]
    first, second = run.find_trials(ScenarioKey("one", "a", "de"))
    assert (first.trial, first.passed, first.cost_usd, first.total_tokens) == (0, True, 0.5, 900)
    assert (first.tool_calls, first.position, first.agent) == (
        ["look_up", "pay"],
        ("traces/0.json", None, None),
        AgentParts(None, None, None),
    )
    assert (second.passed, second.cost_usd, second.position) == (False, None, ("traces/0.json", 7, None))
    assert second.agent == AgentParts("m", "a1", None)
    assert (first.pricing, second.pricing) == (PRICING, None)
    assert run.find_trials(ScenarioKey("one", "b", None)) == []
    assert run.find_trials(ScenarioKey("one", "z", None)) == ()
    assert run.find_unreadable_keys() == {("two", "x.json", None)}
    assert (run.approvals, run.suite_sizes) == (document["approvals"], {"one": 2, "two": 2})


def test_the_document_is_kept_on_request():
    document = a_document()
    kept = load_baseline_run(orjson.dumps(document), "f", whole=True)
    assert kept.document is not None
    assert orjson.loads(dump_results(kept.document))["suites"] == document["suites"]
    assert read(document).document is None


def test_a_run_without_scenarios_is_read_too():
    assert read(results([])).entries == {}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("schema", "evalgate.results/0", "schema has a value that is not allowed"),
        ("schema", "evalgate.results/2", "written by a newer EvalGate: update this one"),
        ("created_at", "yesterday", "created_at is not an RFC 3339 time"),
        ("summary", [], "summary is not an object"),
        ("summary.scenarios", -1, "summary.scenarios has a value that is not allowed"),
        ("approvals.0.suite", 1, r"approvals\[0\].suite is not text"),
        ("suites", {}, "suites is not a list"),
        ("suites.0.scenarios.0.id", None, r"suites\[0\].scenarios\[0\].id is not text"),
        ("suites.0.scenarios.0.score", 1.5, r"scenarios\[0\].score has a value that is not allowed"),
        ("suites.0.scenarios.0.trials", None, r"scenarios\[0\].trials is not a list"),
        ("suites.0.scenarios.0.trials.0.trial", True, r"trials\[0\].trial is not a whole number"),
        ("suites.0.scenarios.0.trials.0.status", 1, r"trials\[0\].status is not text"),
        ("suites.0.scenarios.0.trials.0.cost_usd", 1e30, r"trials\[0\].cost_usd has a value that is not allowed"),
        ("suites.0.scenarios.0.trials.0.total_tokens", 1.5, r"trials\[0\].total_tokens is not a whole number"),
        ("suites.0.scenarios.0.trials.0.tool_calls", ["pay", None], r"trials\[0\].tool_calls"),
        ("suites.0.scenarios.0.trials.0.trace.line", "7", r"trials\[0\].trace.line is not a whole number"),
        ("suites.0.scenarios.0.trials.0.pricing", [], r"trials\[0\].pricing is not an object"),
        ("suites.0.scenarios.0.trials.0.pricing.usd", -1, r"pricing.usd has a value that is not allowed"),
        ("suites.0.scenarios.0.trials.0.trace.tools_hash", 7, r"trials\[0\].trace.tools_hash is not text"),
    ],
)
def test_an_invalid_value_is_reported_with_its_location(place: str, value: Any, message: str):
    document: Any = a_document()
    *path, name = [int(part) if part.isdigit() else part for part in place.split(".")]
    parent = document
    for part in path:
        parent = parent[part]
    parent[name] = value
    with pytest.raises(InvalidInput, match=message):
        read(document)


@given(st.integers(0), ANYTHING | st.integers(-2, 9))
def test_any_value_in_any_field_is_refused_or_can_be_compared(number: int, value: Any):
    document: Any = orjson.loads(orjson.dumps(a_document()))
    every = list(places(document))[1:]
    *way, last = every[number % len(every)]
    parent = document
    for key in way:
        parent = parent[key]
    parent[last] = value
    try:
        run = read(document)
    except InvalidInput:
        return
    found = outcomes_from_baseline(run)
    assert all(len(each.trials) == len(run.find_trials(key)) for key, each in found.items())
    assert run.find_unreadable_keys() <= set(run.entries)
    assert compare(found, found, {}).changes.keys() == found.keys()


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"null", b'{"schema":"evalgate.results/1"}', b"\xff"])
def test_other_content_is_refused(content: bytes):
    with pytest.raises(
        InvalidInput, match=r"^results\.json is not (valid JSON: error at|a valid evalgate\.results/1 document: )"
    ):
        load_baseline_run(content)


def test_too_many_brackets_are_refused_before_decoding():
    with pytest.raises(InvalidInput, match="more values than any run"):
        load_baseline_run(b'{"suites":[' + b"[]," * 3_000_001 + b"[]]}")


def unmeasured_document() -> Any:
    outage = {"reason": "the last model call failed: 429", "assertions": [], "score": None}
    trials = [a_trial(0, "not_measured", **outage), a_trial(1, cost_usd=0.5), a_trial(2, "not_measured", **outage)]
    lost = a_scenario("lost", verdict="NOT_EVALUABLE", score=None, trials=[a_trial(0, "not_measured", **outage)])
    return results([a_suite("one", [lost, a_scenario("a", trials=trials)])])


def test_trials_that_an_outage_left_unmeasured_count_as_absent():
    baseline = read(unmeasured_document())
    assert [(key.id, entry.is_absent) for key, entry in baseline.entries.items()] == [("lost", True), ("a", False)]
    (outcome,) = outcomes_from_baseline(baseline).values()
    assert (outcome.key.id, outcome.costs, outcome.trials) == ("a", [0.5], [1])


def test_scenario_that_the_baseline_did_not_measure_is_new_and_never_removed():
    baseline = outcomes_from_baseline(convert_baseline_run(unmeasured_document()))
    now = {ScenarioKey("one", "lost", None): replace(baseline[ScenarioKey("one", "a", None)], verdict="HARD_FAIL")}
    found = compare(now, baseline, {})
    assert [each.kind for each in found.changes.values()] == ["new"]
    assert [each.key.id for each in found.removed] == ["a"]
    assert [each.key.id for each in compare({}, baseline, {}).removed] == ["a"]
