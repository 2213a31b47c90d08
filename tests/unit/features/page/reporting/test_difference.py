"""The difference of two traces on the page: which call leads, the sentence about it, and how each recording ends."""

from __future__ import annotations

import pytest
from builders import make_trace
from page_builders import a_step
from results_builder import a_change, a_scenario, a_suite, results

from evalgate.features.page.reporting.difference import build_difference, find_difference, rank_difference
from evalgate.features.page.reporting.scenario_order import order_scenarios
from evalgate.features.page.reporting.trace_details import (
    NO_DETAILS,
    RecordedPair,
    describe_endings,
    find_unanswered,
    is_unanswered,
)


def compare(*steps, what="calls", left=0, **changes):
    """The view of a difference with these steps."""
    first = {"turn": 1, "what": what, "before": 1, "now": None}
    found = {"trial_before": 0, "trial": 0, "first": first, "steps": list(steps), "steps_left": left}
    return build_difference(
        a_change("broken", behaviour={**found, "said": [], "response": [], "figures": [], **changes})
    )


def describe(*steps, **changes):
    """The sentences about the leading and about the first difference of these steps."""
    difference = compare(*steps, **changes)
    return " | ".join("`".join(parts) for parts in (difference.sentence, difference.first) if parts)


SAME = a_step("same", "search", 1, 1)
TO_ERROR = {"before": "ok", "now": "error"}
NEW_ERROR = {"before": None, "now": "error"}


def a_value(path, before, now):
    return {"path": path, "before": before, "now": now}


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        (
            [SAME, a_step("removed", "refund", 2), a_step("added", "escalate", None, 2, outcome=NEW_ERROR)],
            (
                "The agent no longer calls `refund` (call 2 of the baseline, turn 2), but calls `escalate`"
                " (call 2, turn 2), which ended with an error."
            ),
        ),
        (
            [SAME, a_step("removed", "check", 2), a_step("removed", "find", 3)],
            "The agent no longer calls `check` (call 2 of the baseline, turn 2) and makes no further call.",
        ),
        (
            [a_step("removed", "check", 1), a_step("same", "search", 2, 1)],
            "The agent no longer calls `check` (call 1 of the baseline, turn 2).",
        ),
        (
            [a_step("removed", "get", 1, arguments='{"id":1}'), a_step("same", "get", 2, 1)],
            'The agent no longer calls `get` with `{"id":1}` (call 1 of the baseline, turn 2).',
        ),
        (
            [a_step("removed", "get", 1), a_step("same", "get", 2, 1)],
            "A call of `get` with `{}` is missing (call 1 of the baseline, turn 2).",
        ),
        ([a_step("added", "x", None, 1)], "The agent calls `x` (call 1, turn 2), which it did not do in the baseline."),
        (
            [SAME, a_step("added", "search", None, 2, arguments='{"q":"a"}', outcome=NEW_ERROR)],
            (
                'The agent calls `search` with `{"q":"a"}` (call 2, turn 2), which it did not do in the baseline,'
                " and it ended with an error."
            ),
        ),
        ([SAME, a_step("added", "search", None, 2)], "A call of `search` with `{}` is new (call 2, turn 2)."),
        (
            [a_step("changed", "x", 1, 1, changes=[a_value("id", '"a"', '"b"')])],
            'The agent calls `x` with other arguments: `id: "a" \u2192 "b"` (call 1, turn 2).',
        ),
        (
            [a_step("changed", "x", 1, 1, changes=[a_value(name, "1", None) for name in "abc"], changes_left=2)],
            (
                "The agent calls `x` with other arguments: `a: 1 \u2192 nothing`, `b: 1 \u2192 nothing`"
                " and at 3 more places (call 1, turn 2)."
            ),
        ),
        (
            [a_step("same", "x", 1, 1, outcome=TO_ERROR)],
            "The call of `x` (call 1, turn 2) ended with an error; in the baseline it ended ok.",
        ),
        (
            [a_step("same", "x", 1, 1, outcome={"before": "error", "now": "ok"})],
            "The call of `x` (call 1, turn 2) ended otherwise: `error \u2192 ok`.",
        ),
    ],
)
def test_difference_is_a_sentence_about_what_the_agent_did_instead(steps, sentence):
    assert describe(*steps) == sentence


def test_call_of_which_others_may_be_left_out_is_not_called_the_only_one():
    assert describe(a_step("removed", "pay", 1), left=3) == (
        "A call of `pay` with `{}` is missing (call 1 of the baseline, turn 2)."
    )
    assert describe(a_step("added", "pay", None, 1), left=3) == "A call of `pay` with `{}` is new (call 1, turn 2)."


