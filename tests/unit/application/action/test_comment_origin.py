from __future__ import annotations

import pytest
from fakes.world import FakePullRequest, FakeStep
from msgspec.structs import replace

from evalgate.application.action.comment_origin import add_origin, find_other_origin, make_origin
from evalgate.application.action.post_comment import CommentText, post_comment

OWN = make_origin("9001", 1, ("gate", "support", "__org_evalgate"), "job-1")
OTHER_LEG = make_origin("9001", 1, ("gate", "billing", "__org_evalgate"), "job-2")
OTHER_CALL = make_origin("9001", 1, ("gate", "support", "__org_evalgate"), "job-2")
RERUN = make_origin("9001", 2, ("gate", "support", "__org_evalgate"), "job-3")
OTHER_LEG_LATER = make_origin("9001", 2, ("gate", "billing", "__org_evalgate"), "job-4")
NEXT_RUN = make_origin("9002", 1, ("gate", "billing", "__org_evalgate"), "job-5")
BODY = "<!-- evalgate:sticky v1 key=k -->\n## report\n"


def post(pull_request, origin, *, passed=True, body=BODY):
    step = FakeStep()
    comment = CommentText("k", body, None, origin=origin and replace(origin, passed=passed))
    post_comment(comment, pull_request, step)
    return [f"{each.level}: {each.message}" for each in step.annotations]


@pytest.mark.parametrize("other", [OTHER_LEG, OTHER_CALL, OTHER_LEG_LATER])
def test_another_job_of_the_run_is_another_origin(other):
    assert find_other_origin(add_origin(BODY, other), OWN) == other


@pytest.mark.parametrize("same", [OWN, RERUN, NEXT_RUN])
def test_a_rerun_of_the_job_and_another_run_are_not(same):
    assert find_other_origin(add_origin(BODY, same), OWN) is None


@pytest.mark.parametrize(
    "body",
    [
        BODY,
        "",
        add_origin(BODY, OTHER_LEG).replace("9001", "9" * 5_000),
        add_origin("x\n\n", OTHER_LEG).replace("x\n", "x\n\n"),
    ],
)
def test_a_comment_without_an_origin_has_none(body):
    assert find_other_origin(body, OWN) is None


def test_an_origin_is_read_as_github_returns_it():
    assert find_other_origin(add_origin(BODY, OTHER_LEG).replace("\n", "\r\n"), OWN) == OTHER_LEG


def test_the_comment_still_begins_with_its_marker():
    first, second, third = add_origin(BODY, OWN).splitlines()
    assert (first, third) == tuple(BODY.splitlines())
    assert second.startswith("<!-- evalgate:origin v1 run=9001 attempt=1 ")
    assert "support" not in second


def test_a_second_report_of_a_run_replaces_the_first_and_warns():
    pull_request = FakePullRequest()
    assert post(pull_request, OTHER_LEG) == []
    [warning] = post(pull_request, OWN, passed=False, body=f"{BODY}second\n")
    assert warning.startswith("warning: this report replaced that of another job or step of this run")
    assert "`comment-key`" in warning
    assert pull_request.comments["k"].endswith("second\n")


def test_a_report_that_passed_never_replaces_one_of_its_run_that_did_not():
    pull_request = FakePullRequest()
    post(pull_request, OTHER_LEG, passed=False)
    [warning] = post(pull_request, OWN, body=f"{BODY}second\n")
    assert warning.startswith("warning: the comment was not updated: it shows another job or step of this run")
    assert "second" not in pull_request.comments["k"]


@pytest.mark.parametrize("later", [RERUN, NEXT_RUN])
def test_a_rerun_and_a_later_run_update_the_comment_without_a_warning(later):
    pull_request = FakePullRequest()
    post(pull_request, OWN, passed=False)
    assert post(pull_request, later, body=f"{BODY}second\n") == []
    assert pull_request.comments["k"].endswith("second\n")


FAILED = BODY.replace("## report", "## \u274c EvalGate failed: scenario ` a ` broke\n\nbody")
PASSED = BODY.replace("## report", "## \u2705 EvalGate passed: no change\n\nbody")
NEXT_PUSH = make_origin("9002", 1, ("gate", "support", "__org_evalgate"), "job-6")


def write_after(posted, first, body, origin):
    pull_request = FakePullRequest(comments={"k": add_origin(posted, first)})
    post(pull_request, origin, passed=origin.passed, body=body)
    return pull_request


