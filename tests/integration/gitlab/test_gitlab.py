"""Jobs on GitLab: the baseline of the target branch, the report as one note of the merge request, and who may what."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from fakes.gitlab import BOT, HEAD, JOB, OTHER, READ_ONLY_TOKEN, Pipeline

if TYPE_CHECKING:
    from in_process_command import CommandResult

ZIP = b"PK\x03\x04"


def judge(job, folder, answer: str, baseline: str = "none") -> int:
    trace = {
        "schema": "evalgate.trace/1",
        "scenario_id": "refund",
        "messages": [{"role": "assistant", "content": answer}],
    }
    (folder / "traces").mkdir(exist_ok=True)
    (folder / "traces/refund.json").write_text(json.dumps(trace))
    return job("run", "evals/support.yaml", "--baseline", baseline).exit_code


def fetch(job, **changed: str) -> CommandResult:
    return job("fetch-baseline", "--from", "gitlab", **changed)


def comment(job, **changed: str) -> CommandResult:
    return job("comment", "--to", "gitlab", **changed)


def leave(gitlab, content: bytes | None, branch: str = "main", status: str = "success", name: str = JOB) -> None:
    """A pipeline of the branch whose job has left a baseline, or one that has expired."""
    gitlab.pipelines.append(Pipeline(branch, status, {name: content and {".evalgate/baseline.zip": content}}))


def test_a_first_merge_request_is_judged_without_a_baseline_and_gets_one_note_for_all_its_pushes(job, gitlab, tmp_path):
    fetched = fetch(job)
    assert (fetched.exit_code, fetched.out) == (0, "none\n")
    assert (
        fetched.err == "no baseline of main: no pipeline with the job " + JOB + " succeeded, or its artifact expired\n"
    )

    assert judge(job, tmp_path, "No.") == 1
    assert comment(job).out == "note written\n"
    [note] = gitlab.notes
    assert "EvalGate failed: 1 scenario hard-failed" in note["body"].splitlines()[1]

    assert judge(job, tmp_path, "It is refunded.") == 0
    assert comment(job).out == "note updated\n"
    assert gitlab.notes == [note]
    assert note["body"].splitlines()[1].startswith("## ✅ EvalGate passed")


def test_a_merge_request_is_compared_with_the_newest_pipeline_of_main_that_succeeded(job, gitlab, tmp_path):
    assert judge(job, tmp_path, "It is refunded.") == 0
    baseline = (tmp_path / ".evalgate/baseline.zip").read_bytes()
    leave(gitlab, ZIP + b"older")
    leave(gitlab, baseline)
    leave(gitlab, ZIP + b"of a red pipeline", status="failed")
    leave(gitlab, ZIP + b"of a branch", branch="feature")
    fetched = fetch(job)
    assert fetched.out == ".evalgate-main.zip\n"
    assert (tmp_path / ".evalgate-main.zip").read_bytes() == baseline

    assert judge(job, tmp_path, "No.", fetched.out.strip()) == 1
    comment(job)
    [note] = gitlab.notes
    assert (
        note["body"].splitlines()[1].startswith("## ❌ EvalGate failed: scenario ` refund ` broke: expected the answer")
    )


def test_the_target_branch_comes_before_the_default_branch_whatever_its_name(job, gitlab, tmp_path):
    target = "release/1 ü%2F?job=x#"
    leave(gitlab, ZIP + b"of main")
    assert fetch(job, CI_MERGE_REQUEST_TARGET_BRANCH_NAME=target).out == ".evalgate-main.zip\n"
    assert (tmp_path / ".evalgate-main.zip").read_bytes() == ZIP + b"of main"
    leave(gitlab, ZIP + b"of release", branch=target)
    fetch(job, CI_MERGE_REQUEST_TARGET_BRANCH_NAME=target)
    assert (tmp_path / ".evalgate-main.zip").read_bytes() == ZIP + b"of release"


def test_an_expired_baseline_is_none_and_the_line_says_so(job, gitlab, tmp_path):
    leave(gitlab, None)
    done = fetch(job)
    assert (done.exit_code, done.out) == (0, "none\n")
    assert "its artifact expired" in done.err
    assert not (tmp_path / ".evalgate-main.zip").exists()


@pytest.mark.parametrize(("tier", "out"), [("premium", ".evalgate-main.zip\n"), ("free", "none\n")])
def test_the_token_of_the_job_reads_a_baseline_in_premium_and_the_line_tells_the_others_what_they_need(
    job, gitlab, tier, out
):
    gitlab.tier = tier
    leave(gitlab, ZIP)
    done = fetch(job, EVALGATE_GITLAB_TOKEN="")
    assert (done.exit_code, done.out) == (0, out)
    assert ("as on GitLab Free: set EVALGATE_GITLAB_TOKEN" in done.err) is (tier == "free")


def test_without_a_token_there_is_no_note_a_line_that_says_how_and_no_error(job, gitlab, tmp_path):
    judge(job, tmp_path, "No.")
    done = comment(job, EVALGATE_GITLAB_TOKEN="")
    assert (done.exit_code, done.out, gitlab.requests) == (0, "", [])
    assert done.err.startswith("no note: set EVALGATE_GITLAB_TOKEN to a project access token with the scope api")


def test_a_pipeline_of_no_merge_request_has_no_note(job, gitlab, tmp_path):
    judge(job, tmp_path, "No.")
    done = comment(job, CI_MERGE_REQUEST_IID="")
    assert (done.exit_code, gitlab.requests) == (0, [])
    assert done.err == "no note: this pipeline is not one of a merge request\n"


def test_a_run_that_left_no_report_replaces_the_older_one(job, gitlab, tmp_path):
    judge(job, tmp_path, "It is refunded.")
    comment(job)
    (tmp_path / ".evalgate/comment.md").unlink()
    assert comment(job).exit_code == 0
    [note] = gitlab.notes
    assert "passed" not in note["body"]
    assert note["body"].splitlines()[1] == "## ❌ EvalGate could not run"
    assert "[its job](https://gitlab.example/acme/agent/-/jobs/9)" in note["body"]


def test_only_a_note_of_its_own_is_updated_and_each_job_has_one(job, gitlab, tmp_path):
    judge(job, tmp_path, "No.")
    comment(job)
    [own] = gitlab.notes
    for number in range(120):  # its own is on the second page
        gitlab.notes.insert(0, {**own, "id": 200 + number, "author": {"id": OTHER}})
    assert comment(job).out == "note updated\n"
    assert comment(job, CI_JOB_NAME="evalgate: [b]").out == "note written\n"
    assert [note["author"]["id"] for note in gitlab.notes].count(BOT) == 2
    markers = [note["body"].partition("\n")[0] for note in gitlab.notes[-2:]]
    assert all(one != other for one, other in pairwise(markers))
    assert all(
        marker.replace("<!-- evalgate:sticky v1 key=gitlab/", "").removesuffix(" -->").isalnum() for marker in markers
    )


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("verb", [("fetch-baseline", "--from"), ("comment", "--to")])
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"EVALGATE_GITLAB_TOKEN": "glpat-revoked0000000000000"},
            "GitLab refused EVALGATE_GITLAB_TOKEN with status 401: 401 Unauth",
        ),
        ({"EVALGATE_GITLAB_TOKEN": "glpat-\nX: 1"}, "no response (the request failed)"),
        ({"CI_API_V4_URL": "http://127.0.0.1:9/api/v4"}, "no response (the connection failed)"),
    ],
)
def test_a_refusal_is_one_line_and_exit_code_4(job, gitlab, tmp_path, verb, changed, message):
    judge(job, tmp_path, "No.")
    done = job(*verb, "gitlab", **changed)
    assert done.exit_code == 4
    [line] = done.err.splitlines()
    assert message in line


def test_a_token_that_may_only_read_writes_no_note_and_the_line_says_which_role_it_needs(job, gitlab, tmp_path):
    judge(job, tmp_path, "No.")
    done = comment(job, EVALGATE_GITLAB_TOKEN=READ_ONLY_TOKEN)
    assert (done.exit_code, gitlab.notes) == (4, [])
    assert "GitLab refused EVALGATE_GITLAB_TOKEN with status 403" in done.err
    assert "(it needs the scope api and the role Developer, and must not have expired)" in done.err


def test_a_refused_token_of_the_job_is_called_so(job, gitlab):
    done = fetch(job, EVALGATE_GITLAB_TOKEN="", CI_JOB_TOKEN="glcbt-64_of0another0server")
    assert done.exit_code == 4
    assert (
        "GitLab refused the token of the job with status 401: 401 Unauthorized (set EVALGATE_GITLAB_TOKEN" in done.err
    )


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(("failures", "code"), [(1, 0), (2, 0), (3, 4)])
def test_a_server_that_is_down_is_asked_three_times(job, gitlab, tmp_path, failures, code):
    leave(gitlab, ZIP)
    judge(job, tmp_path, "No.")
    gitlab.failures = failures
    done = fetch(job)
    assert done.exit_code == code
    assert ("GitLab answered with status 502: Bad Gateway" in done.err) is (code == 4)
    gitlab.failures = failures
    assert comment(job).exit_code == code
    assert len(gitlab.notes) == (code == 0)


def test_a_page_in_place_of_the_baseline_is_no_baseline_and_no_invalid_input(job, gitlab, tmp_path):
    leave(gitlab, b"<html>Sign in</html>")
    done = fetch(job)
    assert (done.exit_code, done.out) == (4, "")
    assert "GitLab's answer is no zip file" in done.err
    assert not (tmp_path / ".evalgate-main.zip").exists()


@pytest.mark.parametrize("name", ["CI_COMMIT_SHA", "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"])
def test_a_job_of_an_older_commit_leaves_the_note_to_the_newer_one(job, gitlab, tmp_path, name):
    judge(job, tmp_path, "It is refunded.")
    comment(job)
    [before] = [note["body"] for note in gitlab.notes]
    (tmp_path / ".evalgate/comment.md").unlink()  # as after a job that was cancelled
    done = comment(job, **{"CI_COMMIT_SHA": "c" * 40, name: "d" * 40})
    assert (done.exit_code, done.out) == (0, "")
    assert done.err == "no note: the merge request has a newer commit, 1f2e3d4c\n"
    assert [note["body"] for note in gitlab.notes] == [before]


def test_a_pipeline_of_merged_results_judges_a_commit_of_its_own_and_writes_the_note(job, gitlab, tmp_path):
    judge(job, tmp_path, "It is refunded.")
    done = comment(job, CI_COMMIT_SHA="e" * 40, CI_MERGE_REQUEST_SOURCE_BRANCH_SHA=HEAD)
    assert done.out == "note written\n"


def test_a_merge_request_of_a_fork_is_not_told_to_set_a_token_that_it_can_not_have(job, gitlab, tmp_path):
    judge(job, tmp_path, "No.")
    done = comment(job, EVALGATE_GITLAB_TOKEN="", CI_MERGE_REQUEST_SOURCE_PROJECT_ID="6")
    assert (done.exit_code, gitlab.requests) == (0, [])
    assert done.err == "no note: a merge request of a fork has no EVALGATE_GITLAB_TOKEN (docs/other-ci.md, GitLab)\n"


@pytest.mark.parametrize("place", [".evalgate", ".evalgate/comment.md"])
def test_what_lies_in_place_of_the_report_keeps_no_older_one(job, gitlab, tmp_path, place):
    judge(job, tmp_path, "It is refunded.")
    comment(job)
    shutil.rmtree(tmp_path / ".evalgate")
    if place == ".evalgate":
        (tmp_path / place).write_text("a file")
    else:
        (tmp_path / place).mkdir(parents=True)
    assert comment(job).exit_code == 0
    [note] = gitlab.notes
    assert note["body"].splitlines()[1] == "## ❌ EvalGate could not run"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("CI_DEFAULT_BRANCH", "the variable CI_DEFAULT_BRANCH is not set"),
        ("CI_JOB_NAME", "the variable CI_JOB_NAME is not set"),
        ("CI_API_V4_URL", "the variable CI_API_V4_URL is not set (GitLab sets it in a job; elsewhere it is https://"),
    ],
)
def test_outside_of_a_job_the_missing_variable_is_named(job, name, message):
    done = fetch(job, **{name: ""})
    assert done.exit_code == 2
    assert message in done.err


def test_outside_of_a_job_the_token_that_is_needed_is_named(job):
    done = fetch(job, CI_JOB_TOKEN="", EVALGATE_GITLAB_TOKEN="")
    assert done.exit_code == 2
    assert "the variable EVALGATE_GITLAB_TOKEN is not set (outside of a job it is a token of yours" in done.err


def test_a_job_of_ones_own_names_how_to_get_its_baseline(job, tmp_path):
    (tmp_path / ".evalgate-main.zip").write_bytes(b"")
    (tmp_path / "other.zip").write_bytes(b"")
    for path, number, target in (
        (".evalgate-main.zip", 1, "release"),
        ("other.zip", 0, "release"),
        ("none", 0, "main"),
    ):
        judge(job, tmp_path, "No.")
        baseline = (tmp_path / ".evalgate/baseline.zip").read_bytes()
        if path != "none":
            (tmp_path / path).write_bytes(baseline)
        done = job("run", "--baseline", path, "--json", CI_MERGE_REQUEST_TARGET_BRANCH_NAME=target)
        found = json.loads(done.out).get("fetch_command", "")
        assert found.count("evalgate fetch-baseline --from gitlab --project 5 --job ") == number
        assert found.count(" --branch release --branch main") == number
