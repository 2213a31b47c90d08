from __future__ import annotations

import re

import pytest
from builders import make_call, make_trace
from markdown_check import HOSTILE, flaws
from results_builder import a_change, some_calls

from evalgate.gate.trajectory.trajectories import trajectory_from_trace
from evalgate.gate.trajectory.trajectory_diff import diff_trajectories
from evalgate.reporting.markdown.scenario_rows import format_trajectory_diff
from evalgate.reporting.results.trajectory_doc import build_trajectory_diff_doc


def lines(before, now):
    told = format_trajectory_diff(a_change("broken", calls=some_calls(before, now)))
    title, _, block = told.partition("\n\n")
    assert title == "Tool calls, in the baseline (\u2212) and now (+):"
    first, *inside, last = block.split("\n")
    assert (first, last) == ("```diff", "```")
    return inside


def test_a_call_that_went_and_one_that_came_are_marked():
    before, now = ["look_up", "get_order", "mail"], ["look_up", "refund_order", "mail"]
    assert lines(before, now) == ["\u2502 look_up", "- get_order", "+ refund_order", "\u2502 mail"]


def test_calls_kept_at_length_are_counted_but_for_the_nearest():
    before = [*"abcdefg", "old", *"hijklm"]
    now = [*"abcdefg", "new", *"hijklm"]
    assert lines(before, now) == [
        "\u2502 \u2026 6 as before", "\u2502 g", "- old", "+ new", "\u2502 h", "\u2502 \u2026 5 as before",
    ]  # fmt: skip


def test_equal_calls_in_a_row_are_one_line():
    assert lines(["search"], ["search", *["search"] * 9, "stop"]) == [
        "\u2502 search",
        "+ search \u00d79",
        "+ stop",
    ]


def test_a_long_difference_ends_in_a_count():
    told = lines([f"a{n}" for n in range(30)], ["b"])
    assert len(told) == 15
    assert told[-1] == "\u2502 \u2026 and 17 more lines"


@pytest.mark.parametrize(("calls", "words"), [(["a", "b"], "2 calls"), (["a"], "1 call")])
def test_the_same_calls_are_a_sentence(calls, words):
    told = format_trajectory_diff(a_change("broken", calls=some_calls(calls, list(calls))))
    assert told == f"Tool calls: the same as in the baseline ({words})."


def test_without_calls_nothing_is_said():
    assert format_trajectory_diff(None) == ""
    assert format_trajectory_diff(a_change("broken")) == ""
    assert format_trajectory_diff(a_change("broken", calls=some_calls([], []))) == ""


def test_names_without_end_are_told_in_little_room():
    told = format_trajectory_diff(
        a_change("broken", calls=some_calls(["x" * 600] * 3, [f"{n}" * 600 for n in range(900)]))
    )
    assert len(told) < 4_000


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_stay_code(text):
    assert flaws(format_trajectory_diff(a_change("broken", calls=some_calls([text, "a"], ["a", text, text])))) == []


def of_recordings(before, now):
    difference = diff_trajectories(trajectory_from_trace(before), trajectory_from_trace(now), 0, 0)
    return format_trajectory_diff(
        a_change("broken", behaviour=build_trajectory_diff_doc(difference), calls=some_calls(["a"], ["b"]))
    )


def test_recordings_tell_what_changed_in_the_arguments():
    told = of_recordings(
        make_trace([("look_up", {"id": 1}), ("pay", {"amount": 10, "to": "a"}), ("mail", {})]),
        make_trace([("look_up", {"id": 1}), ("pay", {"amount": 99, "cc": True}), ("log", {"x": 1})]),
    )
    assert told.split("\n") == [
        "Tool calls, in the baseline (\u2212) and now (+); the first difference is call 2 in turn 1:",
        "",
        "```diff",
        "\u2502 look_up",
        '- pay(amount: 10, to: "a", cc: nothing)',
        "+ pay(amount: 99, to: nothing, cc: true)",
        "- mail {}",
        '+ log {"x":1}',
        "```",
    ]


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (["a", "c"], "; the first difference is call 2 of the baseline in turn 1, which is missing:"),
        (["a", "b", "b", "c"], "; the first difference is call 3 in turn 1, which is new:"),
        ([make_call("a", status="error"), "b", "c"], "; the first difference is call 1 in turn 1:"),
    ],
)
def test_recordings_tell_where_they_part(now, words):
    assert of_recordings(make_trace(["a", "b", "c"]), make_trace(now)).split("\n")[0].endswith(f"(+){words}")


def test_of_recordings_with_the_same_calls_the_answers_are_told():
    told = of_recordings(make_trace(["a"], "It costs $10 now."), make_trace(["a"], "It costs $100 now."))
    assert told.split("\n\n") == [
        "Tool calls: the same as in the baseline, with the same arguments (1 call).",
        "Final answer, in the baseline (\u2212) and now (+):",
        "```diff\n- It costs $10 now.\n+ It costs $100 now.\n```",
    ]


def test_of_long_answers_what_is_near_the_difference_is_told():
    shared = " ".join(f"word{n}" for n in range(200))
    told = of_recordings(make_trace((), f"{shared} old {shared}"), make_trace((), f"{shared} new {shared}"))
    before, now = (line for line in told.split("\n") if line[:1] in "-+" and len(line) > 1)
    assert re.fullmatch(r"- ….{40}old.{40}…", before)
    assert re.fullmatch(r"\+ ….{40}new.{40}…", now)


def test_a_recording_that_broke_off_says_why():
    now = make_trace(["a"], status="error", error={"type": None, "message": "timed out"})
    assert of_recordings(make_trace(["a"]), now).endswith("The recording ends in an error: ` timed out `")
    told = of_recordings(make_trace(["a"]), make_trace(["a"], status="incomplete"))
    assert told.endswith("The recording ends otherwise: ` ok ` before, ` incomplete ` now.")


def test_recordings_that_differ_without_end_are_told_in_little_room():
    calls = [(f"tool{n}", {f"key{k}": "x" * 500 for k in range(20)}) for n in range(300)]
    told = of_recordings(make_trace((), "a " * 9_000), make_trace(calls, "b " * 9_000))
    assert len(told) < 4_000


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_recordings_stay_code(text):
    before = make_trace([("a", {"x": 1}), (text, {text: text})], text, user=text)
    now = make_trace([("a", {"x": text}), text], f"{text} {text}", status="error", error={"message": text})
    assert flaws(of_recordings(before, now)) == []
    assert flaws(of_recordings(now, before)) == []
