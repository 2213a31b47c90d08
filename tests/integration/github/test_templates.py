"""The comment's template as a commit has it."""

from __future__ import annotations

import json

import pytest
from fakes.agent import next_run, own_comments, trace, write_trace

from evalgate.adapters.github.commit_files import TemplateInCommit
from evalgate.errors import Forbidden, InvalidTemplate, NotFound, OverLimit, Unreachable
from evalgate.models.github import TemplateFile

PATH = ".github/evalgate-comment.md.j2"
OWN = '{% extends "comment.md.j2" %}\n{% block footer %}\nAsk the agents team.\n{% endblock %}\n'
ANSWER = {"type": "file", "encoding": "base64", "size": 3, "content": "YWJj"}


@pytest.fixture
def base(hub):
    return hub.state["pulls"]["7"]["base"]["sha"]


@pytest.fixture
def template(client, base):
    return TemplateInCommit(client, PATH, base)


def test_the_file_of_the_commit_is_read(hub, template, base):
    hub.write(PATH, OWN.encode(), base)
    assert template.read() == TemplateFile(PATH, OWN)


def test_another_commit_s_file_does_not_count(hub, template, base):
    hub.write(PATH, b"of the pull request", hub.state["pulls"]["7"]["head"]["sha"])
    with pytest.raises(NotFound, match=f"is not in commit {base[:7]}"):
        template.read()


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [(b"x" * 64_001, OverLimit, "larger than 64,000 bytes"), (b"\xff", InvalidTemplate, "must be UTF-8 text")],
)
def test_an_invalid_template_is_refused(hub, template, base, content, error, words):
    hub.write(PATH, content, base)
    with pytest.raises(error, match=words):
        template.read()


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ([{"type": "file"}], NotFound),
        ({**ANSWER, "type": "symlink"}, NotFound),
        ({**ANSWER, "size": 70_000}, OverLimit),
        ({**ANSWER, "content": "YWJ"}, Unreachable),
        ({**ANSWER, "content": "YWJj" * 30_000}, OverLimit),
    ],
)
def test_an_unexpected_answer_is_not_taken_for_a_template(hub, template, body, error):
    hub.fail({"kind": "status", "status": 200, "body": body}, method="GET", path="/contents/")
    with pytest.raises(error):
        template.read()


def test_a_token_that_may_not_read_files_is_reported(hub, template):
    hub.fail({"kind": "forbidden"}, path="/contents/")
    with pytest.raises(Forbidden):
        template.read()


def test_a_pull_requests_comment_uses_the_template_of_its_base(hub, act, workspace, base):
    hub.write("agents/own.md.j2", OWN.encode(), base)
    (workspace / "agents").mkdir()
    for part in ("evals", "traces"):
        (workspace / part).rename(workspace / "agents" / part)
    (workspace / "agents/own.md.j2").write_text("{% extends 'x' %}")
    step = act(working_directory="agents", template="own.md.j2")
    [body] = own_comments(hub)
    assert body.endswith("\nAsk the agents team.\n")
    assert step.exit_code == 0
    assert step.annotations == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "own.md.j2 is not in commit"),
        (b"Hello.", "own.md.j2:1: a template must begin with"),
        (
            OWN.replace("footer", "foter").encode(),
            "own.md.j2:2: unknown block `foter` (did you mean `footer`?)",
        ),
    ],
)
def test_an_unusable_template_is_a_warning_and_the_default_is_used(hub, act, base, content, words):
    if content is not None:
        hub.write("own.md.j2", content, base)
    step = act(template="own.md.j2")
    [body] = own_comments(hub)
    assert "[Full report]" in body
    assert step.exit_code == 0
    [warning] = step.annotations
    assert "the comment uses the built-in template" in warning["message"]
    assert words in warning["message"]


def test_without_a_pull_request_the_workspace_s_template_counts(hub, act, workspace):
    (workspace / "own.md.j2").write_text(OWN)
    step = act("workflow_dispatch", template="own.md.j2")
    assert step.exit_code == 0
    assert (workspace / ".evalgate/comment.md").read_text().endswith("\nAsk the agents team.\n")


def test_a_template_that_is_a_link_is_not_followed(hub, act, workspace, tmp_path):
    (tmp_path / "secret").write_text(OWN)
    (workspace / "own.md.j2").symlink_to(tmp_path / "secret")
    step = act("workflow_dispatch", template="own.md.j2")
    assert step.exit_code == 0
    assert "symbolic link" in json.dumps(step.annotations)


def test_a_forks_report_is_published_with_the_template_of_the_default_branch(hub, act, workspace):
    head = hub.state["pulls"]["8"]["head"]
    run = next(run for run in hub.state["runs"] if run["id"] == 9001)
    run.update(head_branch="main", head_sha=head["sha"], head_repository_id=2002, pulls=[])
    write_trace(workspace, trace(tool="guess"))
    act(pr=8, token="ghs_readonly", comment_key="gate")
    next_run(hub, "failure", event="workflow_run", head_branch="main", head_repository_id=1001)
    hub.write("own.md.j2", OWN.encode(), hub.state["refs"]["refs/heads/main"])
    step = act("workflow_run", mode="publish", comment_key="gate", after_run=9001, template="own.md.j2")
    [body] = own_comments(hub)
    assert body.endswith("\nAsk the agents team.\n")
    assert "mallory" in body.split("\n\n")[1]
    assert step.exit_code == 0
