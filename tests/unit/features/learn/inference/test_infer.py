"""What `init` learns: the table of what is written when, over small sets of traces."""

from __future__ import annotations

import random
import re
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from builders import make_call, make_message, make_trace
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from evalgate.bootstrap.sources import build_suite_files
from evalgate.features.learn.application.inference.arguments import infer_arguments, is_fixed_text
from evalgate.features.learn.application.inference.build_suite import draft_suite
from evalgate.features.learn.application.inference.draft import SuiteHead
from evalgate.features.learn.application.inference.infer import infer_suite
from evalgate.features.learn.application.inference.observations import TraceSet
from evalgate.features.learn.application.inference.ordering import cover_pairs, list_ordered_pairs
from evalgate.features.learn.application.inference.outcomes import round_up
from evalgate.features.learn.application.inference.pass_rates import (
    FailedTrials,
    RecordedFailures,
    UnnoticedFailures,
    find_least_passes,
)
from evalgate.features.learn.application.inference.self_check import check_draft, find_failing, judge_traces
from evalgate.features.learn.application.inference.trace_choice import FoundTraces, records_calls
from evalgate.reporting.text.flow_style import format_value
from evalgate.scoring.recorded_result import is_passing
from evalgate.scoring.scenario import judge_scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

HEAD = SuiteHead("shop", ["../traces/*.json"])


def trial(
    *calls: Any, scenario: str = "refund", answer: str = "The order is refunded.", number: int = 0, **fields: Any
) -> Trace:
    made = [
        make_call(call, index=at) if isinstance(call, str) else make_call(call[0], call[1], index=at)
        for at, call in enumerate(calls)
    ]
    trace = make_trace(made)
    response: Any = {"content": answer, "finish_reason": None, "message_index": None}
    return replace(trace, scenario_id=scenario, trace_id=f"{scenario}-{number}", response=response, **fields)


def lines(traces: Sequence[Trace], strictness: Any = "normal") -> list[str]:
    text, _ = infer_suite(traces, HEAD, strictness).render()
    return [line.strip() for line in text.splitlines()]


def test_an_identical_sequence_of_three_trials_is_required_in_order():
    found = lines([trial("look", "pay")] * 3)
    assert "- {type: tool_sequence, sequence: [look, pay], required: true}" in found
    assert "- id: refund  # 3 trials" in found
    assert not any("tool_called" in line for line in found)


ORDER, POLICY = {"id": "A-771"}, {"region": "EU-7"}


def ask(question: str, *calls: Any) -> list[Trace]:
    """Three trials of the same calls, each with its result."""
    made = [{**make_call(*each[:2], index=at), "result": each[2]} for at, each in enumerate(calls)]
    user = make_message(content=question)
    return [replace(trial(number=at), messages=[user], tool_calls=made) for at in range(3)]


@pytest.mark.parametrize(
    ("question", "first", "steps"),
    [
        ("Refund A-771 of EU-7", "get_order", "[[get_order, get_policy], pay]"),
        ("Refund A-771", "get_order", "[get_order, get_policy, pay]"),
        ("Refund A-771 of EU-7", "reserve_order", "[reserve_order, get_policy, pay]"),
    ],
    ids=["known from the request", "known from the first result", "the first changes something"],
)
def test_look_ups_that_do_not_need_each_other_have_no_order(question: str, first: str, steps: str):
    calls = (first, ORDER, {"region": "EU-7"}), ("get_policy", POLICY, "30 days"), ("pay", ORDER, "ok")
    traces = ask(question, *calls)
    assert any(f"sequence: {steps}, required: true" in line for line in lines(traces)), lines(traces)
    pair = lines(traces[:2])
    assert any(f"sequence: {steps}" in line for line in pair), pair


def test_what_one_or_two_trials_show_is_not_required():
    for count in (1, 2):
        found = lines([trial("look", "issue_refund")] * count)
        assert "- {type: tool_calls, tool: issue_refund, exactly: 1}" in found
        assert not any("required" in line for line in found)


def test_tools_in_another_order_are_expected_in_any():
    found = lines([trial("look", "pay"), trial("pay", "look"), trial("look", "pay")])
    assert "- {type: tool_sequence, mode: any_order, sequence: [look, pay], required: true}" in found


def test_tools_are_listed_as_early_as_they_are_called():
    assert "- {type: tool_sequence, mode: any_order, sequence: [write, bash]}" in lines(
        [trial("write", "bash", "bash")]
    )


def test_a_tool_of_some_trials_is_a_comment():
    found = lines([trial("look", "search"), trial("look"), trial("look", "search", "look")])
    assert "# in some of 3 trials: search (2)" in found


def test_the_order_of_tools_that_no_trial_turns_round_is_kept():
    found = lines([trial("look", "pay"), trial("look", "look", "pay")])
    assert "- {type: tool_sequence, sequence: [look, pay]}" in found
    assert "- not: {type: tool_sequence, sequence: [pay, look]}  # look first" in found
    found = lines([trial("look", "pay"), trial("pay", "look")])
    assert not any("not: {type: tool_sequence" in line for line in found)


def test_tools_without_an_order_among_them_are_a_group_of_a_sequence():
    found = lines([trial("ask", "look", "pay"), trial("look", "ask", "pay")])
    assert "- {type: tool_sequence, sequence: [[ask, look], pay]}" in found
    assert not any("not: {type: tool_sequence" in line for line in found)


