"""A job of a merge request on GitLab, in a workspace with a suite."""

from __future__ import annotations

from io import StringIO

import pytest
from fakes.gitlab import HEAD, JOB, JOB_TOKEN, PROJECT_TOKEN, READ_ONLY_TOKEN, GitLab, serve
from in_process_command import CommandResult

from evalgate.adapters.http import RequestDeadline
from evalgate.cli import main
from evalgate.cli.shell import Shell

SUITE = """\
suite: support
traces: ["../traces/*.json"]
scenarios:
  - {id: refund, assertions: [{type: contains, value: refunded, required: true}]}
"""


@pytest.fixture
def gitlab():
    return GitLab()


@pytest.fixture
def environ(gitlab):
    """The variables of a job of a merge request."""
    server = serve(gitlab)
    yield {
        "CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}/api/v4",
        "CI_PROJECT_ID": "5",
        "CI_JOB_NAME": JOB,
        "CI_JOB_TOKEN": JOB_TOKEN,
        "CI_JOB_URL": "https://gitlab.example/acme/agent/-/jobs/9",
        "CI_COMMIT_SHA": HEAD,
        "CI_COMMIT_SHORT_SHA": HEAD[:8],
        "CI_DEFAULT_BRANCH": "main",
        "CI_MERGE_REQUEST_IID": "3",
        "CI_MERGE_REQUEST_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "EVALGATE_GITLAB_TOKEN": PROJECT_TOKEN,
    }
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def workspace(tmp_path):
    """A checkout with a suite."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals/support.yaml").write_text(SUITE)


@pytest.fixture
def hurried(monkeypatch):
    """A second of waiting between tries lasts a tenth of one."""
    monkeypatch.setitem(RequestDeadline.__init__.__kwdefaults__, "pace", 0.1)


@pytest.fixture
def job(environ, tmp_path):
    """Runs a command in such a job, in the checkout; further variables replace its own."""

    def run(*words: str, **changed: str) -> CommandResult:
        shell = Shell(out=StringIO(), err=StringIO(), environ={**environ, **changed}, cwd=str(tmp_path))
        code = main(words, shell)
        done = CommandResult(code, shell.out.getvalue(), shell.err.getvalue())
        assert not {PROJECT_TOKEN, JOB_TOKEN, READ_ONLY_TOKEN} & set((done.out + done.err).split())
        assert "glpat-" not in done.out + done.err
        assert "glcbt-" not in done.out + done.err
        return done

    return run