def find_second_line(pull_request):
    return pull_request.comments["k"].split("\n")[4]


@pytest.mark.parametrize("next_run", [NEXT_PUSH, RERUN])
def test_the_line_below_the_heading_says_what_the_last_run_was_where_it_ended_otherwise(next_run):
    fixed = write_after(FAILED, replace(OWN, passed=False), PASSED, next_run)
    assert find_second_line(fixed) == "**The previous run of this pull request** failed: scenario ` a ` broke"
    broke = write_after(PASSED, OWN, FAILED, replace(next_run, passed=False))
    assert find_second_line(broke) == "**The previous run of this pull request** passed: no change"
    post(fixed, next_run, passed=True, body=PASSED.replace("body", "body with a link"))
    assert find_second_line(fixed).startswith("**The previous run of this pull request** failed")
    third = replace(next_run, run="9003")
    post(fixed, third, passed=True, body=PASSED)
    assert find_second_line(fixed) == "body"


@pytest.mark.parametrize(
    ("posted", "first"),
    [
        (PASSED, OWN),
        (FAILED, replace(OTHER_LEG, passed=False)),
        (BODY, replace(OWN, passed=False)),
        (f"{PASSED}\n\n**The previous run of this pull request** [x](https://example.org)\n", NEXT_PUSH),
        (FAILED.replace("broke", "b" * 500), replace(OWN, passed=False)),
    ],
)
def test_the_last_run_is_not_mentioned_if_it_ended_alike_was_another_steps_or_says_too_much(posted, first):
    assert find_second_line(write_after(posted, first, PASSED, NEXT_PUSH)) == "body"


COMMIT = "a" * 40


def post_runs(outcomes, pull_request, *, commit=COMMIT, first=1):
    """Posts an attempt for each outcome; returns the line below the heading after each, empty if there is none."""
    lines = []
    for attempt, passed in enumerate(outcomes, first):
        origin = replace(OWN, attempt=attempt, passed=passed)
        comment = CommentText("k", PASSED if passed else FAILED, commit, origin=origin)
        for _ in range(2):  # the second time with a link to a tracker
            post_comment(comment, pull_request, FakeStep())
        lines.append(find_second_line(pull_request).removeprefix("body"))
    return lines


def test_a_commit_that_failed_in_some_of_its_runs_says_so_as_long_as_it_is_the_same():
    pull_request, broke = FakePullRequest(), ": scenario ` a ` broke"
    lead = "**This commit** failed in "
    assert post_runs([False, False, True, True, False, True], pull_request) == [
        "",
        "",
        f"{lead}2 of 3 runs{broke}",
        f"{lead}2 of 4 runs{broke}",
        f"{lead}3 of 5 runs",
        f"{lead}3 of 6 runs{broke}",
    ]
    assert post_runs([True, True], pull_request, commit="b" * 40, first=7) == ["", ""]


@pytest.mark.parametrize("passed", [True, False])
def test_a_commit_whose_runs_all_ended_alike_says_nothing_of_them(passed):
    assert post_runs([passed] * 4, FakePullRequest()) == [""] * 4


def test_only_the_marker_of_our_own_second_line_counts_runs():
    forged = add_origin(BODY, replace(OWN, commit=COMMIT)).replace("failed=0 runs=0", "failed=0 runs=99999999")
    pull_request = FakePullRequest(comments={"k": forged})
    assert post_runs([True], pull_request, first=2) == [""]
    below = f"{PASSED}\n{add_origin(BODY, replace(OWN, commit=COMMIT)).replace('failed=0 runs=0', 'failed=7 runs=9')}"
    assert post_runs([True], FakePullRequest(comments={"k": below}), first=2) == [""]


def test_a_step_that_does_not_know_its_job_takes_no_report_of_the_attempt_for_its_own():
    unknown = make_origin("9001", 1, ("gate", "support", "__org_evalgate"), "")

    assert find_other_origin(add_origin(BODY, unknown), unknown) == unknown
    assert find_other_origin(add_origin(BODY, OWN), unknown) == OWN
    assert find_other_origin(add_origin(BODY, unknown), OWN) == unknown
    assert find_other_origin(add_origin(BODY, unknown), RERUN) is None
    assert find_other_origin(add_origin(BODY, RERUN), unknown) is None