def in_messages(*messages: Sequence[Any], number: int = 0) -> Trace:
    """A trial whose calls are made by these messages."""
    made = trial(*(call for message in messages for call in message), number=number)
    steps = [step for step, message in enumerate(messages, 1) for _ in message]
    calls = [{**call, "step": step} for call, step in zip(made.tool_calls, steps, strict=True)]
    return replace(made, tool_calls=calls)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([["look"], ["pay", "mail"]], "sequence: [look, [pay, mail]]"),
        ([["look", "ask"], ["pay"], ["mail"]], "sequence: [[look, ask], pay, mail]"),
        ([["pay", "mail"]], "mode: any_order, sequence: [pay, mail]"),
        ([["look", "look"], ["pay"]], "sequence: [[look, look], pay]"),
        ([["look"], [("pay", {"to": "shop"}), "mail"]], "sequence: [look, [{tool: pay, args: {to: shop}}, mail]]"),
        ([["look"], ["pay"], ["mail"]], "sequence: [look, pay, mail]"),
    ],
)
def test_calls_of_one_message_may_come_in_any_order(messages, expected):
    found = lines([in_messages(*messages, number=number) for number in range(3)])
    assert f"- {{type: tool_sequence, {expected}, required: true}}" in found


def test_calls_that_one_trial_makes_in_one_message_may_come_in_any_order_whatever_file_is_read_first():
    trials = [in_messages(["look"], ["pay", "mail"]), *(in_messages(["look"], ["pay"], ["mail"]) for _ in range(2))]
    for found in map(lines, permutations(trials)):
        assert "- {type: tool_sequence, sequence: [look, [pay, mail]], required: true}" in found


def test_calls_of_no_known_message_keep_their_order():
    made = in_messages(["look", "pay"])
    trials = [replace(made, tool_calls=[{**call, "step": 0} for call in made.tool_calls])] * 3
    assert "- {type: tool_sequence, sequence: [look, pay], required: true}" in lines(trials)


def test_few_rules_hold_the_order_of_many_tools():
    pairs = {(a, b) for a in "abcd" for b in "wxyz"} | {("a", "b")}
    rules = cover_pairs(pairs, 2)
    assert [(sorted(rule.first), sorted(rule.later)) for rule in rules] == [
        (list("abcd"), list("wxyz")),
        (["a"], ["b"]),
    ]
    assert len(cover_pairs({(str(a), str(b)) for a in range(99) for b in range(a)}, 2)) == 2


def test_the_number_of_calls_is_learnt_from_two_trials_on():
    assert "- {type: tool_calls, tool: look, min: 2}" in lines([trial("look", "look")] * 2)
    assert not any("min:" in line for line in lines([trial("look", "look")]))


@pytest.mark.parametrize("calls", [["find_book"] * 2, ["find_book", "find_book", "lend_book"]])
def test_a_look_up_that_is_only_repeated_is_expected_once(calls):
    """All of three trials may repeat one by chance."""
    found = lines([trial(*calls, number=at) for at in range(3)])
    assert not any("find_book, find_book" in line or "min: 2" in line for line in found)
    twice = [("find_book", {"title": "Dune"}), ("find_book", {"title": "Emma"})]
    found = lines([trial(*twice, number=at) for at in range(3)])
    assert any("{title: Dune}" in line and "{title: Emma}" in line for line in found)


def test_a_change_that_all_trials_make_equally_often_is_counted():
    def lend(scenario: str, *numbers: int) -> list[Trace]:
        return [
            trial("find_book", *["lend_item"] * many, scenario=scenario, number=at) for at, many in enumerate(numbers)
        ]

    counted = "- {type: tool_calls, tool: lend_item, exactly: 1}"
    assert lines([*lend("a", 1, 1), *lend("b", 1, 1)]).count(counted) == 2
    assert counted not in lines([*lend("a", 1, 1), *lend("b", 1, 2)])
    assert counted not in lines(lend("a", 1, 1)), "an unknown verb of one scenario"
    assert "- {type: tool_calls, tool: send_mail, exactly: 1}" in lines([trial("send_mail")] * 2)
    assert "- {type: tool_calls, tool: send_mail, exactly: 1}" not in lines([trial("send_mail")])


def test_tools_that_change_something_are_forbidden_where_a_scenario_refuses():
    acting = [trial("berth_status", "tow_ship", "reserve_berth", "think", number=at) for at in range(3)]
    asking = [trial("get_weather", "find_fees", scenario="ask", number=at) for at in range(3)]
    refusing = [trial("berth_status", scenario="refuse", number=at) for at in range(3)]
    found = lines([*acting, *asking, *refusing])
    forbidden = "- {type: forbidden_tools, tools: [reserve_berth, tow_ship], required: true}"
    assert found.count(f"{forbidden}  # called in none of 3 trials") == 2
    assert sum("forbidden_tools" in line for line in found) == 2, found


def test_a_tool_of_an_unknown_verb_is_forbidden_only_where_nothing_changes():
    acting = [trial("reserve_berth", "ask_officer", number=at) for at in range(3)]
    other = [trial("reserve_berth", scenario="timber", number=at) for at in range(3)]
    assert not any("forbidden_tools" in line for line in lines([*acting, *other]))


FORBIDDEN = "- {type: forbidden_tools, tools: [cancel], required: true}"


def test_tools_with_an_effect_that_no_trial_of_many_calls_are_forbidden():
    other = trial("cancel", "read_notes", scenario="cancel")
    assert f"{FORBIDDEN}  # called in none of 3 trials" in lines(
        [*(trial("look", number=at) for at in range(3)), other]
    )
    few = [*(trial("look", number=at) for at in range(2)), other]
    assert FORBIDDEN not in "\n".join(lines(few))
    assert f"{FORBIDDEN}  # called in none of 2 trials" in lines(few, "strict")


def learn(passing: Sequence[Trace], failed: Sequence[Trace]) -> list[str]:
    text, _ = infer_suite(passing, HEAD, "normal", failed).render()
    return [line.strip() for line in text.splitlines()]