PROSE = a_value("summary", '"the customer wants a refund"', '"a refund is what they want"')


@pytest.mark.parametrize(
    ("steps", "leading"),
    [
        ([a_step("removed", "get_order", 1), a_step("removed", "pay", 2)], "pay"),
        ([a_step("added", "pay", None, 1, outcome=NEW_ERROR), a_step("removed", "refund", 1)], "refund"),
        ([a_step("removed", "refund", 1), a_step("changed", "pay", 2, 1, changes=[a_value("id", "1", "2")])], "pay"),
        ([a_step("changed", "transfer", 1, 1, changes=[PROSE]), a_step("removed", "refund", 2)], "refund"),
        ([a_step("removed", "refund", 1), a_step("same", "pay", 2, 1, outcome=TO_ERROR)], "pay"),
        (
            [a_step("removed", "pay", 1, outcome={"before": "error", "now": None}), a_step("removed", "refund", 2)],
            "refund",
        ),
        ([a_step("removed", "get_order", 1), a_step("removed", "find_user", 2)], "get_order"),
    ],
)
def test_call_that_changes_something_leads_before_look_ups_and_before_new_errors(steps, leading):
    difference = compare(*steps)

    assert [step.name for step in difference.steps if step.is_leading] == [leading]
    assert f"`{leading}`" in "`".join(difference.sentence)
    assert bool(difference.first) is (steps[0]["name"] != leading)


def test_first_difference_is_a_second_sentence_if_another_call_leads():
    assert describe(a_step("removed", "get_order", 1), a_step("removed", "pay", 2)) == (
        "The agent no longer calls `pay` (call 2 of the baseline, turn 2) and makes no further call."
        " | First difference: `get_order` is missing (call 1 of the baseline, turn 2)."
    )


def test_message_of_the_user_is_named_only_if_no_call_differs():
    assert describe(a_step("added", "x", None, 1), what="user") == (
        "The agent calls `x` (call 1, turn 2), which it did not do in the baseline."
    )
    assert describe(SAME, what="user") == "The calls are the same. | First difference: the user's message in turn 1."


def test_call_at_another_place_that_fails_now_leads_with_both_places():
    moved = a_step("added", "exchange", 1, 2, outcome=TO_ERROR)
    assert describe(a_step("removed", "exchange", 1), a_step("same", "search", 2, 1), moved) == (
        "The call of `exchange` (call 1 of the baseline, now call 2, turn 2) ended with an error;"
        " in the baseline it ended ok."
    )
    steps = compare(a_step("removed", "exchange", 1), moved).steps
    assert [(step.word, step.details, step.is_error) for step in steps] == [
        ("order changed", ["order changed", "ended: ok \u2192 error"], True)
    ]


def test_call_that_fails_now_names_the_calls_with_an_effect_that_the_baseline_made_after_it():
    moved = a_step("added", "exchange_items", 1, 4, outcome=TO_ERROR)
    others = [a_step("same", "get_order", 2, 1), a_step("same", "return_items", 3, 2), a_step("same", "pay", 4, 3)]
    steps = [a_step("removed", "exchange_items", 1), *others, moved]
    difference = compare(*steps)

    assert "`".join(difference.sentence) == (
        "The call of `exchange_items` (call 1 of the baseline, now call 4, turn 2) ended with an error, after"
        " `return_items` (call 2) and `pay` (call 3), which the baseline called later; in the baseline it ended ok."
    )
    assert [step.name for step in difference.steps if step.is_before] == ["return_items", "pay"]
    same = [a_step("same", "pay", 1, 1), a_step("same", "refund", 2, 2, outcome=TO_ERROR)]
    assert "after" not in describe(*same)


ENDS_WITH_USER = " The recording ends with the user\u2019s message, which the agent did not answer."


@pytest.mark.parametrize(
    ("kind", "steps", "is_named"),
    [
        ("broken", [SAME, a_step("removed", "pay", 2), a_step("removed", "find", 3)], True),
        ("broken", [a_step("removed", "pay", 1), a_step("same", "search", 2, 1)], False),
        ("broken", [SAME, a_step("added", "pay", None, 2)], False),
        ("fixed", [SAME, a_step("removed", "pay", 2)], False),
    ],
)
def test_missing_call_after_which_only_the_user_wrote_says_so(kind, steps, is_named):
    behaviour = {**FIXED, "steps": steps}
    change = a_change(kind, behaviour=behaviour)
    sentence = "".join(build_difference(change, is_unanswered=True).sentence)

    assert sentence.endswith(ENDS_WITH_USER) is is_named
    assert find_difference(change, is_unanswered=True).endswith("; ends with the user") is is_named
    assert ENDS_WITH_USER not in "".join(build_difference(change).sentence)


