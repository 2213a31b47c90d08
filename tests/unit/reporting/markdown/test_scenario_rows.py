from __future__ import annotations

import re

import pytest
from builders import make_trace
from markdown_check import HOSTILE, find_flaws
from results_builder import a_change, a_scenario, a_trial, an_assertion, some_calls

from evalgate.gate.trajectory.trajectory_diff import diff_trajectories, trajectory_from_trace
from evalgate.models.comparison.trajectory import TrajectoryDiff
from evalgate.reporting.markdown.scenario_rows import format_trajectory_diff
from evalgate.reporting.results.clean_values import clean_record
from evalgate.reporting.text.scenario_sections import count_trials, describe_pass_rule, describe_unmet_rule


def diff_lines(before, now):
    text = format_trajectory_diff(a_change("broken", calls=some_calls(before, now)))
    title, _, block = text.partition("\n\n")
    assert title == "Tool calls, in the baseline (\u2212) and now (+):"
    first, *inside, last = block.split("\n")
    assert (first, last) == ("```diff", "```")
    return inside


def test_a_removed_and_an_added_call_are_marked():
    before, now = ["look_up", "get_order", "mail"], ["look_up", "refund_order", "mail"]
    assert diff_lines(before, now) == ["\u2502 look_up", "- get_order", "+ refund_order", "\u2502 mail"]


def test_long_runs_of_equal_calls_are_counted_except_the_nearest():
    before = [*"abcdefg", "old", *"hijklm"]
    now = [*"abcdefg", "new", *"hijklm"]
    assert diff_lines(before, now) == [
        "\u2502 \u2026 6 unchanged", "\u2502 g", "- old", "+ new", "\u2502 h", "\u2502 \u2026 5 unchanged",
    ]  # fmt: skip


def test_equal_calls_in_a_row_are_one_line():
    assert diff_lines(["search"], ["search", *["search"] * 9, "stop"]) == [
        "\u2502 search",
        "+ search \u00d79",
        "+ stop",
    ]


def test_a_long_difference_ends_in_a_count():
    text = diff_lines([f"a{n}" for n in range(30)], ["b"])
    assert len(text) == 15
    assert text[-1] == "\u2502 \u2026 and 17 more lines"


@pytest.mark.parametrize(("calls", "words"), [(["a", "b"], "2 tool calls"), (["a"], "call of ` a `")])
def test_equal_calls_are_one_sentence(calls, words):
    text = format_trajectory_diff(a_change("broken", calls=some_calls(calls, list(calls))))
    assert text == f"The same {words} as in the baseline."


def test_without_calls_nothing_is_shown():
    assert format_trajectory_diff(None) == ""
    assert format_trajectory_diff(a_change("broken")) == ""
    assert format_trajectory_diff(a_change("broken", calls=some_calls([], []))) == ""


def test_very_long_names_give_a_bounded_diff():
    text = format_trajectory_diff(
        a_change("broken", calls=some_calls(["x" * 600] * 3, [f"{n}" * 600 for n in range(900)]))
    )
    assert len(text) < 4_000


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_stay_in_code(text):
    assert (
        find_flaws(format_trajectory_diff(a_change("broken", calls=some_calls([text, "a"], ["a", text, text])))) == []
    )


def diff_of_traces(before, now):
    difference = diff_trajectories(trajectory_from_trace(before), trajectory_from_trace(now), 0, 0)
    return format_trajectory_diff(
        a_change("broken", behaviour=clean_record(difference, TrajectoryDiff), calls=some_calls(["a"], ["b"]))
    )


def test_a_diff_of_traces_shows_changed_arguments():
    text = diff_of_traces(
        make_trace([("look_up", {"id": 1}), ("pay", {"amount": 10, "to": "a"}), ("mail", {})]),
        make_trace([("look_up", {"id": 1}), ("pay", {"amount": 99, "cc": True}), ("log", {"x": 1})]),
    )
    assert text.split("\n") == [
        "Tool calls, in the baseline (\u2212) and now (+):",
        "",
        "```diff",
        "\u2502 look_up",
        '- pay(amount: 10, to: "a", cc: nothing)',
        "+ pay(amount: 99, to: nothing, cc: true)",
        "- mail {}",
        '+ log {"x":1}',
        "```",
    ]


def test_of_traces_with_the_same_calls_the_answers_are_shown():
    text = diff_of_traces(make_trace(["a"], "It costs $10 now."), make_trace(["a"], "It costs $100 now."))
    assert text.split("\n\n") == [
        "Final answer, in the baseline (\u2212) and now (+) (after the same call of ` a `):",
        "```diff\n- It costs $10 now.\n+ It costs $100 now.\n```",
    ]


@pytest.mark.parametrize(
    ("calls", "note"),
    [
        (["look_up"], "after the same call of ` look_up `; only look-ups"),
        (["look_up", "get_order"], "after the same 2 tool calls; only look-ups"),
        (["look_up", "cancel_order"], "after the same 2 tool calls"),
    ],
)
def test_answers_are_shown_with_what_the_calls_before_them_can_have_changed(calls, note):
    text = diff_of_traces(make_trace(calls, "It is cancelled."), make_trace(calls, "I can't do that."))
    assert text.startswith(f"Final answer, in the baseline (\u2212) and now (+) ({note}):\n")