def test_a_tool_that_failed_trials_call_and_no_passing_one_is_forbidden():
    other = trial("cancel", scenario="cancel")
    failed = [trial("look", *tools, number=at) for at, tools in enumerate((["cancel"], ["cancel"], []), 1)]
    found = learn([trial("look"), other], failed)
    assert f"{FORBIDDEN}  # called in 2 of 3 failed trials, in 0 of 1 passing" in found
    assert f"{FORBIDDEN}  # called in 1 of 1 failed trial, in 0 of 1 passing" in learn(
        [trial("look"), other], failed[:1]
    )
    lost = [replace(each, gaps={"calls": "not captured"}) for each in failed]
    assert FORBIDDEN not in "\n".join(learn([trial("look"), other], lost))


def test_a_look_up_of_failed_trials_is_not_forbidden():
    other = trial("read_notes", scenario="notes")
    assert "forbidden" not in "\n".join(
        learn([trial("look"), other], [trial("look", "read_notes", number=at) for at in (1, 2)])
    )


def test_a_tool_that_failed_trials_call_more_often_is_limited():
    found = learn([trial("update_seat")], [trial("update_seat", "update_seat", number=at) for at in (1, 2)])
    assert (
        "- {type: tool_calls, tool: update_seat, max: 1, required: true}  # called more often in 2 of 2 failed trials"
        in found
    )
    assert "max: 1" not in "\n".join(learn([trial("update_seat")], [trial("update_seat", number=1)]))


@pytest.mark.parametrize(("failing", "expected"), [(["business", "first"], True), (["business", "economy"], False)])
def test_an_argument_of_one_trial_is_expected_if_two_failed_ones_have_another(failing: list[str], expected: bool):
    failed = [trial(("book", {"cabin": cabin}), number=at) for at, cabin in enumerate(failing, 1)]
    found = "\n".join(learn([trial(("book", {"cabin": "economy"}))], failed))
    assert ("{tool: book, args: {cabin: economy}}" in found) is expected


def test_a_stalled_trial_forbids_no_calls_that_failed_ones_made():
    failed = [trial("look", number=at) for at in (1, 2)]
    assert "max_tool_calls" not in "\n".join(learn([trial()], failed))
    assert "- {type: max_tool_calls, max: 0, required: true}" in learn([trial(number=at) for at in (3, 4, 5)], failed)


ORDER = "- not: {type: tool_sequence, sequence: [pay, look]}  # look first"


def test_the_order_of_a_single_trial_is_kept_only_where_others_show_it():
    passing = [trial("look", "look", "pay")]
    assert ORDER not in learn(passing, [])
    assert ORDER in learn(passing, [trial("look", "pay", number=1)])
    assert ORDER not in learn(passing, [trial("look", "pay", number=1), trial("pay", "look", number=2)])
    others = [trial("look", "pay", scenario=f"s{number}") for number in range(2)]
    assert ORDER in learn([*passing, *others], [])


def test_a_scenario_without_a_check_of_its_own_is_marked():
    traces = [trial(tool, number=at) for at, tool in enumerate("abc")] + [trial("a", scenario="other")]
    draft = infer_suite(traces, HEAD, "normal")
    text, _ = draft.render()
    assert draft.unchecked == ["refund"]
    note = "# no check of its own: only what all scenarios share is checked here"
    assert f"- id: refund  # 3 trials\n    prompt: Hello\n    {note}\n" in text


def test_a_scenario_with_trials_of_several_tasks_is_named():
    traces = [trial("look", scenario="1", number=at, metadata={"task": f"t{at % 2}"}) for at in range(4)]
    traces += [trial("look", scenario="2", number=at, metadata={"task": "t0"}) for at in range(2)]
    assert "# trials of several tasks have the same id, so one suite for each task is better: 1" in lines(traces)


def test_a_scenario_without_calls_forbids_them():
    assert "- {type: max_tool_calls, max: 0}" in lines([trial(number=at) for at in range(2)])
    assert "- {type: max_tool_calls, max: 0, required: true}" in lines([trial(number=at) for at in range(3)])
    unknown = trial(gaps={"calls": "not captured"})
    assert not any("max_tool_calls" in line for line in lines([unknown]))


def test_a_tool_that_comes_and_goes_in_other_scenarios_is_not_required():
    traces = [trial(*(("think",) if at else ()), "look", scenario=f"s{n}") for n in range(4) for at in range(2)]
    traces += [trial("think", "look", scenario="all", number=at) for at in range(2)]
    found = lines(traces)
    assert "- {type: tool_called, tool: look}" in found[found.index("- id: all  # 2 trials") :]
    few = "required only where all of 4 trials call them, or no failed one does"
    assert f"# passing trials differ in think: {few}" in found


def test_a_tool_of_four_trials_is_required_though_it_comes_and_goes_elsewhere():
    traces = [trial(*(("think",) if at else ()), "list", scenario=f"s{n}") for n in range(4) for at in range(2)]
    traces += [trial("think", scenario="sure", number=at) for at in range(4)]
    found = lines(traces)
    assert (
        found[found.index("- id: sure  # 4 trials") + 2]
        == "assertions: [{type: tool_called, tool: think, required: true}]"
    )


def test_a_tool_that_no_failed_trial_calls_is_expected():
    traces = [trial(*(("think",) if at else ()), "look", scenario=f"s{n}") for n in range(4) for at in range(2)]
    traces += [scored("think", "look", reward=1, number=0), *(scored("look", reward=0, number=at) for at in (1, 2))]
    text = drafted(traces).draft.render()[0]
    assert "sequence: [think, look]}" in text


def test_more_calls_are_demanded_than_failed_trials_make():
    traces = [scored("update", "update", "update", reward=1, number=0)]
    traces += [scored("update", reward=0, number=1), scored("update", "update", reward=0, number=2)]
    text = drafted(traces).draft.render()[0]
    assert "- {type: tool_calls, tool: update, min: 3}  # called less often in 2 of 2 failed trials\n" in text