FIXED = {
    "trial_before": 0,
    "trial": 0,
    "first": {"turn": 1, "what": "calls", "before": 1, "now": None},
    "steps_left": 0,
    "said": [],
    "response": [],
    "figures": [],
}


@pytest.mark.parametrize(("text", "is_message"), [("###STOP###", False), ("", False), ("Yes. ###STOP###", True)])
def test_stop_mark_alone_is_no_message_of_the_user(text, is_message):
    assert is_unanswered(NO_DETAILS._replace(unanswered=text)) is is_message


def test_scenario_that_is_better_now_is_not_explained_by_a_call_that_was_repeated_without_an_error():
    failed, done = a_step("added", "modify", None, 2, outcome=NEW_ERROR), a_step("added", "modify", None, 3)
    steps = [SAME, a_step("removed", "cancel", 2), failed, done]
    better = a_change("fixed", behaviour={**FIXED, "steps": steps})
    worse = a_change("broken", behaviour={**FIXED, "steps": steps})

    assert "".join(build_difference(better).sentence).endswith("but calls modify (call 3, turn 2).")
    assert "".join(build_difference(worse).sentence).endswith("(call 2, turn 2), which ended with an error.")
    change = a_change("fixed", behaviour={**FIXED, "steps": [failed, done]})
    assert find_difference(change) == "modify: new"


def test_missing_call_has_the_number_of_the_one_in_its_place():
    steps = compare(SAME, a_step("removed", "refund", 2), a_step("added", "escalate", None, 2)).steps
    assert [step.instead for step in steps] == ["", "2", ""]


WITH_OTHER_ARGUMENTS = a_step("changed", "pay", 1, 1, changes=[a_value("id", "1", "2")])


def test_plainest_fault_is_first_in_the_order():
    steps = [
        WITH_OTHER_ARGUMENTS,
        a_step("same", "pay", 1, 1, outcome=TO_ERROR),
        a_step("removed", "pay", 1),
        a_step("added", "pay", None, 1),
        {**WITH_OTHER_ARGUMENTS, "name": "get"},
    ]
    changes = [a_change("broken", behaviour={**FIXED, "steps": [step]}) for step in steps]

    assert [rank_difference(change) for change in changes] == [0, 1, 2, 4, 4]
    assert [rank_difference(change, is_unanswered=True) for change in changes] == [0, 1, 3, 4, 4]
    assert rank_difference(a_change("broken")) == rank_difference(None) == 4


def test_scenario_that_passes_has_no_marked_call_and_its_heading_blames_nothing():
    calls = {"trial_before": 0, "before": ["get"], "trial": 0, "now": ["get", "find"]}
    change = a_change("unchanged", calls=calls)
    view = build_difference(change, is_passing=True)

    assert (view.heading, [step.is_leading for step in view.steps]) == (
        "Other calls than in the baseline",
        [False, False],
    )
    assert view.sentence == [
        "Only the names of the calls were compared: arguments and results are compared in scenarios that got worse."
    ]


@pytest.mark.parametrize(
    ("now", "baseline", "endings"),
    [
        ("###STOP###", "###STOP###", []),
        ("###STOP###", None, []),
        ("", "", []),
        ("Yes, do it. ###STOP###", None, ["Then the user wrote: “Yes, do it. ###STOP###” The recording ends there."]),
        (
            "Yes.",
            "###STOP###",
            [
                "Then the user wrote: “Yes.” The recording ends there.",
                "The baseline ends with “###STOP###” of the user.",
            ],
        ),
        ("", "Bye", ["No message of the user follows.", "The baseline ends with “Bye” of the user."]),
    ],
)
def test_message_that_the_agent_did_not_answer_is_a_fact(now, baseline, endings):
    sides = [
        NO_DETAILS._replace(unanswered=now),
        None if baseline is None else NO_DETAILS._replace(unanswered=baseline),
    ]
    assert describe_endings(RecordedPair(*sides)) == endings


def test_message_is_unanswered_only_if_neither_text_nor_call_follows():
    asked = make_trace(turns=[("hi", "hello")], user="Yes, please", response=None)
    assert find_unanswered(asked) == "Yes, please"
    assert find_unanswered(make_trace(user="Yes", response="Done.")) == ""
    assert find_unanswered(make_trace(["pay"], None, user="Yes")) == ""


