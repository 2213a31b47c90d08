from __future__ import annotations

from results_builder import a_change, a_scenario, a_suite, a_trial, an_assertion

from evalgate.reporting.text.grouping import (
    MAX_SIMILAR,
    describe_causes,
    describe_failures,
    group_failures,
    state_shared_once,
)
from evalgate.reporting.text.scenario_sections import SuiteScenario, find_failed_checks, find_reason

SUITE = a_suite("s", [])


def failed(name="check", reason="it is wrong", **changes):
    return an_assertion(name, "failed", reason=reason, **changes)


def missing(name="cost", reason="no price for x", **changes):
    return an_assertion(name, "not_evaluable", reason=reason, **changes)


def an_item(id_, *checks, verdict="FAIL", change="broken", **changes):
    trials = [a_trial(0, "failed", assertions=list(checks))]
    return SuiteScenario(SUITE, a_scenario(id_, verdict, change, trials=changes.pop("trials", trials), **changes))


def described(*sections):
    """Ids and causes of each group."""
    return [
        ([member.scenario["id"] for member in group.members], describe_causes(group))
        for group in group_failures(*sections)
    ]


def test_groups__equal_failures__are_one_group_in_their_order():
    items = [an_item("a", failed()), an_item("b", failed(reason="other")), an_item("c", failed())]
    assert described(items) == [(["a", "c"], ["`check`: it is wrong"]), (["b"], ["`check`: other"])]


def test_groups__equal_failures_of_two_sections__stay_apart():
    found = group_failures([an_item("a", failed())], [an_item("b", failed())])
    assert [(group.section, len(group.members)) for group in found] == [(0, 1), (1, 1)]


def test_groups__lack_of_evidence__comes_after_regressions_and_is_counted_over_all():
    items = [an_item("a", missing()), an_item("b", failed(), missing()), an_item("c", missing())]
    assert described(items) == [
        (["b"], ["`check`: it is wrong"]),
        (["a", "c"], ["`cost`: not evaluable in 3 scenarios: no price for x"]),
    ]
    assert [group.is_lost for group in group_failures(items)] == [False, True]


def test_groups__missing_evidence_of_several_checks__is_stated_once():
    item = an_item("a", missing("one"), missing("two"), missing("three", "no time"))
    assert described([item]) == [
        (["a"], ["`one`, `two`: not evaluable: no price for x", "`three`: not evaluable: no time"])
    ]


def test_groups__reason_that_two_groups_lack_evidence_for__is_stated_by_the_first():
    items = [an_item("a", missing()), an_item("b", missing("calls", "no calls"), missing())]
    assert described(items) == [
        (["a"], ["`cost`: not evaluable in 2 scenarios: no price for x"]),
        (["b"], ["`calls`: not evaluable: no calls", "`cost`: not evaluable, as in other scenarios of this report"]),
    ]


def test_groups__required_check_without_evidence__is_mentioned_where_others_state_the_reason():
    items = [an_item("a", failed(), missing(required=True)), an_item("b", missing())]
    assert described(items)[0][1] == [
        "`cost`: not evaluable, as in other scenarios of this report",
        "`check`: it is wrong",
    ]


def test_groups__check_that_is_required_in_one_of_two_scenarios__makes_two_groups():
    items = [an_item("a", failed(required=True), verdict="HARD_FAIL"), an_item("b", failed())]
    assert [ids for ids, _ in described(items)] == [["a"], ["b"]]


def test_groups__missing_evidence_of_regressions_only__is_stated_by_the_first():
    items = [an_item("a", failed()), an_item("b", failed(), missing()), an_item("c", failed("d"), missing())]
    assert described(items) == [
        (["a", "b"], ["`check`: it is wrong", "`cost`: not evaluable: no price for x"]),
        (["c"], ["`d`: it is wrong"]),
    ]


def test_groups__check_that_failed_in_one_trial_and_lacked_evidence_in_another__failed():
    trials = [a_trial(0, "failed", assertions=[missing("x")]), a_trial(1, "failed", assertions=[failed("x")])]
    [group] = group_failures([an_item("a", trials=trials)])
    assert not group.is_lost
    missing_too = "1 of 2: not evaluable: no price for x"
    assert describe_causes(group) == ["`x` (2 of 2 trials): 1 of 2: it is wrong", f"`x`: {missing_too}"]


def test_groups__scenarios_without_traces__lack_evidence_and_are_one_group():
    items = [
        SuiteScenario(SUITE, a_scenario(name, "MISSING", "broken", reason="no trace was recorded for it"))
        for name in "ab"
    ]
    assert described([*items, an_item("c", failed())])[1] == (["a", "b"], ["no trace was recorded for it"])


