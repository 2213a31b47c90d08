from __future__ import annotations

import pytest
from fakes.world import FakeArtifacts, FakeFolder, FakeJudge, FakePullRequest, FakeStep
from request_builder import make_request
from results_builder import a_scenario, a_suite, results

from evalgate.application.action.post_comment import CommentText, post_comment
from evalgate.application.action.run_gate import GateOptions, GatePorts, run_gate
from evalgate.application.messages.request import Judgement
from evalgate.errors import Forbidden, Unreachable

HERE, NEWER = "a" * 40, "b" * 40
TEXT = CommentText("k", "# c", HERE)
FILES = {"results.json": b"{}", "comment.md": b"# c", "summary.md": b"# s"}


class HeadUnknown(FakePullRequest):
    def head(self) -> str:
        raise Unreachable("is down")


class ReportPacker:
    def __init__(self) -> None:
        self.results: list[bytes] = []

    def pack(self, results: bytes) -> str:
        self.results.append(results)
        return "/tmp/report.zip"


def post(pull_request, text=TEXT):
    step = FakeStep()
    post_comment(text, pull_request, step)
    return step


def run_without_write_access(files=FILES, artifacts=None, pull_request=None, **options):
    """One run on a fork's pull request."""
    judgement = Judgement(results([a_suite("s", [a_scenario()])]), files)
    world = GatePorts(
        FakeJudge([judgement]),
        FakeFolder(),
        FakeStep(),
        pull_request=pull_request or FakePullRequest(),
        artifacts=artifacts or FakeArtifacts(),
        reports=ReportPacker(),
    )
    task = GateOptions(
        make_request(comment_key="k"),
        ".evalgate",
        **{"is_from_fork": True, "always_uploads_report": True, "report_artifact": "evalgate-report-k", **options},
    )
    assert run_gate(task, world) == 0
    return world


def test_the_comment_of_the_newest_commit_is_posted():
    pull_request = FakePullRequest(at=HERE)
    assert post(pull_request).set["comment-id"] == "7"
    assert pull_request.comments == {"k": "# c"}


def test_a_run_of_an_older_commit_does_not_overwrite_the_newer_comment():
    pull_request = FakePullRequest(at=NEWER, comments={"k": "# of b"})
    step = post(pull_request)
    assert pull_request.comments == {"k": "# of b"}
    assert step.set == {}
    [annotation] = step.annotations
    assert (annotation.level, "newer commit bbbbbbb" in annotation.message) == ("notice", True)


@pytest.mark.parametrize("pull_request", [FakePullRequest(at=""), HeadUnknown()])
def test_with_an_unknown_head_the_comment_is_posted(pull_request):
    post(pull_request)
    assert pull_request.comments == {"k": "# c"}


def test_a_run_without_a_commit_posts_its_comment():
    pull_request = FakePullRequest(at=NEWER)
    post(pull_request, CommentText("k", "# c", None))
    assert pull_request.comments == {"k": "# c"}


def test_a_missing_permission_is_named():
    [annotation] = post(FakePullRequest(Forbidden("may not"))).annotations
    assert (annotation.level, annotation.message) == ("notice", "no comment: may not")


def test_a_run_that_may_not_comment_uploads_its_results_only():
    world = run_without_write_access()
    assert world.artifacts.uploaded == {"evalgate-report-k": "/tmp/report.zip"}
    assert world.reports.results == [b"{}"]
    assert world.pull_request.comments == {}


@pytest.mark.parametrize("mode", ["auto", "on-change", "on-failure", "off"])
def test_without_write_access_a_comment_is_posted_only_if_always_is_set(mode):
    assert run_without_write_access(comment=mode).pull_request.comments == {}
    assert run_without_write_access(comment="always").pull_request.comments == {"k": "# c"}


@pytest.mark.parametrize(
    ("trouble", "uploaded"), [(None, False), (Unreachable("is down"), False), (Forbidden("may not"), True)]
)
def test_otherwise_a_report_is_uploaded_only_if_github_refuses_the_comment(trouble, uploaded):
    world = run_without_write_access(
        pull_request=FakePullRequest(trouble), is_from_fork=False, always_uploads_report=False
    )
    assert bool(world.artifacts.uploaded) is uploaded


def test_a_run_with_invalid_input_uploads_no_report():
    world = run_without_write_access(files={"results.json": b"{}"})
    assert world.artifacts.uploaded == {}


def test_a_failed_upload_is_a_notice_that_names_the_step_to_add():
    world = run_without_write_access(artifacts=FakeArtifacts(Unreachable("no service")))
    annotation = world.step.annotations[-1]
    assert annotation.level == "notice"
    assert annotation.message.startswith("the report was not uploaded: no service. Add a step")
    assert "path: .evalgate/results.json" in annotation.message