def test_a_look_up_of_a_single_trial_is_required_only_in_a_small_set():
    many = [trial("look", "update", scenario=f"s{number}", number=number) for number in range(10)]
    assert sum("sequence: [look, update]" in line for line in lines(many[:2])) == 2
    found = lines(many)
    assert not any("sequence: [look, update]" in line for line in found)
    assert sum("assertions: [{type: tool_called, tool: update}]" in line for line in found) == 10


@pytest.mark.parametrize("tool", ["*", "update_*"])
def test_a_tool_whose_name_is_a_pattern_is_named_in_no_check(tool: str):
    traces = [
        trial("look", (tool, {"kind": "economy"}), "pay", scenario=id_, number=at) for id_ in "ab" for at in range(6)
    ]
    found = lines(traces)
    assert f"# no check names these tools, which are patterns, secrets or too long in a suite: {tool}" in found
    assert not any(f'"{tool}"' in line for line in found)
    assert not any("allowed_tools" in line for line in found)
    assert any("sequence: [look, pay]" in line for line in found)


def test_an_argument_that_a_suite_reads_as_a_matcher_is_not_expected():
    found = lines([trial("look", ("search", {"cabin": "economy", "$any": True}))] * 4)
    assert "- {type: tool_sequence, sequence: [look, {tool: search, args: {cabin: economy}}], required: true}" in found


def test_codes_that_all_trials_share_are_offered_as_a_comment_that_can_be_uncommented():
    call = ("cancel_order", {"order_id": "A-17", "customer": "Mia Li", "kind": "gift"})
    traces = [trial("look", call)] * 2
    text, _ = infer_suite(traces, HEAD, "normal").render()
    (offer,) = re.findall(r"    # (- .*)  # in all 2\n", text)
    assert offer == "- {type: tool_sequence, sequence: [{tool: cancel_order, args: {order_id: A-17}}], required: true}"
    assert "A-17" not in text.replace(offer, "")
    assert "Mia" not in text
    suite = build_suite_files(".").parse_text(text.replace(f"# {offer}", offer), "evals/a.yaml")
    assert not list(find_failing(suite, traces))
    other = trial("look", ("cancel_order", {"order_id": "B-18", "customer": "Mia Li", "kind": "gift"}))
    assert len(list(find_failing(suite, [other]))) == 1


def test_a_code_of_one_trial_is_offered_if_failed_ones_have_others():
    traces = [scored(("cancel_order", {"order_id": "A17"}), reward=1, number=0)]
    assert "A17" not in drafted(traces).draft.render()[0]
    traces += [scored(("cancel_order", {"order_id": f"B{at}"}), reward=0, number=at) for at in (1, 2)]
    assert (
        "args: {order_id: A17}}], required: true}  # in all 1, another in 2 of 2 failed trials\n"
        in (drafted(traces).draft.render()[0])
    )


def test_a_destructive_tool_is_called_no_more_often_than_in_any_trial():
    found = lines([trial("look", "issue_refund"), trial("issue_refund", "look")])
    assert "- {type: tool_calls, tool: issue_refund, exactly: 1}" in found
    found = lines([trial("look", "issue_refund"), trial("issue_refund", "issue_refund")])
    assert "- {type: tool_calls, tool: issue_refund, min: 1, max: 2}" in found


def test_arguments_that_are_the_same_words_are_expected():
    call = ("pay", {"method": "card", "order_id": "A-17", "express": True, "date": "2026-01-02", "note": "now 5"})
    found = lines([trial("look", call), trial(call, "look")])
    step = "{tool: pay, args: {express: true, method: card}}"
    assert f"- {{type: tool_sequence, mode: any_order, sequence: [look, {step}]}}" in found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["economy"] * 2, "economy"),
        (["economy", "business"], None),
        (["A-17"] * 2, None),
        (["2026-01-01"] * 2, None),
        (["Tuesday"] * 2, None),
        (["Mon"] * 2, None),
        (["next week"] * 2, None),
        ([12.5] * 3, None),
        (["3e4f9c70-8d47-4a28-a6d4-5d0f6dbe7c11"] * 2, None),
        (["the customer wants to cancel the order now"] * 2, None),
        ([7, 7], None),
        ([7, 7, 7], {"$approx": 7}),
        ([1_234_567] * 3, None),
        ([True, True], True),
        ([None, None], None),
    ],
)
def test_only_words_flags_and_small_numbers_of_three_trials_are_expected(values: list[Any], expected: Any):
    found = infer_arguments([{"kind": value} for value in values], len(values))
    assert found == ({} if expected is None else {"kind": expected})


@pytest.mark.parametrize(
    "name",
    [
        *(
            "user_id",
            "customerName",
            "email",
            "token",
            "query",
            "api_key",
            "password",
            "username",
            "customer",
            "passenger",
        ),
        *("employee", "session", "confirmation", "locator", "auth", "pin", "month", "weekday", "when", "dob_month"),
    ],
)
def test_a_value_of_a_person_or_an_identifier_is_never_expected(name: str):
    assert infer_arguments([{name: "alice"}] * 3, 3) == {}


