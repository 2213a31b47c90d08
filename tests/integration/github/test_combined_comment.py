"""One comment for all legs of a matrix, whatever order they end in, and whoever else writes at that moment."""

from __future__ import annotations

from itertools import islice, permutations

import pytest
from fakes.agent import BOT, next_run, own_comments, trace, write_trace
from msgspec.structs import replace

from evalgate.adapters.http import RequestDeadline
from evalgate.application.action.combined_comment import Leg, merge_section, read_sections
from evalgate.reporting.markdown.heading import NOTHING_NEW, PASSED

NAMES = ("a", "b", "c", "d", "e", "f")
KEY = "evalgate.yml/gate"


def leg(name, *, run=9001, attempt=1, passed=True, room=60_000, commit=""):
    return Leg(KEY, name, run, attempt, passed, room, commit)


def report(name, words="passed"):
    return f"<!-- evalgate:sticky v1 key=x/{name} -->\n## \u2705 EvalGate {words} in {name}\n\nbody of {name}{' and more' * 40}\n"


def write(comment, one, words="passed"):
    return merge_section(one, report(one.name, words), [comment] if comment else [])


def legs_of(text):
    return [each.leg for each in read_sections(text)]


@pytest.mark.parametrize("order", list(islice(permutations(NAMES), 0, 720, 60)), ids="".join)
def test_six_legs_in_any_order_make_the_same_comment(order):
    comment = ""
    for name in order:
        comment = write(comment, leg(name, passed=name != "d"))
    assert legs_of(comment) == ["d", "a", "b", "c", "e", "f"]
    assert comment.split("\n")[1] == "## \u274c EvalGate did not pass in 1 of 6 legs"
    assert [comment.count(f"body of {name}") for name in NAMES] == [1] * 6


@pytest.mark.parametrize(
    ("other", "sign", "order"),
    [
        (leg("d"), "\U0001f7e1", ["b", "a", "d"]),
        (leg("d", passed=False), "\u274c", ["d", "b", "a"]),
    ],
)
def test_a_leg_to_look_at_is_no_green_one_in_the_heading_and_the_order(other, sign, order):
    yellow = report("b").replace("\u2705", "\U0001f7e1")
    comment = merge_section(leg("b"), yellow, [write(write("", leg("a")), other)])
    assert legs_of(comment) == order
    assert comment.split("\n")[1].startswith(f"## {sign} EvalGate ")
    assert ("; look at 1 of them" in comment) == other.passed
    green = merge_section(leg("b"), report("b"), [comment])
    assert legs_of(green) == (["a", "b", "d"] if other.passed else ["d", "a", "b"])


def test_a_leg_that_is_written_again_is_not_doubled():
    comment = write("", leg("a"))
    assert write(comment, leg("a")) == comment
    again = write(comment, leg("a", attempt=2, passed=False), "failed")
    assert (legs_of(again), "failed in a" in again, "passed in a" in again) == (["a"], True, False)


def test_the_legs_of_an_older_run_go_and_with_them_one_that_is_gone():
    comment = ""
    for name in NAMES:
        comment = write(comment, leg(name))
    for name in NAMES[:5]:
        comment = write(comment, leg(name, run=9002))
    assert legs_of(comment) == list(NAMES[:5])


LAST_RUN = "**The previous run of this pull request** "


def test_only_if_no_leg_judged_a_new_trace_the_heading_says_so():
    old = {name: report(name).replace(PASSED, NOTHING_NEW) for name in "ab"}
    comment = merge_section(leg("b"), old["b"], [merge_section(leg("a"), old["a"], [])])
    assert comment.split("\n")[1].startswith(f"## {NOTHING_NEW} EvalGate ")
    assert write(comment, leg("c")).split("\n")[1].startswith(f"## {PASSED} EvalGate ")


def find_last_run(comment):
    return next((line for line in comment.split("\n") if line.startswith(LAST_RUN)), "").removeprefix(LAST_RUN)


@pytest.mark.parametrize("order", list(permutations("abc")), ids="".join)
def test_the_line_below_the_heading_says_what_the_last_run_was_where_it_ended_otherwise(order):
    comment = write(write(write("", leg("a")), leg("b", passed=False)), leg("c"))
    assert find_last_run(comment) == ""
    for name in order:
        comment = write(comment, leg(name, run=9002))
        comment = write(comment.replace("\n", "\r\n"), leg(name, run=9002))  # as read again after a while
        assert comment.split("\n")[2].startswith("## \u2705 EvalGate passed in")
        assert find_last_run(comment) == "did not pass in 1 of 3 legs"
    for name in order:
        comment = write(comment, leg(name, run=9003))
    assert find_last_run(comment) == ""
    for name in order:
        comment = write(comment, leg(name, run=9004, passed=name != "c"))
    assert find_last_run(comment) == "passed in all 3 legs"


def test_the_last_run_of_an_attempt_is_the_one_before_it():
    comment = write(write("", leg("a")), leg("b", passed=False))
    comment = write(comment, leg("b", attempt=2))
    assert find_last_run(comment) == "did not pass in 1 of 2 legs"


def find_lines_of_commit(comment):
    return [line for line in comment.split("\n") if line.startswith(("**This commit** ", LAST_RUN))]


