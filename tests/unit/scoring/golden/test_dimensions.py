"""Each dimension from its evidence, and without any."""

from __future__ import annotations

import pytest
from assess_assertion import compile_assertion
from builders import make_call, make_trace
from golden_builders import dimension, golden, judge, talk
from hypothesis import given, settings
from hypothesis import strategies as st

from evalgate.models.run.golden import DIMENSIONS
from evalgate.scoring.golden.judging import dimension_checks
from evalgate.scoring.golden.rules import GoldenRules

REFUSES = "I can't help with that."
TWO = (("late parcel", "Sorry. Refund it?"), ("yes", "Done."))


def tools(required, *calls, turns=TWO, **trace):
    found = dimension("tool_success_rate", golden(*turns, required_tool_usage=required), talk(*turns, calls=calls))
    return found.score, found.reason


# Tools


@pytest.mark.parametrize(
    ("required", "calls", "score"),
    [
        (["lookup@1", "refund@2"], [("lookup", 1), ("refund", 2)], 1.0),
        (["lookup@1", "refund@2"], [("lookup", 1)], 0.5),
        (["lookup@1", "refund@2"], [("refund", 1), ("lookup", 2)], 0.0),
        (["lookup", "refund"], [("refund", 1), ("lookup", 2)], 1.0),
        (["lookup", "lookup"], [("lookup", 1)], 0.5),
        (["look*"], [("lookup_order", 2)], 1.0),
        (["refund*", "refund_now"], [("refund_now", 1), ("refund_later", 1)], 1.0),
        (["lookup"], [("lookup", 1), ("weather", 1), ("weather", 2)], 1.0),  # others do not matter
        ([], [("lookup", 1), ("refund", 2)], 1.0),
        (["correct_invocation@1"], [("lookup", 2)], 0.0),
        (["missed_opportunity"], [("lookup", 1)], 1.0),  # describes a flaw, demands nothing
    ],
)
def test_tools__all_requirements_met(required, calls, score):
    made = [make_call(name, index=at, turn=turn) for at, (name, turn) in enumerate(calls)]
    assert tools(required, *made)[0] == score


def test_tools__failed_call_lowers_the_score_of_its_turn():
    failed = make_call("lookup", status="error", result="no such order", turn=2)
    score, reason = tools([], make_call("lookup"), failed)
    assert (score, reason) == (0.5, "0.5; turn 2: `lookup` failed")


def test_tools__failed_call_does_not_meet_a_requirement():
    assert tools(["lookup@1"], make_call("lookup", status="missing"))[0] == 0.0


def test_tools__unknown_tool_is_an_issue():
    trace = talk(*TWO, calls=[make_call("teleport")])
    trace.tool_definitions = [{"name": "lookup"}]
    found = dimension("tool_success_rate", golden(*TWO), trace)
    assert (found.score, found.issues[0].severity) == (0.0, "critical")
    assert "is not one of the tools that the agent has" in found.reason


def test_tools__result_used_in_the_answer():
    what = golden(("late?", None), required_tool_usage=["correct_interpretation"])
    call = make_call("lookup", result='{"days_late": 2}')
    assert dimension("tool_success_rate", what, talk(("late?", "It is 2 days late."), calls=[call])).score == 1.0
    assert dimension("tool_success_rate", what, talk(("late?", "No idea."), calls=[call])).score == 0.0


def test_tools__no_tool_is_expected():
    assert tools(["not_applicable"], make_call("lookup"))[0] == 0.0
    assert tools(["not_applicable"])[0] is None


def test_tools__no_call_and_none_expected__is_not_evaluable():
    assert tools([]) == (None, "no tool call was made and none was expected")


# Memory


def memory(required, trace):
    what = golden(*TWO, required_memory_recall=required)
    found = judge(what, trace).dimensions
    return found["memory_precision"].score, found["memory_recall"].score


def recalled(*memories, answer="Done."):
    call = make_call("recall_memory", result=list(memories))
    return talk(("hello", answer), ("yes", "Done."), calls=[call])


def test_memory__texts_that_were_remembered():
    trace = recalled("Likes green tea.", "Lives in Oslo.")
    assert memory(["green tea"], trace) == (0.5, 1.0)
    assert memory(["green tea", "a dog"], trace) == (0.5, 0.5)
    assert memory(["green tea", "oslo"], trace) == (1.0, 1.0)


def test_memory__text_in_the_answer_counts_as_remembered():
    assert memory(["green tea"], talk(("hi", "Green tea, as always?"), ("yes", "ok"))) == (None, 1.0)
    assert memory(["green tea@2"], talk(("hi", "Green tea, as always?"), ("yes", "ok"))) == (None, 0.0)


def test_memory__kinds_must_be_recorded():
    kinds = [{"content": "met in May", "kind": "episodic"}, {"content": "tea", "kind": "semantic"}]
    assert memory(["episodic"], recalled(*kinds)) == (0.5, 1.0)
    assert memory(["commitment"], recalled(*kinds)) == (0.0, 0.0)
    assert memory(["episodic"], recalled("met in May")) == (None, None)