@pytest.mark.parametrize(
    ("tool", "definitions", "closed"),
    [
        ("pay", [], "maxProperties: 2, "),
        ("lookup_order", [], ""),
        ("getOrder", [], ""),
        ("peek", [{"name": "peek", "annotations": {"readOnlyHint": True}}], ""),
        ("get_paid", [{"name": "get_paid", "annotations": {"readOnlyHint": False}}], "maxProperties: 2, "),
    ],
    ids=["changes", "look-up", "look-up in one word", "hint reads", "hint changes"],
)
def test_arguments_have_the_names_and_shapes_they_always_had_and_only_those_of_look_ups_may_grow(
    tool: str, definitions: list[dict[str, Any]], closed: str
):
    traces = [
        replace(trial((tool, {"order": code, "deep": True})), tool_definitions=definitions)
        for code in ("AB12CD", "XY34ZZ", "Q1W2E3", "AAAAAA", "ZZ99ZZ")
    ]
    schema = f'{{required: [deep, order], {closed}properties: {{order: {{pattern: "^[A-Z0-9]{{6}}$"}}}}}}'
    then = f"{{type: tool_arguments, tool: {tool}, schema: {schema}}}"
    expected = f"- {{when: {{type: tool_called, tool: {tool}}}, then: [{then}]}}  # 5 calls"
    assert expected in lines(traces)


def test_a_look_up_may_have_other_arguments_than_those_that_some_calls_had():
    sometimes = [trial(("get_order", {"id": 1} | ({"deep": True} if at % 2 else {})), number=at) for at in range(6)]
    assert any("tool: get_order, schema: {required: [id]}" in line for line in lines(sometimes))
    changes = [trial(("pay", {"id": 1} | ({"fast": True} if at % 2 else {})), number=at) for at in range(6)]
    assert any("schema: {required: [id], propertyNames: {enum: [fast, id]}}" in line for line in lines(changes))


def test_arguments_that_the_definition_has_are_allowed():
    tool = {"name": "pay", "parameters": {"type": "object", "properties": {"id": {}, "memo": {}}}}
    calls = [replace(trial(("pay", {"id": 1}), number=at), tool_definitions=[tool]) for at in range(5)]
    assert any("schema: {required: [id], propertyNames: {enum: [id, memo]}}" in line for line in lines(calls))
    known = {**tool, "parameters": {"properties": {"id": {}}}}
    calls = [replace(each, tool_definitions=[{"type": "function", "function": known}]) for each in calls]
    assert any("schema: {required: [id], maxProperties: 1}" in line for line in lines(calls))


def test_names_of_arguments_are_learnt_from_three_calls():
    often = [trial(("a", {"x": 1}), ("b", {"x": 1}), number=at) for at in range(3)]
    assert sum("tool_arguments" in line for line in lines([*often, trial(("c", {"x": 1}))])) == 2


def test_limits_are_twice_the_largest_amount_and_three_times_a_single_one():
    def limits(*amounts: float) -> list[str]:
        cost = [
            trial("look", number=at, cost={"usd": usd, "source": "recorded"}, latency={"total_ms": 31_000 * usd})
            for at, usd in enumerate(amounts)
        ]
        return [line.partition("  #")[0] for line in lines(cost) if "_limit" in line]

    assert limits(0.011, 0.02)[0] == "- {type: cost_limit, max_usd: 0.04, on_missing: skip}"
    assert limits(0.011)[0] == "- {type: cost_limit, max_usd: 0.04, on_missing: skip}"
    assert limits(1, 2)[1] == "- {type: latency_limit, max_seconds: 200, on_missing: skip}"
    assert round_up(0.041) == 0.05


def test_runs_of_less_than_a_second_set_no_limit_on_time():
    replayed, real = (trial("look", latency={"total_ms": ms, "source": "recorded"}) for ms in (40, 1_000))
    assert not any("latency_limit" in line for line in lines([replayed]))
    assert any("latency_limit" in line for line in lines([replayed, real]))


def test_an_unknown_amount_of_one_trial_sets_no_limit():
    traces = [trial("look", cost={"usd": 0.1, "source": "recorded"}), trial("look")]
    assert not any("cost_limit" in line for line in lines(traces))


def test_errors_and_repeats_are_limited_if_there_were_none():
    found = lines([trial("look", "pay")] * 2)
    assert any(line.startswith("- {type: max_tool_errors, max: 0}") for line in found)
    assert any(line.startswith("- {type: no_loops, max_repeats: 2}") for line in found)
    strict = lines([trial("look", "pay")] * 2, strictness="strict")
    assert any(line.startswith("- {type: no_loops, max_repeats: 1}") for line in strict)
    failed = replace(trial("look"), tool_calls=[make_call("look", status="error")])
    assert not any("max_tool_errors" in line for line in lines([failed]))


def test_a_quoted_fact_of_a_tool_is_expected_and_prose_is_not():
    def answered(answer: str) -> Trace:
        return replace(trial("look", answer=answer), tool_calls=[make_call("look", result="plan: gold tier, no 4711")])

    found = lines(
        [answered('You have the "gold tier" and "no 4711".'), answered('Your plan is "gold tier", "no 4711".')]
    )
    assert [line.partition("  #")[0] for line in found if line.startswith("- {type: output_contains")] == [
        '- {type: output_contains, value: "gold tier"}'
    ]


def test_what_passing_trials_of_a_scenario_often_differ_in_is_expected_nowhere():
    def answers(*texts: str) -> list[Trace]:
        return [
            trial("look", scenario=f"s{n}", number=at, answer=text) for n in range(4) for at, text in enumerate(texts)
        ]

    steady = [trial("look", scenario="z", number=at) for at in range(2)]
    assert not any("not_empty" in line for line in lines([*answers("Done.", ""), *steady]))
    assert any("not_empty" in line for line in lines([*answers("Done.", "Done."), *steady]))


def test_an_answer_is_expected_where_all_trials_have_one_and_none_refuses():
    assert "- type: not_empty" in lines([trial("look")])
    assert not any("not_empty" in line for line in lines([trial("look"), trial("look", answer=" ")]))
    assert not any("is_refusal" in line for line in lines([trial("look", answer="I can't help with that.")]))


