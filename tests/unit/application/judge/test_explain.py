"""Which scenario a query selects, and what a given baseline adds."""

from __future__ import annotations

import pytest
from builders import make_trace
from fakes.core import MemoryBaselines, TraceList
from results_builder import a_baseline, a_change, a_scenario, a_suite, a_trial, results

from evalgate.application.judge.compare_finished import explain
from evalgate.application.judge.explained_scenarios import ExplainRequest
from evalgate.errors import SettingError
from evalgate.models.comparison.trajectory import ValueDifference

SUITES = [
    a_suite("support", [a_scenario("refund"), a_scenario("cancel"), a_scenario("greet", variant="gpt")]),
    a_suite("sales", [a_scenario("cancel"), a_scenario("greet", variant="gpt"), a_scenario("greet", variant="o3")]),
]
REMOVED = [{"suite": "support", "id": "old", "variant": None, "verdict": "PASS", "score": 1.0}]


def find_scenario(*query, suites=SUITES):
    found = explain(MemoryBaselines(r=results(suites, removed=REMOVED)), TraceList(), ExplainRequest(*query), "r", None)
    return (found.suite and found.suite["suite"], (found.scenario or found.removed or {}).get("id"))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (("refund",), ("support", "refund")),
        (("cancel", "sales"), ("sales", "cancel")),
        (("greet", "sales", "o3"), ("sales", "greet")),
        (("greet", None, "o3"), ("sales", "greet")),
        (("old",), (None, "old")),
        (("old", "support"), (None, "old")),
    ],
)
def test_a_scenario_is_found_by_id_suite_and_variant(query, expected):
    assert find_scenario(*query) == expected


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        (("refnd",), "no suite of r has scenario `refnd`", "did you mean `refund`?"),
        (("cancel",), "2 scenarios have this id", "add one of: --suite support; --suite sales"),
        (
            ("greet",),
            "3 scenarios have this id",
            "add one of: --suite support --variant gpt; --suite sales --variant gpt; --suite sales --variant o3",
        ),
        (("refund", "suport"), "r has no suite `suport`", "did you mean `support`?"),
        (("refund", "sales"), "suite `sales` has no scenario `refund`", "known: cancel, greet"),
        (("refund", "support", "x"), "scenario `refund` has no variant `x` in these results", None),
        (("old", "sales"), "suite `sales` has no scenario `old`", "known: cancel, greet"),
    ],
)
def test_an_unknown_or_ambiguous_scenario_is_an_error_with_a_hint(query, message, hint):
    with pytest.raises(SettingError) as caught:
        find_scenario(*query)
    (problem,) = caught.value.problems
    assert (problem.message, problem.hint) == (message, hint)


def test_many_scenarios_with_one_id_are_counted():
    suites = [a_suite(f"s{number}", [a_scenario("a")]) for number in range(40)]
    with pytest.raises(SettingError) as caught:
        find_scenario("a", suites=suites)
    assert str(caught.value.problems[0].hint).endswith("and 30 more")


def test_an_id_that_looks_like_a_secret_is_found():
    suites = [a_suite("support", [a_scenario("login password=[redacted: password]")])]
    assert find_scenario("login password=hunter2secret", suites=suites)[0] == "support"


def test_without_a_baseline_the_comparison_of_the_run_is_shown():
    change = a_change("broken", reason="as the run reported")
    suites = [a_suite("support", [a_scenario("refund", "FAIL", change)])]
    found = explain(MemoryBaselines(r=results(suites)), TraceList(), ExplainRequest("refund"), "r", None)
    assert found.scenario["change"] is change
    assert list(found.warnings) == []


def make_baselines(**own):
    """Stores a broken run, its baseline.zip and the zip of its baseline, with the given traces."""
    before = [a_suite("support", [a_scenario("refund")])]
    now = [a_suite("support", [a_scenario("refund", "FAIL", trials=[a_trial(0, "failed")])])]
    run = results(now, "fail")
    baselines = MemoryBaselines(
        **{"b.zip": results(before), "out/r.json": run, "out/baseline.zip": own.pop("left", run)}
    )
    for name, path in (("before", "b.zip"), ("now", "out/baseline.zip")):
        baselines.stored[path] = own.get(name, [make_trace([("pay", {"for": name})], path="traces/0.json")])
    return baselines


def test_with_a_baseline_the_traces_of_both_runs_are_compared():
    found = explain(make_baselines(), TraceList(), ExplainRequest("refund"), "out/r.json", "b.zip")
    change = found.scenario["change"]
    assert change["kind"] == "broken"
    assert change["behaviour"].steps[0].changes == [ValueDifference("for", '"before"', '"now"')]
    assert found.document["command"] == "evalgate run suite.yaml"
    assert list(found.warnings) == []


def explain_own(*, change="broken", **fields):
    """Explains a run by the baseline that it names itself."""
    baselines = make_baselines()
    document = baselines.load("out/r.json").results
    baselines.load("b.zip").results["summary"]["score"] = fields.pop("score", 1.0)
    document["baseline"] = a_baseline(
        "given", path="b.zip", summary=results([a_suite("support", [a_scenario("refund")])])["summary"]
    )
    document["suites"][0]["scenarios"][0].update(change=a_change(change, reason="as the run reported"))
    document["baseline"].update(fields)
    return explain(baselines, TraceList(), ExplainRequest("refund"), "out/r.json", None)


@pytest.mark.parametrize("change", ["broken", "unchanged"])
def test_without_a_baseline_the_traces_are_compared_with_those_of_the_runs_own(change):
    found = explain_own(change=change)
    assert found.scenario["change"]["reason"] == "as the run reported"
    assert found.scenario["change"]["behaviour"].steps[0].changes == [ValueDifference("for", '"before"', '"now"')]


@pytest.mark.parametrize("fields", [{"score": 0.5}, {"path": "gone.zip"}, {"path": None}, {"summary": None}])
def test_another_baseline_in_the_place_of_the_runs_own_is_not_compared(fields):
    found = explain_own(**fields)
    assert "behaviour" not in found.scenario["change"]
    assert list(found.warnings) == []


@pytest.mark.parametrize(
    ("own", "lack"),
    [
        ({"before": []}, "the baseline holds no trace of it"),
        ({"now": []}, "baseline.zip next to these results holds no trace of it"),
        (
            {"left": results([a_suite("support", [a_scenario()])], created_at="2026-02-02T00:00:00Z")},
            "baseline.zip next to these results holds no trace of it",
        ),
    ],
)
def test_without_a_trace_call_names_are_compared_with_a_warning(own, lack):
    found = explain(make_baselines(**own), TraceList(), ExplainRequest("refund"), "out/r.json", "b.zip")
    assert [problem.message for problem in found.warnings] == [f"arguments and answers are not compared: {lack}"]
    assert found.scenario["change"]["calls"].current == ["lookup_order"]


def test_a_scenario_missing_from_the_baseline_is_new():
    baselines = make_baselines()
    baselines.put("b.zip", MemoryBaselines(x=results([a_suite("support", [a_scenario("other")])])).load("x"))
    found = explain(baselines, TraceList(), ExplainRequest("refund"), "out/r.json", "b.zip")
    assert found.scenario["change"]["kind"] == "new"
    assert explain(baselines, TraceList(), ExplainRequest("other"), "out/r.json", "b.zip").removed["id"] == "other"
