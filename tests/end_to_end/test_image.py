"""The image itself: built from the Dockerfile, run as root on a checkout that belongs to another user."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from fakes.containers import engine
from span_containers import otlp, protobuf

ROOT = Path(__file__).resolve().parents[2]
ENGINE = engine()
RUNNERS_USER = 1001
pytestmark = [
    pytest.mark.skipif(
        ENGINE is None, reason="no container engine here: needs docker, or buildah and podman with ../shared"
    ),
    pytest.mark.xdist_group("image"),
]
JOB = {
    "GITHUB_EVENT_NAME": "workflow_dispatch",
    "GITHUB_REPOSITORY": "acme/agent",
    "GITHUB_REPOSITORY_ID": "1001",
    "GITHUB_SHA": "a" * 40,
    "GITHUB_RUN_ID": "9001",
    "INPUT_BASELINE": "none",
    "INPUT_COMMENT": "off",
    "INPUT_CONFIG": "evals/support.yaml",
}
COSTS = """\
suite: costs
traces: ["../traces/run.pb"]
scenarios:
  - {id: run, assertions: [{type: cost_limit, max_usd: 1, required: true}]}
"""


@pytest.fixture(scope="module")
def image():
    ENGINE.build()
    return ENGINE


@pytest.fixture
def checkout(tmp_path):
    """The example agent's repository, owned by the runner's user where that can be arranged."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "examples" / "support-agent", folder)
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, RUNNERS_USER, RUNNERS_USER)
    return folder


def outputs(ended):
    return dict(line.split("=", 1) for line in ended.written("set_output").splitlines())


def test_a_green_run__leaves_its_verdict_for_the_job(image, checkout, tmp_path):
    ended = image.run(checkout, tmp_path / "job", {**JOB, "INPUT_TRACES": "traces/main/*.jsonl"})
    assert ended.code == 0, ended.log
    assert outputs(ended)["verdict"] == "pass"
    assert (checkout / ".evalgate" / "results.json").is_file()
    assert "EvalGate passed" in ended.written("step_summary")


def test_a_red_run__fails_the_step(image, checkout, tmp_path):
    ended = image.run(checkout, tmp_path / "job", {**JOB, "INPUT_TRACES": "traces/pr/*.jsonl"})
    assert ended.code == 1, ended.log
    assert outputs(ended)["verdict"] == "fail"
    assert "::error" in ended.log


def test_the_image_reads_protobuf_and_knows_what_models_cost(image, checkout, tmp_path):
    known = json.dumps(otlp()).replace('"m-1"', '"gpt-4o-mini"').replace('"p"', '"openai"')
    (checkout / "traces" / "run.pb").write_bytes(protobuf(json.loads(known)))
    (checkout / "evals" / "cost.yaml").write_text(COSTS)
    ended = image.run(checkout, tmp_path / "job", {**JOB, "INPUT_CONFIG": "evals/cost.yaml"})
    assert ended.code == 0, ended.log
    assert float(outputs(ended)["cost-usd"]) > 0


def test_a_workspace_that_shadows_the_standard_library__is_not_imported(image, checkout, tmp_path):
    (checkout / "json.py").write_text("raise SystemExit(99)")
    (checkout / "evalgate.py").write_text("raise SystemExit(99)")
    ended = image.run(checkout, tmp_path / "job", {**JOB, "INPUT_TRACES": "traces/main/*.jsonl"})
    assert ended.code == 0, ended.log


def test_outside_a_job__one_line_names_what_is_missing(image, checkout, tmp_path):
    ended = image.run(checkout, tmp_path / "job", {})
    assert ended.code == 2, ended.log
    assert "GITHUB_REPOSITORY" in ended.log
    assert "Traceback" not in ended.log


NOT_ON_GITHUB = {"GITHUB_ACTIONS": "", "GITHUB_WORKSPACE": "", "GITHUB_EVENT_PATH": "", "GITHUB_OUTPUT": "", "HOME": ""}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give the checkout to the runner's user")
@pytest.mark.parametrize(("traces", "code"), [("main", 0), ("pr", 1)])
def test_with_arguments_it_is_the_command_as_any_user(image, checkout, tmp_path, traces, code):
    command = ("evalgate", "run", "evals/support.yaml", "--traces", f"traces/{traces}/*.jsonl")
    ended = image.run(checkout, tmp_path / "job", NOT_ON_GITHUB, *command, user=str(RUNNERS_USER))
    assert ended.code == code, ended.log
    assert (checkout / ".evalgate" / "junit.xml").stat().st_uid == RUNNERS_USER


def test_an_output_folder_that_its_user_may_not_write_is_named(image, checkout, tmp_path):
    command = ("run", "evals/support.yaml", "--traces", "traces/main/*.jsonl")
    ended = image.run(checkout, tmp_path / "job", NOT_ON_GITHUB, *command, user="54321")
    assert ended.code == 2, ended.log
    assert "can't write .evalgate/: Permission denied" in ended.log


def test_without_arguments_and_job_it_is_help(image, checkout, tmp_path):
    ended = image.run(checkout, tmp_path / "job", NOT_ON_GITHUB)
    assert ended.code == 2, ended.log
    assert "usage: evalgate" in ended.log


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give the checkout to the runner's user")
@pytest.mark.parametrize(("mode", "user"), [(0o755, 60_700), (0o700, RUNNERS_USER)], ids=["open", "private"])
def test_the_judge_is_another_user_than_the_root_that_starts_it(image, checkout, tmp_path, mode, user):
    checkout.chmod(mode)
    job = {**JOB, "INPUT_TRACES": "traces/main/*.jsonl", "INPUT_DEBUG": "true"}
    ended = image.run(checkout, tmp_path / "job", job)
    assert ended.code == 0, ended.log
    assert f"the judge runs as user {user}" in ended.log
    assert (checkout / ".evalgate" / "results.json").is_file()


def test_a_judge_that_exceeds_its_limits__is_invalid_input(image, checkout, tmp_path):
    job = {**JOB, "INPUT_TRACES": "traces/main/*.jsonl", "INPUT_LIMITS": "memory=20MB"}
    ended = image.run(checkout, tmp_path / "job", job)
    assert ended.code == 2, ended.log
    assert "judging exceeded its memory limit (20 MB)" in ended.log


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give the checkout to the runner's user")
@pytest.mark.parametrize("private", ["evals/support.yaml", "traces/main/not-our-business.jsonl"])
def test_a_file_that_the_judge_may_not_read__is_named(image, checkout, tmp_path, private):
    Path(checkout, private).chmod(0o600)
    ended = image.run(checkout, tmp_path / "job", {**JOB, "INPUT_TRACES": "traces/main/*.jsonl"})
    assert ended.code == 2, ended.log
    assert private in ended.log
    assert "no permission to read " in ended.log
    assert "(check its permissions)" in ended.log
