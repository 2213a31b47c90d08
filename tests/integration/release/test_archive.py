"""The archive of a commit, which every job that uses the Action downloads: small, and whole for what it runs there."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
from functools import partial

import pytest
from documents import ROOT
from fakes.agent import make_workspace, next_run, on_main, own_comments, trace, write_trace
from fakes.hub import FakeHub
from fakes.providers import FakeProviders
from fakes.runner import FakeRunner

MOST_BYTES = 1_500_000
NEEDED = (
    *("action.yml", "Dockerfile", "entrypoint.py", "LICENSE", "NOTICE", "pyproject.toml", "README.md"),
    *("composite/action.yml", "composite/install.py", "requirements/image.txt"),
    *(
        "record/action.yml",
        "record/record.py",
        "requirements/core.txt",
        "requirements/gate.txt",
        "requirements/record.txt",
        "requirements/record-prices.txt",
    ),
)
STORE_GROUP = ["store", "history", "goldens", "feedback", "export", "import"]
LEFT_OUT = [
    "traces",
    "show",
    "init",
    "validate",
    "run",
    "explain",
    "skill",
    "view",
    "baseline",
    "approve",
    "approvals",
    "evaluators",
    "import-suite",
    "query",
    "cassettes",
    "mutate",
    "compare",
    "backtest",
    "migrate",
    "calibrate",
    "confirm",
    "convert",
    "track",
    "fetch-baseline",
    "comment",
    "merge",
    "fingerprint",
    *STORE_GROUP,
    "schema",
    "completion",
]
COMMAND = "import sys; sys.path.insert(0, sys.argv.pop(1)); from evalgate.__main__ import main; main()"


@pytest.fixture(scope="module")
def archive():
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout, so there is no archive of a commit")
    command = [git, "archive", "--format=tar.gz", "--worktree-attributes", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout


def test_it_is_small_enough_for_every_job(archive):
    assert len(archive) <= MOST_BYTES


def test_it_holds_what_image_and_composite_action_are_made_of(archive):
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        assert [name for name in NEEDED if name not in packed.getnames()] == []


@pytest.fixture(scope="module")
def unpacked(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def running_hub():
    hub = FakeHub()
    yield hub
    hub.stop()


@pytest.fixture
def hub(running_hub):
    return running_hub.fresh()


@pytest.fixture
def workspace(tmp_path):
    return make_workspace(tmp_path / "workspace")


@pytest.fixture
def act(hub, workspace, tmp_path, unpacked):
    """Runs the Action of the archive as a job does."""
    return partial(FakeRunner(hub, workspace, tmp_path).act_as_process, entrypoint=unpacked / "entrypoint.py")


def run_unpacked(unpacked, *arguments):
    command = [sys.executable, "-I", "-c", COMMAND, unpacked, *arguments]
    return subprocess.run(command, cwd=ROOT / "examples/support-agent", capture_output=True, text=True, check=False)


def test_a_job_that_runs_the_gate_from_it_compares_with_main(hub, act, workspace):
    on_main(hub)
    assert act("push").exit_code == 0
    next_run(hub, "success")
    write_trace(workspace, trace(content="no"))
    done = act(fail_on="broken")
    assert (done.exit_code, done.outputs["verdict"]) == (1, "fail"), done.log
    assert "broke" in own_comments(hub)[0]


def test_a_suite_that_names_a_schema_is_read_without_one(act, workspace):
    (workspace / "suite.json").write_text("{}")
    (workspace / "evals/support.yaml").write_text(
        "# yaml-language-server: $schema=../suite.json\nsuite: a\ntraces: [none/*]\nscenarios: [{id: b, assertions: [{type: contains, value: ok}]}]\n"
    )
    done = act()
    assert (done.exit_code, "no traces found" in done.summary) == (3, True), done.log


def test_a_job_from_it_has_a_page_and_is_saved_in_a_store(act, workspace, tmp_path):
    done = act(store_url="evalgate.db", html_path="report.html")
    [store] = tmp_path.rglob("evalgate.db")
    assert (done.exit_code, store.exists(), (workspace / "report.html").exists()) == (0, True, True), done.log


def test_an_agent_is_recorded_from_it(unpacked, tmp_path):
    fake = FakeProviders()
    agent = [sys.executable, str(ROOT / "tests/recorded_agents/plain.py")]
    done = run_unpacked(unpacked, "record", "--scenario", "s", *fake.flags, "--out", str(tmp_path / "t"), "--", *agent)
    fake.close()
    assert (done.returncode, len([*tmp_path.rglob("*.jsonl")])) == (0, 1), done.stderr


@pytest.mark.parametrize("verb", ["init", "run", "merge"])
def test_a_verb_that_no_job_runs_says_that_it_is_left_out(unpacked, verb):
    done = run_unpacked(unpacked, verb, "traces")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: `evalgate {verb}` is not in this copy of EvalGate")
    assert done.stderr.count("\n") == 1


def test_every_other_verb_is_in_it(unpacked):
    script = "from importlib import import_module as load; from evalgate.cli import VERBS\n"
    script += "left_out = []\nfor name, verb in VERBS.items():\n"
    script += "    try: load(verb.module)\n    except ModuleNotFoundError: left_out.append(name)\nprint(*left_out)"
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, sys.argv[1])\n{script}", unpacked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (LEFT_OUT, "")