def test_memory__metadata_of_the_trace_counts_too():
    trace = talk(*TWO)
    trace.metadata = {"memories": [{"content": "tea", "type": "semantic", "turn": 2}]}
    assert memory(["semantic@2"], trace) == (1.0, 1.0)


def test_memory__nothing_is_expected():
    assert memory([], recalled("tea")) == (None, None)
    assert memory(["none"], recalled("tea")) == (0.0, None)
    assert memory(["none"], talk(*TWO)) == (None, None)


# Refusal


@pytest.mark.parametrize(
    ("required", "answers", "score"),
    [
        (["correct_refusal"], [REFUSES, "Done."], 1.0),
        (["correct_refusal"], ["Sure.", "Done."], 0.0),
        (["correct_refusal@1"], ["Sure.", REFUSES], 0.0),
        (["correct_refusal@2"], ["Sure.", REFUSES], 1.0),
        (["correct_allowance"], ["Sure.", "Done."], 1.0),
        (["correct_allowance"], ["Sure.", REFUSES], 0.5),
        (["correct_allowance@1", "correct_refusal@2"], ["Sure.", REFUSES], 1.0),
        (["correct_allowance", "correct_refusal@2"], [REFUSES, REFUSES], 0.5),
        (["not for sale"], ["That is NOT for  sale.", "Done."], 1.0),
        (["inappropriate_refusal"], [REFUSES, "Done."], None),
        ([], [REFUSES, "Done."], None),
        (["correct_refusal"], [None, None], None),
    ],
)
def test_refusal(required, answers, score):
    turns = [("a b", answers[0]), ("c d", answers[1])]
    what = golden(("a b", ""), ("c d", ""), required_refusal=required)
    assert dimension("refusal_correctness", what, talk(*turns)).score == score


# Completeness


def test_completeness__missing_and_extra_turns_score_0():
    what = golden(("hello", "Hi!"), ("refund please", "Done."))
    assert dimension("response_completeness", what, talk(("hello", "Hi!"))).score == 0.5
    extra = talk(("hello", "Hi!"), ("what is the weather like", "Fine."), ("refund please", "Done."))
    assert dimension("response_completeness", what, extra).score == pytest.approx(2 / 3, abs=1e-9)
    messages = [issue.message for issue in judge(what, extra).issues]
    assert "extra turn 2 of the conversation is not in the golden" in messages


def test_completeness__no_answer_scores_0():
    found = dimension("response_completeness", golden(("hello", "Hi!")), talk(("hello", None)))
    assert (found.score, found.reason) == (0.0, "0; there is no answer")


def test_completeness__without_golden_responses_is_not_evaluable():
    assert dimension("response_completeness", golden(("hello", None)), talk(("hello", "Hi!"))).score is None


def test_completeness__strict():
    what, trace = golden(("hello", "Hi there!")), talk(("hello", "Hi!"))
    assert dimension("response_completeness", what, trace).score == 0.5
    trace = talk(("hello", "Hi!"))
    assert dimension("response_completeness", what, trace, is_strict=True).score == 0.0


def test_serialised_object__is_an_issue():
    found = judge(golden(("status", "It is on its way.")), talk(("status", "[object Object]")))
    assert any("[object Object]" in issue.message for issue in found.issues)
    prose = judge(golden(("status", '{"state": 1}')), talk(("status", '{"state": 1}')))
    assert not prose.issues


# All of them


def test_missing_turn__scores_0_in_each_dimension_judged_by_turn():
    what = golden(("hello", "Hi!"), ("refund please", "Done."), required_refusal=["correct_allowance"])
    found = judge(what, talk(("hello", "Hi!")))
    assert found.dimensions["refusal_correctness"].score == 0.5
    assert "turn 2 is missing" in found.dimensions["refusal_correctness"].reason
    assert found.dimensions["tool_success_rate"].score is None
    assert [issue.severity for issue in found.issues if "missing" in issue.message] == ["error"]


def test_turn_weights__are_used_in_the_mean():
    what, trace = golden(("a", "x"), ("b", "y")), talk(("a", "x"), ("b", "other"))
    assert dimension("response_completeness", what, trace).score == 0.5
    trace = talk(("a", "x"), ("b", "other"))
    assert dimension("response_completeness", what, trace, turn_weights=(3.0,)).score == 0.75


@pytest.mark.parametrize("name", DIMENSIONS)
def test_recorded_score__has_priority(name):
    found = dimension(name, golden(*TWO), talk(*TWO, scores={name: 0.4}))
    assert (found.score, found.source) == (0.4, "recorded")


@pytest.mark.parametrize(("value", "score"), [(7.0, 1.0), (-2.0, 0.0)])
def test_recorded_score__is_clamped(value, score):
    assert dimension("tone_adherence", golden(*TWO), talk(*TWO, scores={"tone_adherence": value})).score == score