def test_what_holds_in_all_scenarios_is_written_once_and_exceptions_are_named():
    traces = [trial("look", scenario=f"s{at}") for at in range(6)]
    found = lines(traces)
    assert [line for line in found if "max_tool_errors" in line] == ["- {type: max_tool_errors, max: 0}"]
    assert found[found.index("- id: s0  # 1 trial") + 2] == "assertions: [{type: tool_called, tool: look}]"
    failed = replace(trial("look", scenario="bad"), tool_calls=[make_call("look", status="error")])
    found = [line for line in lines([*traces, failed]) if "max_tool_errors" in line]
    condition = "{path: metadata.scenario_id, not_in: [bad]}"
    assert found == [f"- {{when: {condition}, then: [{{type: max_tool_errors, max: 0}}]}}"]


VARIED: Any = (("card", ()), ("cash", ("look",)), ("card", ("search",)))


def test_the_order_of_traces_changes_nothing():
    traces = [trial("look", ("pay", {"method": "card"}), scenario=f"s{at % 4}", number=at) for at in range(12)]
    assert lines(traces) == lines(traces[::-1])
    values = [trial("look", ("pay", {"method": way}), *more, number=at) for at, (way, more) in enumerate(VARIED)]
    assert len({tuple(lines(order)) for order in permutations(values)}) == 1


def test_an_assertion_that_fails_on_a_trace_is_dropped():
    files = build_suite_files(".")
    draft = infer_suite([trial("look", "pay"), trial("look", "pay", number=1)], HEAD, "normal")
    assert "sequence: [look, pay]" in draft.render()[0]
    other = trial("look", number=2)
    suite = check_draft(draft, [other], lambda text: files.parse_text(text, "evals/a.yaml"))
    assert suite is not None
    assert not list(find_failing(suite, [other]))
    assert "pay" not in draft.render()[0].partition("scenarios:")[2]


def test_secrets_are_in_no_line():
    secret = "ghp_" + "a1B2" * 9
    traces = [trial((secret, {"kind": "card", secret: "x"}), "look", scenario=name) for name in ("a", secret)]
    text = "\n".join(lines([*traces, *traces]))
    assert "look" in text
    assert secret not in text
    assert "left out: 1 scenario with a secret or * in the id" in text


@pytest.mark.parametrize(
    ("fields", "passes"),
    [
        ({}, True),
        ({"status": "error"}, False),
        ({"status": "incomplete"}, False),
        ({"evaluations": [("reward", 1.0)]}, True),
        ({"evaluations": [("reward", 0.0)]}, False),
        ({"evaluations": [("helpfulness", 0.4)]}, True),
    ],
)
def test_a_trace_passes_by_its_recorded_outcome_else_by_its_status(fields: dict[str, Any], passes: bool):
    if "evaluations" in fields:
        fields = {
            "evaluations": [
                {"name": name, "score_value": value, "score_label": None, "explanation": None, "source": None}
                for name, value in fields["evaluations"]
            ]
        }
    assert is_passing(replace(trial("look"), **fields)) is passes


@pytest.mark.parametrize(
    "value", ["yes", "a: b", "# c", "- d", "*", "it's", 'say "x"', "\u202e", "\n", "\U000e0001", "1e5", "", "{a}", "%"]
)
def test_any_text_is_read_back_as_it_was(value: str):
    from evalgate.adapters.suites import yaml_tree

    text = f"key: {format_value([value, {value or 'k': value}])}  # reason\n"
    assert yaml_tree.load(text, "a.yaml").value == {"key": [value, {value or "k": value}]}
    assert text.isascii() or text.rstrip("\n").isprintable()


@example(1 / 30_000)
@example(-1e-05)
@example(1e16)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_is_read_back_as_it_was(value: float):
    from evalgate.adapters.suites import yaml_tree

    text = f"key: {format_value(value)}\n"
    for read in (yaml_tree.load(text, "a.yaml").value, yaml.safe_load(text)):
        assert read == {"key": value}
        assert isinstance(read["key"], float)


def test_fixed_text_is_short_words():
    assert is_fixed_text("one_way")
    assert not is_fixed_text("x" * 41)


def test_numbers_have_no_exponent():
    cheap = trial("look", cost={"usd": 0.0000103, "source": "recorded"}, latency={"total_ms": 9e8})
    found = [line for line in lines([cheap]) if "_limit" in line]
    assert found[0] == "- {type: cost_limit, max_usd: 0.00004, on_missing: skip}  # at most 0.000010"
    assert "max_seconds: 3000000," in found[1]
    assert found[1].endswith("# at most 900,000")


def test_an_id_with_an_asterisk_would_be_a_pattern_and_is_left_out():
    found = lines([trial("look", scenario="*"), trial("look", scenario="a")])
    assert '- id: "*"' not in found
    assert "- id: a  # 1 trial" in found


def tagged(*values: str, key: str = "prompt") -> list[Trace]:
    return [
        trial("look", scenario=scenario, number=at, tags=[f"{key}:{value}", "other"])
        for scenario in ("a", "b")
        for at, value in enumerate(values)
    ]


def test_a_tag_that_splits_every_scenario_makes_variants():
    traces = tagged("flat", "nested", "flat")
    expected = 'variants: {flat: {match: {tags: ["prompt:flat"]}}, nested: {match: {tags: ["prompt:nested"]}}}'
    assert expected in lines(traces)
    files = build_suite_files(".")
    suite = check_draft(
        infer_suite(traces, HEAD, "normal"), traces, lambda text: files.parse_text(text, "evals/a.yaml")
    )
    assert suite is not None
    assert [(each.id, each.variant and each.variant.name) for each in suite.scenarios] == [
        ("a", "flat"),
        ("a", "nested"),
        ("b", "flat"),
        ("b", "nested"),
    ]


def test_repetitions_numbers_and_tags_of_some_scenarios_make_no_variants():
    for traces in (tagged("one", "two", key="trial"), tagged("1", "2"), tagged("flat"), tagged("flat", "nested")[:3]):
        assert not any(line.startswith("variants:") for line in lines(traces))