def test_call_at_another_place_is_one_line_with_both_numbers():
    steps = [a_step("removed", "check", 1), a_step("same", "refund", 2, 1), a_step("added", "check", None, 2)]
    first = {"turn": 1, "what": "calls", "before": 1, "now": None}
    found = {"trial_before": 0, "trial": 0, "first": first, "steps": steps, "steps_left": 0}
    difference = build_difference(a_change("broken", behaviour={**found, "said": [], "response": [], "figures": []}))

    assert [(each.baseline_number, each.number, each.word) for each in difference.steps] == [
        ("2", "1", ""),
        ("1", "2", "order changed"),
    ]
    assert "`".join(difference.sentence) == (
        "The order of the calls changed: the agent calls `check` at another place"
        " (call 1 of the baseline, now call 2, turn 2)."
    )


def test_new_call_that_ended_with_an_error_shows_it():
    step = a_step("added", "refund", None, 1, outcome={"before": None, "now": "error"})
    step["answer"] = {"before": None, "now": "card declined"}
    found = {"trial_before": 0, "trial": 0, "first": None, "steps": [step], "steps_left": 0}
    difference = build_difference(a_change("broken", behaviour={**found, "said": [], "response": [], "figures": []}))

    assert difference.steps[0].details == ["ended: error", "result: card declined"]


@pytest.mark.parametrize(
    ("before", "now", "finding"),
    [
        (["get", "pay"], ["get", "pay"], ""),
        (["get", "pay"], ["pay", "get"], "the order of the calls"),
        (["get", "pay"], [], "pay: missing"),
        (["get"], ["get", "get"], "get: more calls"),
        (["get", "get"], ["get", "find"], "get: fewer calls"),
        ([], ["get"], "get: new"),
    ],
)
def test_list_names_what_differs_between_the_names_of_calls(before, now, finding):
    calls = {"trial_before": 0, "before": before, "trial": 0, "now": now}
    assert find_difference(a_change("unchanged", calls=calls)) == finding


@pytest.mark.parametrize(
    ("steps", "finding"),
    [
        ([SAME], ""),
        ([a_step("removed", "pay", 1)], "pay: missing"),
        ([a_step("removed", "pay", 1, arguments="[1]"), a_step("same", "pay", 2, 1)], "pay: one call missing"),
        ([a_step("added", "pay", None, 1, outcome=NEW_ERROR)], "pay: new, ended with an error"),
        ([a_step("changed", "pay", 1, 1)], "pay: other arguments"),
        ([a_step("same", "pay", 1, 1, outcome=TO_ERROR)], "pay: ok \u2192 error"),
        ([a_step("removed", "pay", 1), SAME, a_step("added", "pay", 1, 2)], "pay: at another place"),
    ],
)
def test_list_names_the_leading_difference(steps, finding):
    behaviour = {**FIXED, "steps": steps}
    assert find_difference(a_change("broken", behaviour=behaviour)) == finding


def test_new_call_that_failed_is_no_green_line_and_one_that_did_not_is():
    steps = compare(a_step("added", "pay", None, 1, outcome=NEW_ERROR), a_step("added", "get", None, 2)).steps
    assert [step.is_error for step in steps] == [True, False]


def test_names_of_a_scenario_that_got_worse_say_that_nothing_was_read():
    calls = {"trial_before": 0, "before": ["get"], "trial": 0, "now": ["get"]}
    view = build_difference(a_change("broken", calls=calls))
    assert view.heading == "Compared with the baseline"
    assert view.sentence == [
        (
            "Only the names of the calls were compared, and they are the same:"
            " the run did not read the baseline's conversation of this scenario."
        )
    ]


def test_score_and_recorded_drop_order_scenarios_before_the_difference_does():
    missing, other = [a_step("removed", "pay", 1)], [WITH_OTHER_ARGUMENTS]
    scenarios = [
        a_scenario(name, "FAIL", a_change("broken", behaviour={**FIXED, "steps": steps}), score=score)
        for name, steps, score in (
            ("missing", missing, 0.5),
            ("other", other, 0.5),
            ("dropped", missing, 0.5),
            ("lowest", missing, 0.1),
        )
    ]
    document = results([a_suite("support", scenarios, "fail")], "fail")
    sides = [NO_DETAILS._replace(scores={"reward": value}) for value in (0.0, 1.0)]
    ordered = order_scenarios(document, {id(scenarios[2]): RecordedPair(*sides)})

    assert [item.scenario["id"] for item in ordered] == ["lowest", "dropped", "other", "missing"]