def test_assertions__are_used_instead_of_a_formula():
    checks = [
        compile_assertion({"type": "icontains", "value": "sorry", "path": "exchanges[0].response"}),
        compile_assertion({"type": "icontains", "value": "weather", "weight": 3}),
    ]
    found = dimension("tone_adherence", golden(*TWO), talk(*TWO), assigned={"tone_adherence": checks})
    assert (found.score, found.source) == (0.25, "assertions")
    assert found.reason.startswith("1 of 2 assertions passed: ")


@pytest.mark.parametrize("name", ["identity_correctness", "tone_adherence", "factual_accuracy"])
def test_dimension_without_a_formula__is_not_evaluable(name):
    assert dimension(name, golden(*TWO), talk(*TWO)).score is None


def test_trace_without_messages__can_be_judged():
    found = judge(golden(("hello", "Hi!")), talk())
    assert found.dimensions["response_completeness"].score == 0.0


ANSWERS = st.sampled_from([None, "", "Hi!", REFUSES, "[object Object]", "green tea"])
TALKS = st.lists(st.tuples(st.sampled_from(["hello", "refund", "why"]), ANSWERS), max_size=4)
DUE = st.lists(st.sampled_from(["lookup", "lookup@1", "not_applicable", "correct_invocation"]), max_size=3)
REFUSING = st.lists(st.sampled_from(["correct_refusal", "correct_allowance@1", "correct_allowance"]), max_size=3)
CALLS = st.lists(
    st.tuples(st.sampled_from(["lookup", "recall"]), st.sampled_from(["ok", "error", "missing"])), max_size=3
)


@given(TALKS, TALKS, DUE, REFUSING, CALLS)
def test_any_conversation__has_bounded_scores_and_passes_nothing_unjudged(messages, expected, due, refusing, calls):
    due = [each for each in due if "@" not in each or expected]
    what = golden(*expected, required_tool_usage=due, required_refusal=refusing, required_memory_recall=["tea"])
    made = [make_call(name, index=at, status=status) for at, (name, status) in enumerate(calls)] if messages else []
    found = judge(what, talk(*messages, calls=made))
    for each in found.dimensions.values():
        assert each.score is None or 0.0 <= each.score <= 1.0
        assert all(score is None or 0.0 <= score <= 1.0 for score in each.steps)
        assert (each.source == "none") <= (each.score is None)


@settings(max_examples=20)
@given(st.integers(0, 4), st.integers(0, 4))
def test_one_more_failed_call__never_raises_the_rate(right, wrong):
    def rate(failed):
        made = [make_call("lookup", index=at) for at in range(right)]
        made += [make_call("lookup", index=right + at, status="error") for at in range(failed)]
        return tools(["lookup"], *made)[0]

    assert rate(wrong + 1) <= rate(wrong)


def with_gap(trace):
    trace.gaps = {"calls": "content was not captured: record it"}
    return trace


@pytest.mark.parametrize(
    ("required", "calls", "score"),
    [
        ([], [], None),
        ([], ["a"], None),
        (["a"], [], None),
        (["a"], ["a"], None),
        (["not_applicable"], [], None),
        (["not_applicable"], ["a"], 0.0),
        (["not_applicable@1"], ["a"], 0.0),
        (["correct_invocation"], [], None),
        (["a"], [make_call("b", status="error"), make_call("c", status="error")], 0.0),
    ],
)
def test_tools__with_missing_calls_are_judged_only_if_what_was_seen_decides(required, calls, score):
    trace = make_trace(calls=calls, user="one")
    found = dimension("tool_success_rate", golden(("one", "Done."), required_tool_usage=required), with_gap(trace))
    assert found.score == score
    if score is None:
        assert found.reason == "missing evidence (calls): content was not captured: record it"
    assert found.may_fail == (score is None and bool(required))


@pytest.mark.parametrize(("required", "counts"), [(["a"], True), (["not_applicable"], True), ([], False)])
def test_tools__with_missing_calls_count_if_the_golden_demands_something_of_them(required, counts):
    rules = GoldenRules(golden(("one", "Done."), required_tool_usage=required))
    trace = with_gap(make_trace(user="one"))
    (row,) = [each.assess(trace) for each in dimension_checks(rules, None) if each.name == "tool_success_rate"]
    assert (row.outcome, row.counts) == ("not_evaluable", counts)


@pytest.mark.parametrize("name", ["memory_precision", "memory_recall"])
def test_memories__with_missing_calls_are_not_judged(name):
    trace = make_trace(user="one", response="Green tea, as always.")
    trace.metadata["memories"] = ["You like green tea"]
    judged = golden(("one", "Green tea, as always."), required_memory_recall=["green tea"])
    assert dimension(name, judged, trace).score == 1.0
    found = dimension(name, judged, with_gap(trace))
    assert (found.score, found.reason) == (None, "missing evidence (calls): content was not captured: record it")