def test_groups__too_few_trials__are_the_reason_even_if_a_check_lacked_evidence():
    trials = [a_trial(0, assertions=[missing()])]
    item = an_item("a", verdict="NOT_EVALUABLE", trials=trials, reason="expected at least 3 trials, got 1")
    assert described([item])[0][1] == ["expected at least 3 trials, got 1", "`cost`: not evaluable: no price for x"]


def test_groups__scenario_that_costs_more_and_lacks_evidence__is_no_lack_of_evidence():
    change = a_change("regressed", increases=["cost +50% (limit +20%)"])
    [group] = group_failures([an_item("a", missing("calls"), verdict="PASS", change=change)])
    assert not group.is_lost
    assert describe_causes(group)[0] == "cost +50% (limit +20%)"


def test_groups__score_that_fell_as_evidence_is_missing__is_lack_of_evidence():
    [group] = group_failures([an_item("a", missing(), verdict="PASS", change="regressed")])
    assert group.is_lost


def test_groups__many_failures_of_one_check_for_different_reasons__are_one_group_with_an_example():
    items = [an_item(str(number), failed(reason=f"it is {number}")) for number in range(MAX_SIMILAR + 1)]
    assert len(described(items[:-1])) == MAX_SIMILAR
    assert described(items) == [([str(number) for number in range(MAX_SIMILAR + 1)], ["`check`, for example: it is 0"])]


def test_failures__of_a_scenario_that_passes__have_its_trials_and_checks():
    trials = [a_trial(0), a_trial(1, "failed", assertions=[failed()])]
    item = an_item("a", verdict="PASS", change="unchanged", trials=trials)
    assert describe_failures(item) == ["1 of 2 trials failed", "`check` (1 of 2 trials): it is wrong"]


def test_reason__of_a_scenario_with_failures_and_missing_evidence__is_a_failure():
    item = an_item("a", missing(weight=9.0), failed())
    assert [check.first.outcome for check in find_failed_checks(item.scenario)] == ["failed", "not_evaluable"]
    assert find_reason(item.scenario) == "check: it is wrong"
    assert describe_failures(item) == ["`check`: it is wrong", "`cost`: not evaluable: no price for x"]


def test_failures__reason_of_a_trial_that_repeats_its_check__is_stated_once():
    broken = an_assertion("json", "error", reason="path not found", required=True)
    reason = "1 of 1 trial could not be judged: json: path not found"
    item = an_item("a", broken, verdict="ERROR", change=None, reason=reason)
    assert describe_failures(item) == ["`json`: error: path not found"]


def told(*items, many=False):
    groups = state_shared_once(group_failures(items), many=many)
    return [(group.members[0].scenario["id"], describe_causes(group)) for group in groups]


DENIED = failed("allowed tools", "`find` is no allowed tool, but was called (first: call 1)")
LATER = failed("allowed tools", "`find` is no allowed tool, but was called (first: call 2)")


def test_a_reason_that_scenarios_of_several_groups_share__is_stated_once_with_their_number():
    items = [an_item("a", DENIED), an_item("b", DENIED, failed()), an_item("d", failed(reason="x"), DENIED)]
    assert told(*items, an_item("c", failed(reason="other"), LATER)) == [
        ("a", [f"`allowed tools`: {DENIED.reason} (the same in 3 scenarios)"]),
        ("b", ["`allowed tools`: fails as in `a`", "`check`: it is wrong"]),
        ("d", ["`check`: x", "`allowed tools`: fails as in `a`"]),
        ("c", ["`check`: other", f"`allowed tools`: {LATER.reason}"]),
    ]


def test_a_reason_that_only_two_scenarios_share__stands_in_both():
    (_, first), (_, second) = told(an_item("a", DENIED), an_item("b", DENIED, failed()))
    assert first[0] == second[0] == f"`allowed tools`: {DENIED.reason}"


def test_a_reason_that_is_stated_once__names_the_suite_where_there_are_several():
    found = told(an_item("a", DENIED), an_item("b", DENIED, failed()), an_item("a", DENIED, failed("x")), many=True)
    assert [causes[0] for _, causes in found[1:]] == ["`allowed tools`: fails as in `s / a`"] * 2


def test_a_reason_is_not_left_out_of_what_fails_alone_for_lack_of_evidence_or_was_known():
    known = [an_item("b", DENIED, failed()), an_item("c", DENIED, failed("x"))]
    groups = state_shared_once(group_failures([an_item("a", DENIED)], known), many=False)
    assert [describe_causes(each)[0] for each in groups] == [f"`allowed tools`: {DENIED.reason}"] * 3


def test_causes__long_name_of_a_check__keeps_both_ends_and_leaves_room_for_the_reason():
    tools = [f"tool_number_{number}" for number in range(7)]
    [cause] = describe_failures(an_item("a", failed(f"tools in_order: {', '.join(tools)}")))
    assert cause == "`tools in_order: tool_number_0,… tool_number_5, tool_number_6`: it is wrong"
