from __future__ import annotations

import pytest
from fakes.world import FakeArtifacts, FakeFolder, FakeJudge, FakePullRequest, FakeStep
from results_builder import a_scenario, a_suite, results

from evalgate.application.action.post_comment import CommentText, post_comment
from evalgate.application.action.run_gate import GateOptions, GatePorts, run_gate
from evalgate.application.messages.request import Judgement, JudgeRequest
from evalgate.errors import Forbidden, Unreachable

HERE, NEWER = "a" * 40, "b" * 40
TEXT = CommentText("k", "# c", HERE)
FILES = {"results.json": b"{}", "comment.md": b"# c", "summary.md": b"# s"}


class HeadUnknown(FakePullRequest):
    def head(self) -> str:
        raise Unreachable("is down")


class Packed:
    def __init__(self) -> None:
        self.results: list[bytes] = []

    def pack(self, results: bytes) -> str:
        self.results.append(results)
        return "/tmp/report.zip"


def kept(pull_request, text=TEXT):
    step = FakeStep()
    post_comment(text, pull_request, step)
    return step


def leaving_a_report(files=FILES, artifacts=None, comment="auto"):
    """One run on a fork's pull request."""
    judgement = Judgement(results([a_suite("s", [a_scenario()])]), files)
    world = GatePorts(
        FakeJudge([judgement]),
        FakeFolder(),
        FakeStep(),
        pull_request=FakePullRequest(),
        artifacts=artifacts or FakeArtifacts(),
        reports=Packed(),
    )
    task = GateOptions(
        JudgeRequest(comment_key="k"),
        ".evalgate",
        comment=comment,
        is_read_only=True,
        report_artifact="evalgate-report-k",
    )
    assert run_gate(task, world) == 0
    return world


def test_the_comment_of_the_newest_commit_is_posted():
    pull_request = FakePullRequest(at=HERE)
    assert kept(pull_request).set["comment-id"] == "7"
    assert pull_request.comments == {"k": "# c"}


def test_a_run_that_was_overtaken_leaves_the_newer_comment_alone():
    pull_request = FakePullRequest(at=NEWER, comments={"k": "# of b"})
    step = kept(pull_request)
    assert pull_request.comments == {"k": "# of b"}
    assert step.set == {}
    [said] = step.annotations
    assert (said.level, "moved on to bbbbbbb" in said.message) == ("notice", True)


@pytest.mark.parametrize("pull_request", [FakePullRequest(at=""), HeadUnknown()])
def test_where_the_head_is_not_known_the_comment_is_posted(pull_request):
    kept(pull_request)
    assert pull_request.comments == {"k": "# c"}


def test_a_run_that_knows_no_commit_posts():
    pull_request = FakePullRequest(at=NEWER)
    kept(pull_request, CommentText("k", "# c", None))
    assert pull_request.comments == {"k": "# c"}


def test_a_missing_permission_is_named():
    [said] = kept(FakePullRequest(Forbidden("may not"))).annotations
    assert (said.level, said.message) == (
        "warning",
        "the comment was not posted: may not. It needs `pull-requests: write`",
    )


def test_a_run_that_may_not_comment_leaves_its_results_and_nothing_else():
    world = leaving_a_report()
    assert world.artifacts.uploaded == {"evalgate-report-k": "/tmp/report.zip"}
    assert world.reports.results == [b"{}"]
    assert world.pull_request.comments == {}


@pytest.mark.parametrize("mode", ["auto", "on-change", "on-failure", "off"])
def test_where_no_token_may_write_no_comment_is_tried_unless_it_is_asked_for(mode):
    assert leaving_a_report(comment=mode).pull_request.comments == {}
    assert leaving_a_report(comment="always").pull_request.comments == {"k": "# c"}


def test_a_run_that_could_not_begin_leaves_no_report():
    world = leaving_a_report(files={"results.json": b"{}"})
    assert world.artifacts.uploaded == {}


def test_a_report_that_is_lost_is_a_notice_that_names_the_step_to_add():
    world = leaving_a_report(artifacts=FakeArtifacts(Unreachable("no service")))
    said = world.step.annotations[-1]
    assert said.level == "notice"
    assert said.message.startswith("the report was not uploaded: no service. Add a step")
    assert "path: .evalgate/results.json" in said.message