@pytest.mark.parametrize(
    ("call", "scenario", "kept"),
    [
        ("x" * 600, "b", "b"),
        (("look", {"$regex": "economy"}), "b", "b"),
        ("look", "b\nc", None),
        ("look", "b\u202ec", None),
    ],
)
def test_a_name_that_no_suite_can_hold_costs_its_checks_only(call: Any, scenario: str, kept: str | None):
    files = build_suite_files(".")
    traces = [trial("look", "pay", scenario="a", number=number) for number in range(3)]
    traces += [trial(call, scenario=scenario, number=number) for number in range(3)]
    draft = infer_suite(traces, HEAD, "normal")
    suite = check_draft(draft, traces, lambda text: files.parse_text(text, "evals/a.yaml"))
    assert suite is not None
    assert [each.id for each in suite.scenarios] == (["a"] if kept is None else ["a", kept])
    assert all(each.assertions for each in suite.scenarios)


def test_an_amount_too_small_to_write_sets_no_limit():
    cost: Any = {"usd": 5e-324, "source": "recorded"}
    assert not any("cost_limit" in line for line in lines([trial("look", cost=cost)]))


def test_pairs_of_the_first_hundred_tools_only_are_compared():
    traces = [trial(*(f"t{number:03}" for number in range(150)), number=number) for number in range(2)]
    pairs = list_ordered_pairs(traces[0], TraceSet(traces).compared)
    assert len(pairs) == 100 * 99 // 2


def test_scenarios_that_do_the_same_are_all_written():
    files = build_suite_files(".")
    traces = [trial("look", scenario=id_, number=number) for id_ in "abc" for number in range(2)]
    suite = check_draft(
        infer_suite(traces, HEAD, "normal"), traces, lambda text: files.parse_text(text, "evals/a.yaml")
    )
    assert suite is not None
    assert [each.id for each in suite.scenarios] == ["a", "b", "c"]


def scored(*calls: Any, reward: float, number: int, scenario: str = "refund") -> Trace:
    score = {"name": "reward", "score_value": reward, "score_label": None, "explanation": None, "source": None}
    return trial(*calls, scenario=scenario, number=number, evaluations=[score])


def drafted(traces: Sequence[Trace]) -> Any:
    passing = list(filter(is_passing, traces))
    found = FoundTraces(HEAD.traces, passing, [trace for trace in traces if trace not in passing])
    return draft_suite(found, HEAD, "normal", lambda text: build_suite_files(".").parse_text(text, "evals/a.yaml"))


def test_trials_that_failed_when_recorded_are_allowed_by_a_rate_that_chance_rarely_misses():
    traces = [scored("look", "refund", reward=1, number=at) for at in range(3)]
    traces += [scored("look", reward=0, number=3)]
    suite = drafted(traces)
    assert suite.failures.failed == [FailedTrials("refund", 1, 4, ["reward 0"], 1)]
    text, _ = suite.draft.render()
    reason = "only required checks fail a trial; one that is `always` required fails the scenario"
    rate = "trials: {min_pass_rate: 0.25}  # 3 of 4 pass these checks; an unchanged agent passes fewer than 1 in 1 of 20 runs at most\n"
    assert (
        f"  - id: refund  # 3 of 4 trials passed\n    prompt: Hello\n    threshold: 0  # {reason}\n    {rate}" in text
    )
    assert "- {type: tool_calls, tool: refund, exactly: 1, required: true}" in text
    loaded = build_suite_files(".").parse_text(text, "evals/a.yaml")
    judged = [each.trial for each in judge_traces(loaded, traces)]
    rules = loaded.scenarios[0].rules
    assert getattr(judge_scenario([judged[0], *[judged[3]] * 3], 0, rules), "verdict", None) == "PASS"
    assert getattr(judge_scenario([judged[3]] * 4, 0, rules), "verdict", None) == "HARD_FAIL"


def test_checks_that_fail_only_lower_the_score_where_too_few_trials_passed():
    traces = [scored("look", "refund", reward=1, number=1)]
    traces += [scored("look", reward=0, number=at) for at in (2, 3)]
    suite = drafted(traces)
    assert suite.failures == RecordedFailures([FailedTrials("refund", 2, 3, ["reward 0"], 0)], 2, [], 2)
    text = suite.draft.render()[0]
    reason = "only required checks block: too few trials passed to demand the others"
    assert (
        f"  - id: refund  # 1 of 3 trials passed\n    prompt: Hello\n    threshold: 0  # {reason}\n    assertions:\n"
        in text
    )
    assert "- {type: tool_calls, tool: refund, exactly: 1}\n" in text
    assert "- {type: max_tool_errors, max: 0, required: true}\n" in text
    loaded = build_suite_files(".").parse_text(text, "evals/a.yaml")
    good, bad, _ = (each.trial for each in judge_traces(loaded, traces))
    assert (good.status, good.score, bad.status) == ("passed", 1, "passed")
    assert bad.score is not None
    assert bad.score < 1


def test_what_holds_in_all_trials_must_always_hold_where_some_may_fail():
    traces = [scored("look", "refund", reward=1, number=at) for at in range(3)]
    traces += [scored("look", reward=0, number=3)]
    text = drafted(traces).draft.render()[0]
    assert "- {type: max_tool_errors, max: 0, required: always}\n" in text
    assert "- {type: tool_calls, tool: refund, exactly: 1, required: true}" in text


def test_a_shared_check_that_fails_in_a_scenario_with_few_passing_trials_only_scores():
    traces = [replace(scored("look", reward=1, number=at), scenario_id="sound") for at in range(3)]
    traces += [scored("look", reward=1, number=0), *(scored("look", "pay", reward=0, number=at) for at in (1, 2))]
    text = drafted(traces).draft.render()[0]
    assert "- {type: allowed_tools, tools: [look]}  # no other in 4 traces\n" in text