def test_answers_of_an_agent_that_called_none_of_its_tools_say_so():
    tools = [{"name": "cancel_order"}]
    before, now = (make_trace([], text, tool_definitions=tools) for text in ("It is cancelled.", "I can't do that."))
    assert diff_of_traces(before, now).startswith(
        "Final answer, in the baseline (\u2212) and now (+) (no tool was called):\n"
    )


def test_changed_calls_and_a_changed_answer_are_one_block():
    text = diff_of_traces(make_trace(["a"], "Yes."), make_trace(["b"], "No."))
    assert text == (
        "Tool calls and final answer, in the baseline (\u2212) and now (+):\n\n"
        "```diff\n- a {}\n+ b {}\n\u2502 \n- Yes.\n+ No.\n```"
    )


def test_of_long_answers_only_the_text_near_the_difference_is_shown():
    shared = " ".join(f"word{n}" for n in range(200))
    text = diff_of_traces(make_trace((), f"{shared} old {shared}"), make_trace((), f"{shared} new {shared}"))
    before, now = (line for line in text.split("\n") if line[:1] in "-+" and len(line) > 1)
    assert re.fullmatch(r"- ….{40}old.{40}…", before)
    assert re.fullmatch(r"\+ ….{40}new.{40}…", now)


def test_the_error_of_an_incomplete_trace_is_shown():
    now = make_trace(["a"], status="error", error={"type": None, "message": "timed out"})
    assert diff_of_traces(make_trace(["a"]), now).endswith("The trace ends in an error: ` timed out `")
    text = diff_of_traces(make_trace(["a"]), make_trace(["a"], status="incomplete"))
    assert text.endswith("The trace ends differently: ` ok ` before, ` incomplete ` now.")


def test_traces_with_very_many_differences_give_a_bounded_diff():
    calls = [(f"tool{n}", {f"key{k}": "x" * 500 for k in range(20)}) for n in range(300)]
    text = diff_of_traces(make_trace((), "a " * 9_000), make_trace(calls, "b " * 9_000))
    assert len(text) < 4_000


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_traces_stay_in_code(text):
    before = make_trace([("a", {"x": 1}), (text, {text: text})], text, user=text)
    now = make_trace(
        [("a", {"x": text}), text], f"{text} {text}", status="error", error={"type": None, "message": text}
    )
    assert find_flaws(diff_of_traces(before, now)) == []
    assert find_flaws(diff_of_traces(now, before)) == []


@pytest.mark.parametrize(
    ("verdict", "statuses", "more", "rule"),
    [
        ("HARD_FAIL", "pph", {}, "all must pass"),
        ("HARD_FAIL", "phh", {"passes_needed": 2}, "at least 2 must pass"),
        ("HARD_FAIL", "pph", {"passes_needed": 2}, "all must pass"),  # a check that is always required
        ("PASS", "ppf", {"passes_needed": 2}, "at least 2 must pass"),
        ("PARTIAL", "ppf", {"passes_needed": 3}, "all must pass"),
        ("PASS", "ppf", {}, "mean score 0.8 is enough"),
        ("PARTIAL", "ppf", {}, ""),  # its reason says which score is too low
        ("HARD_FAIL", "hhh", {}, ""),
        ("PASS", "ppp", {"passes_needed": 2}, ""),
        ("HARD_FAIL", "h", {}, ""),
    ],
)
def test_the_rule_that_decides_is_beside_the_number_of_trials(verdict, statuses, more, rule):
    words = {"p": "passed", "f": "failed", "h": "hard_fail"}
    trials = [a_trial(number, words[status]) for number, status in enumerate(statuses)]
    scenario = a_scenario("a", verdict, trials=trials, **more)
    share = f"{statuses.count('p')}/{len(statuses)}" if len(statuses) > 1 else ""
    assert describe_pass_rule(scenario) == rule
    assert count_trials(scenario) == (f"{share}, {rule}" if rule else share)


@pytest.mark.parametrize(
    ("reason", "needed", "words"),
    [
        ("1 of 3 trials passed, expected a pass rate of at least 0.6", 2, "1 of 3 trials passed, at least 2 must pass"),
        (
            "c: bad (in 2 of 3 trials), 1 of 3 trials passed, expected at least 3 of 3",
            3,
            "1 of 3 trials passed, all must pass",
        ),
        (
            "score 0.40 is below the threshold 0.8, 1 of 3 trials passed",
            2,
            "score 0.40 is below the threshold 0.8, 1 of 3 trials passed",
        ),
    ],
)
def test_an_unmet_pass_rate_is_a_number_of_trials(reason, needed, words):
    trials = [a_trial(0), *(a_trial(number, "failed", assertions=[an_assertion("c", "failed")]) for number in (1, 2))]
    scenario = a_scenario("a", "PARTIAL", trials=trials, reason=reason, passes_needed=needed)
    assert describe_unmet_rule(scenario) == words