def test_a_commit_that_failed_in_some_runs_says_so_as_long_as_it_is_the_same():
    first, second = "a" * 40, "b" * 40
    comment = write(write("", leg("a", commit=first)), leg("b", passed=False, commit=first))
    assert find_lines_of_commit(comment) == []
    comment = write(comment, leg("b", attempt=2, commit=first))
    assert find_lines_of_commit(comment) == ["**This commit** failed in 1 of 2 runs"]
    for name in "ab":
        comment = write(comment.replace("\n", "\r\n"), leg(name, attempt=3, commit=first))
    assert find_lines_of_commit(comment) == ["**This commit** failed in 1 of 3 runs"]
    for name in "ab":
        comment = write(comment, leg(name, run=9002, passed=False, commit=first))
    assert find_lines_of_commit(comment) == ["**This commit** failed in 2 of 4 runs"]
    for run in (9003, 9004):
        for name in "ab":
            comment = write(comment, leg(name, run=run, commit=second))
        assert find_lines_of_commit(comment) == ([f"{LAST_RUN}did not pass in 2 of 2 legs"] if run == 9003 else [])


@pytest.mark.parametrize("place", ["## heading", "body"])
def test_only_our_own_second_line_says_what_the_last_run_was(place):
    own = "<!-- evalgate:last-run v1 failed=1 legs=2 -->"
    comment = merge_section(leg("a"), f"<!-- evalgate:sticky v1 key=x -->\n## heading\n{own}\n\n> body\n{own}\n", [])
    forged = comment.replace(place, f"{place}\n{own}")
    assert find_last_run(write(forged, leg("a"))) == ""


def test_what_an_earlier_attempt_reported_stays_if_only_another_leg_ran_again():
    comment = write(write("", leg("a")), leg("b", passed=False))
    comment = write(comment, leg("b", attempt=2))
    assert legs_of(comment) == ["a", "b"]
    assert comment.split("\n")[2] == "## \u2705 EvalGate passed in all 2 legs"


@pytest.mark.parametrize("late", [leg("a", run=9000), leg("b", run=9000), leg("a")])
def test_an_older_run_or_attempt_writes_nothing(late):
    comment = write("", leg("a", attempt=2))
    assert merge_section(late, report(late.name), [comment]) is None


def test_two_comments_that_legs_began_at_once_become_one():
    both = merge_section(leg("a"), report("a"), [write("", leg("a")), write("", leg("b"))])
    assert legs_of(both) == ["a", "b"]


def test_without_room_the_longest_reports_of_passing_legs_go_first():
    comment = write(write("", leg("a")), leg("b", passed=False))
    short = write(comment, leg("c", room=len(comment) + 400))
    assert "body of b" in short
    assert "body of a" not in short
    assert "is in the summary of its job" in short
    assert len(short) <= len(comment) + 400


def test_a_comment_read_with_other_line_ends_is_the_same():
    comment = write("", leg("a"))
    assert write(comment.replace("\n", "\r\n"), leg("a")) == comment


def test_legs_of_a_run_share_one_comment(hub, act, workspace, pauses):
    for number, name in enumerate(NAMES):
        write_trace(workspace, trace(tool="guess" if name == "c" else "lookup_order"))
        step = act(matrix={"suite": name}, budget=RequestDeadline(20, sleep=pauses.append))
        assert (step.exit_code, bool(step.outputs["comment-id"])) == (int(name == "c"), True), number
    [comment] = own_comments(hub)
    assert comment.split("\n")[2] == "## \u274c EvalGate did not pass in 1 of 6 legs"
    assert comment.count("\n### ") == len([line for line in comment.split("\n") if line.startswith("### ")])
    assert [comment.count(f"` suite: {name} `") for name in NAMES] == [1] * 6
    assert pauses


def test_a_section_that_another_leg_overwrote_within_a_second_is_written_again(hub, act):
    """The other leg read the comment before this one wrote, and writes now what it knows."""

    def overwrite(_):
        if not overwritten:
            overwritten.append(True)
            hub.comments_of(BOT)[0]["body"] = write("", leg("other"))

    overwritten = []
    act(matrix={"suite": "a"}, budget=RequestDeadline(20, sleep=overwrite))
    [comment] = own_comments(hub)
    assert len(legs_of(comment)) == 2
    assert "body of other" in comment
    assert "` suite: a `" in comment


def test_a_leg_that_may_not_write_leaves_its_section_to_the_summary(hub, act, budget):
    hub.comment(write("", leg("other")), BOT)
    step = act(matrix={"suite": "a"}, token="ghs_readonly", budget=budget)
    assert legs_of(own_comments(hub)[0]) == ["other"]
    assert "` suite: a `" in step.summary
    assert "the report is in the job summary" in step.annotations[0]["message"]


def test_the_comment_that_a_leg_had_by_itself_goes(hub, act, budget):
    act(matrix={"suite": "a"}, comment="always")
    next_run(hub, "success")
    act(matrix={"suite": "a"}, budget=budget)
    assert [body.split("\n")[0] for body in own_comments(hub)] == [f"<!-- evalgate:sticky v1 key={KEY} -->"]


def test_a_newer_section_of_the_same_leg_is_the_one_that_stays():
    old, new = write("", leg("a")), write("", replace(leg("a"), attempt=3))
    assert merge_section(leg("b"), report("b"), [new, old]).count("attempt=3") == 1