def test_a_shared_check_excepts_the_few_scenarios_in_which_it_only_scores():
    traces = [scored("look", scenario=f"s{n}", reward=1, number=at) for n in range(6) for at in range(3)]
    traces += [scored("look", reward=1, number=0), *(scored("look", "pay", reward=0, number=at) for at in (1, 2))]
    text = drafted(traces).draft.render()[0]
    check = "{type: allowed_tools, tools: [look]}"
    excepting = "{when: {path: metadata.scenario_id, not_in: [refund]}, then: [" + check + "], required: true}"
    assert f"    - {excepting}" in text.replace("required: always", "required: true")
    assert check in text[text.index("- id: refund") : text.index("- id: s0")]


def test_a_scenario_that_an_agent_passes_that_does_nothing_is_named():
    idle = [trial("look", answer="Which one?", number=at, scenario="idle") for at in range(2)]
    idle += [trial("search", answer="Which one?", number=at, scenario="idle") for at in range(2, 4)]
    needed = [trial("look", "pay", number=at) for at in range(3)]
    text = drafted([*needed, *idle]).draft.render()[0]
    assert text.count("# an agent that does nothing passes this") == 0  # its answer is checked everywhere
    silent = [replace(each, response={**each.response, "content": ""}) for each in idle]
    suite = drafted([*needed, *silent])
    assert suite.draft.hollow == ["idle"]
    assert "# an agent that does nothing passes this" in suite.draft.render()[0].partition("- id: idle")[2]


def test_a_rate_of_many_trials_demands_what_its_comment_says():
    traces = [scored("look", "refund", reward=1, number=at) for at in range(5)]
    traces += [scored("look", reward=0, number=at) for at in range(5, 500)]
    text = drafted(traces).draft.render()[0]
    assert (
        "trials: {min_pass_rate: 0.002}  # 5 of 500 pass these checks; an unchanged agent passes fewer than 1" in text
    )


def test_a_failure_that_no_variant_claims_is_named():
    traces = [
        replace(scored("look", scenario=id_, reward=1, number=at), tags=[f"model:{tag}"])
        for id_ in ("a", "b")
        for at, tag in enumerate(("mini", "pro"))
    ]
    lost = replace(scored("look", scenario="a", reward=0, number=5), tags=["model:nano"], trial=5)
    suite = drafted([*traces, lost])
    assert suite.failures == RecordedFailures([], 1, [UnnoticedFailures("a", [5])])


def test_trials_beyond_those_learnt_from_are_judged_too():
    learnt = [scored("look", reward=1, number=at) for at in range(5)]
    others = [scored("look", "pay", reward=1, number=at) for at in range(5, 7)]
    found = FoundTraces(HEAD.traces, learnt, surplus=others)
    suite = draft_suite(found, HEAD, "normal", lambda text: build_suite_files(".").parse_text(text, "evals/a.yaml"))
    assert suite is not None
    assert suite.failures.failed == [FailedTrials("refund", 2, 7, ["reward 1"], 2)]


def test_an_outage_is_no_failure_of_the_agent():
    error: Any = {"message": "Rate limit reached", "type": "RateLimitError", "status_code": 429}
    call: Any = {"index": 0, "turn": 1, "step": 0, "model": "m", "error": error}
    failed = scored(reward=0, number=1).evaluations
    outage = replace(make_trace([], None, llm_calls=[call]), scenario_id="refund", evaluations=failed)
    suite = drafted([scored("look", reward=1, number=0), outage])
    assert suite.failures.recorded == 0


def test_the_rate_is_missed_by_chance_in_one_of_twenty_runs_at_most():
    """Against a simulation of both runs: any rate, then so many passes in the first, then fewer in the second."""
    trials, chance = 6, random.Random(31)  # noqa: S311  (a simulation)
    missed = seen = 0
    for _ in range(20_000):
        rate = chance.random()
        first, second = (sum(chance.random() < rate for _ in range(trials)) for _ in range(2))
        if first == 5:
            seen += 1
            missed += second < find_least_passes(5, trials)
    assert 0 < missed / seen <= 0.05
    assert find_least_passes(5, trials) == 2


def test_a_limit_of_the_only_scenario_stays_a_score_where_trials_fail():
    cost: Any = {"usd": 0.1, "source": "recorded"}
    traces = [scored("look", "refund", reward=1, number=0), scored("look", reward=0, number=1)]
    text = drafted([replace(trace, cost=cost) for trace in traces]).draft.render()[0]
    assert "- {type: cost_limit, max_usd: 0.3, on_missing: skip}  # at most 0.100000\n" in text


def test_a_recorded_failure_that_passes_all_checks_is_named():
    failed = replace(scored("look", reward=0, number=1), trial=7)
    suite = drafted([scored("look", reward=1, number=0), failed])
    assert suite.failures == RecordedFailures([], 1, [UnnoticedFailures("refund", [7])])
    text = suite.draft.render()[0]
    sentence = "1 of 1 recorded failure still passes every check of this suite: refund (trial 7)"
    assert f"# {sentence}\n" in text
    assert "min_pass_rate" not in text


def test_a_scenario_of_which_no_trial_passed_is_named():
    lost = replace(scored("look", reward=0, number=1), scenario_id="lost")
    assert (
        "# no scenario for lost: no trial passed\n"
        in drafted([scored("look", reward=1, number=0), lost]).draft.render()[0]
    )


def test_a_trace_of_tokens_alone_records_no_calls():
    assert records_calls(trial("look"))
    assert not records_calls(replace(trial(), messages=[], tool_calls=[]))
    assert not records_calls(trial(gaps={"calls": "not captured"}))
