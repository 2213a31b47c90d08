"""Which scenario a person means, and what is added where a baseline is named."""

from __future__ import annotations

import pytest
from builders import make_trace
from fakes.core import BaselineShelf
from results_builder import a_change, a_scenario, a_suite, a_trial, results

from evalgate.application.judge.explain import ExplainRequest, explain
from evalgate.errors import SettingError

SUITES = [
    a_suite("support", [a_scenario("refund"), a_scenario("cancel"), a_scenario("greet", variant="gpt")]),
    a_suite("sales", [a_scenario("cancel"), a_scenario("greet", variant="gpt"), a_scenario("greet", variant="o3")]),
]
REMOVED = [{"suite": "support", "id": "old", "variant": None, "verdict": "PASS", "score": 1.0}]


def looked_up(*asked, suites=SUITES):
    found = explain(BaselineShelf(r=results(suites, removed=REMOVED)), ExplainRequest(*asked), "r", None)
    return (found.suite and found.suite["suite"], (found.scenario or found.removed or {}).get("id"))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (("refund",), ("support", "refund")),
        (("cancel", "sales"), ("sales", "cancel")),
        (("greet", "sales", "o3"), ("sales", "greet")),
        (("greet", None, "o3"), ("sales", "greet")),
        (("old",), (None, "old")),
        (("old", "support"), (None, "old")),
    ],
)
def test_a_scenario_is_found_by_what_is_said_of_it(asked, expected):
    assert looked_up(*asked) == expected


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        (("refnd",), "these results have no scenario `refnd`", "did you mean `refund`?"),
        (("cancel",), "2 scenarios have this id", "add one of: --suite support; --suite sales"),
        (
            ("greet",),
            "3 scenarios have this id",
            "add one of: --suite support --variant gpt; --suite sales --variant gpt; --suite sales --variant o3",
        ),
        (("refund", "suport"), "these results have no suite `suport`", "did you mean `support`?"),
        (("refund", "sales"), "these results have no scenario `refund`", "known: cancel, greet"),
        (("refund", "support", "x"), "scenario `refund` has no variant `x` here", None),
        (("old", "sales"), "these results have no scenario `old`", "known: cancel, greet"),
    ],
)
def test_a_scenario_that_is_not_clear_is_a_mistake_with_its_remedy(asked, message, hint):
    with pytest.raises(SettingError) as caught:
        looked_up(*asked)
    (problem,) = caught.value.problems
    assert (problem.message, problem.hint) == (message, hint)


def test_very_many_of_one_id_are_counted():
    suites = [a_suite(f"s{number}", [a_scenario("a")]) for number in range(40)]
    with pytest.raises(SettingError) as caught:
        looked_up("a", suites=suites)
    assert str(caught.value.problems[0].hint).endswith("and 30 more")


def test_an_id_that_reads_like_a_secret_is_found_by_itself():
    suites = [a_suite("support", [a_scenario("login password=[redacted: password]")])]
    assert looked_up("login password=hunter2secret", suites=suites)[0] == "support"


def test_without_a_baseline_the_runs_own_comparison_stands():
    change = a_change("broken", reason="as the run said")
    suites = [a_suite("support", [a_scenario("refund", "FAIL", change)])]
    found = explain(BaselineShelf(r=results(suites)), ExplainRequest("refund"), "r", None)
    assert found.scenario["change"] is change
    assert list(found.warnings) == []


def a_shelf(**own):
    """A run that broke, the zip it left beside its results, and a baseline; traces as given by name."""
    before = [a_suite("support", [a_scenario("refund")])]
    now = [a_suite("support", [a_scenario("refund", "FAIL", trials=[a_trial(0, "failed")])])]
    run = results(now, "fail")
    shelf = BaselineShelf(**{"b.zip": results(before), "out/r.json": run, "out/baseline.zip": own.pop("left", run)})
    for name, path in (("before", "b.zip"), ("now", "out/baseline.zip")):
        shelf.stored[path] = own.get(name, [make_trace([("pay", {"for": name})], path="traces/0.json")])
    return shelf


def test_with_a_baseline_the_recordings_of_both_are_compared():
    found = explain(a_shelf(), ExplainRequest("refund"), "out/r.json", "b.zip")
    change = found.scenario["change"]
    assert change["kind"] == "broken"
    assert change["behaviour"]["steps"][0]["changes"] == [{"path": "for", "before": '"before"', "now": '"now"'}]
    assert found.document["command"] == "evalgate run suite.yaml"
    assert list(found.warnings) == []


@pytest.mark.parametrize(
    ("own", "lack"),
    [
        ({"before": []}, "the baseline keeps no recording of it"),
        ({"now": []}, "baseline.zip beside these results keeps no recording of it"),
        (
            {"left": results([a_suite("support", [a_scenario()])], created_at="2026-02-02T00:00:00Z")},
            "baseline.zip beside these results keeps no recording of it",
        ),
    ],
)
def test_where_a_recording_is_not_at_hand_names_are_told_and_a_warning(own, lack):
    found = explain(a_shelf(**own), ExplainRequest("refund"), "out/r.json", "b.zip")
    assert [problem.message for problem in found.warnings] == [f"arguments and answers are not compared: {lack}"]
    assert found.scenario["change"]["calls"]["now"] == ["lookup_order"]


def test_a_scenario_that_the_baseline_lacks_is_new():
    shelf = a_shelf()
    shelf.put("b.zip", BaselineShelf(x=results([a_suite("support", [a_scenario("other")])])).load("x"))
    found = explain(shelf, ExplainRequest("refund"), "out/r.json", "b.zip")
    assert found.scenario["change"]["kind"] == "new"
    assert explain(shelf, ExplainRequest("other"), "out/r.json", "b.zip").removed["id"] == "other"
