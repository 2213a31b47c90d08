from __future__ import annotations

from results_builder import a_change, a_reason, a_scenario, a_suite, a_trial, an_assertion, results

from evalgate.models.github import Annotation
from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.ci.annotations import MAX_PER_LEVEL, build_annotations


def failing(verdict="fail", **changes):
    scenarios = [
        a_scenario("fine"),
        a_scenario("soft", "FAIL"),
        a_scenario("gone", "MISSING", reason="no trace has this id"),
        a_scenario("bad", "HARD_FAIL", a_change("broken")),
    ]
    reasons = [a_reason("hard_fail", "bad failed", suite="s", scenario="bad", variant=None)]
    return results([a_suite("s", scenarios, "fail")], verdict, reasons=reasons, **changes)


def test_annotations__failures__point_to_the_line_of_the_failing_assertion():
    assert build_annotations(failing())[0] == Annotation(
        "error",
        "bad: HARD FAIL and broken",
        "check: response.content lacks 'refund'",
        "evals/support.yaml",
        12,
        9,
    )


def test_annotations__scenario_without_trace__points_to_the_line_of_the_scenario():
    found = build_annotations(failing())[1]
    assert (found.title, found.message, found.line) == ("gone: MISSING", "no trace has this id", 7)


def test_annotations__failure_not_in_fail_on__is_a_warning():
    assert [(each.level, each.title) for each in build_annotations(failing())][2:] == [("warning", "soft: FAIL")]


def test_annotations__nothing_is_blocked__has_no_errors():
    assert {each.level for each in build_annotations(failing("pass"))} == {"warning"}
    assert {each.level for each in build_annotations(failing("fail", report_only=True))} == {"warning"}


def test_annotations__error_in_a_suite__points_to_its_location():
    location = LocationDoc("s.yaml", 3, 5)
    document = results([], "invalid", reasons=[a_reason("invalid_suite", "unknown key", location=location)])
    assert build_annotations(document) == [
        Annotation("error", "EvalGate: invalid suite", "unknown key", "s.yaml", 3, 5)
    ]


def test_annotations__clean_run__has_no_annotations():
    assert build_annotations(results([a_suite("s", [a_scenario()])])) == []


def test_annotations__required_check__comes_before_one_of_higher_weight():
    checks = [an_assertion("heavy", "failed", weight=9.0), an_assertion("needed", "failed", required=True)]
    scenario = a_scenario("a", "HARD_FAIL", trials=[a_trial(0, "hard_fail", assertions=checks)])
    assert build_annotations(results([a_suite("s", [scenario])]))[0].message.startswith("needed: ")


def test_annotations__thousands_of_different_failures__are_bounded():
    scenarios = [
        a_scenario(str(index), "HARD_FAIL", trials=[a_trial(0, "hard_fail", assertions=[an_assertion(f"c{index}", "failed")])])
        for index in range(5_000)
    ]  # fmt: skip
    found = build_annotations(results([a_suite("s", scenarios)]))
    assert len(found) == MAX_PER_LEVEL + 1
    assert found[-1].message == "4,200 more scenarios like these: see results.json"


def test_annotations__equal_failures__are_one_that_names_the_scenarios():
    scenarios = [a_scenario(f"s{index}", "HARD_FAIL", a_change("broken")) for index in range(3)]
    reasons = [a_reason("hard_fail", "m", suite="s", scenario=each["id"], variant=None) for each in scenarios]
    found = build_annotations(results([a_suite("s", scenarios, "fail")], "fail", reasons=reasons))
    assert [(each.level, each.title, each.message, each.line) for each in found] == [
        ("error", "3 scenarios: HARD FAIL and broken", "check: response.content lacks 'refund', in s0, s1, s2", 12)
    ]


def test_annotations__very_many_equal_failures__name_some_and_count_the_others():
    document = results([a_suite("s", [a_scenario(f"scenario-{index}", "FAIL") for index in range(5_000)])])
    [found] = build_annotations(document)
    assert len(found.message) < 3_000
    assert found.message.endswith("scenario-148, scenario-149 and 4,850 more")


def test_annotations__scenario_in_a_variant__is_named_with_it():
    found = build_annotations(results([a_suite("s", [a_scenario("a", "FAIL", variant="flat")])]))
    assert [each.title for each in found] == ["a [flat]: FAIL"]


def test_annotations__lack_of_evidence__comes_last_and_is_named():
    price = an_assertion("cost", "not_evaluable", reason="no price for x")
    checks = {"a": [price], "b": [an_assertion("says so", "failed"), price]}
    scenarios = [
        a_scenario(name, "FAIL", trials=[a_trial(0, "failed", assertions=found)]) for name, found in checks.items()
    ]
    assert [(each.title, each.message) for each in build_annotations(results([a_suite("s", scenarios)]))] == [
        ("b: FAIL", "says so: response.content lacks 'refund'"),
        ("a: FAIL, for lack of evidence", "cost: not evaluable in 2 scenarios: no price for x"),
    ]
