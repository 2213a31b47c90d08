"""Ways to get a token out of a run: it never reaches the log, an output, a file or another host."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import pytest
from fakes.agent import on_main, own_comments

from evalgate.action import run
from evalgate.adapters.github.workflow_step import WorkflowStep
from evalgate.adapters.http import RequestDeadline

PASSWORD = "pr0xy-passw0rd"
CLOSED = f"http://someone:{PASSWORD}@127.0.0.1:9"
TOKEN = "ghs_write"


@pytest.fixture
def everything(runner, workspace):
    """Runs the gate; all that it printed but its masks, and all that it wrote."""

    def go(event="pull_request", *, more=None, **inputs):
        environ = {**runner.environment(event, debug="true", **inputs), **(more or {})}
        console = io.StringIO()
        files = environ["GITHUB_OUTPUT"], environ["GITHUB_STEP_SUMMARY"]
        code = run(environ, WorkflowStep(console, *files), RequestDeadline(pace=0.02))
        printed = [line for line in console.getvalue().split("\n") if not line.startswith("::add-mask::")]
        left = [path for path in (workspace / ".evalgate").iterdir() if path.suffix != ".zip"]
        return code, "\n".join([*printed, *(Path(path).read_text() for path in (*files, *left))])

    return go


def test_both_tokens_of_the_job_are_masked_with_their_base64_before_any_output(hub, runner):
    environ, console = runner.environment(debug="true"), io.StringIO()
    run(
        environ,
        WorkflowStep(console, environ["GITHUB_OUTPUT"], environ["GITHUB_STEP_SUMMARY"]),
        RequestDeadline(pace=0.02),
    )
    lines = console.getvalue().splitlines()
    tokens = (TOKEN, hub.info.runtime_token)
    forms = [form for each in tokens for form in (each, base64.b64encode(each.encode()).decode())]
    assert sorted(lines[: len(forms)]) == sorted(f"::add-mask::{form}" for form in forms)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy"])
def test_the_password_of_a_proxy_that_does_not_answer(everything, variable):
    code, shown = everything(more={variable: CLOSED})
    assert code == 0
    assert "the proxy failed" in shown
    assert PASSWORD not in shown


def test_a_netrc_in_the_home_that_all_actions_of_a_job_share(hub, runner, tmp_path, monkeypatch):
    (tmp_path / ".netrc").write_text("default login mallory password stolen\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert runner.act().exit_code == 0
    headers = {request["headers"].get("Authorization") for request in hub.requests}
    assert headers <= {f"Bearer <{TOKEN}>", None}


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("request_redirected", ["issues/list-comments", "issues/create-comment"])
def test_a_redirect_to_another_host_gets_nothing(hub, everything, status, request_redirected):
    place = f"http://127.0.0.2:{hub.info.blob.rpartition(':')[2]}/steal?was={TOKEN}"
    hub.fail({"kind": "redirect", "status": status, "location": place}, times=-1, op=request_redirected)
    code, shown = everything()
    assert code == 0
    assert "the token must not be sent" in shown
    assert TOKEN not in shown
    assert not [request for request in hub.requests if request["path"] == "/steal"]
    assert own_comments(hub) == []


def test_a_list_of_comments_that_leads_to_another_host_and_repeats_the_token(hub, everything):
    link = f'<http://127.0.0.2:9/x?{TOKEN}>; rel="next"'
    page = {"kind": "status", "status": 200, "headers": {"Link": link}, "body": []}
    hub.fail(page, times=-1, op="issues/list-comments")
    code, shown = everything()
    assert code == 0
    assert "another host" in shown
    assert TOKEN not in shown


def test_an_answer_with_the_token_in_its_address(hub, everything):
    body = {"id": 5, "html_url": f"https://github.com/{TOKEN}\n::error::{TOKEN}", "body": TOKEN}
    hub.fail({"kind": "status", "status": 201, "body": body}, op="issues/create-comment")
    _, shown = everything()
    assert TOKEN not in shown


@pytest.mark.parametrize("address", ["javascript:x", "https://x/\ny", "https://x/\u2028", ["https://x"], None])
def test_an_answer_with_an_invalid_address(hub, runner, address):
    answer = {"id": 5, "html_url": address, "body": "x"}
    hub.fail({"kind": "status", "status": 201, "body": answer}, op="issues/create-comment")
    ran = runner.act()
    assert (ran.exit_code, ran.outputs["verdict"]) == (0, "pass")
    assert (ran.outputs["comment-id"], ran.outputs["comment-url"]) == ("5", "")


@pytest.mark.parametrize("call", ["CreateArtifact", "FinalizeArtifact"])
def test_an_artifact_service_that_repeats_its_token(hub, everything, call):
    on_main(hub)
    token = hub.info.runtime_token
    answer = {"ok": True, "signed_upload_url": f"ftp://{token}@x/{token}", "artifact_id": token}
    hub.fail({"kind": "status", "status": 200, "body": answer}, times=-1, op=f"results/{call}")
    code, shown = everything("push")
    assert code == 0
    assert "the baseline was not uploaded" in shown
    assert token not in shown
