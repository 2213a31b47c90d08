"""The archive of a commit, which every job that uses the Action downloads: small, and whole for what it runs there."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile

import pytest
from documents import ROOT

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
    "fetch-baseline",
    "comment",
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


def run_unpacked(unpacked, *arguments):
    command = [sys.executable, "-I", "-c", COMMAND, unpacked, *arguments]
    return subprocess.run(command, cwd=ROOT / "examples/support-agent", capture_output=True, text=True, check=False)


def test_the_gate_runs_from_it(unpacked, tmp_path):
    done = run_unpacked(unpacked, "run", "evals/support.yaml", "--quiet", "--output-dir", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")


def test_a_suite_that_names_a_schema_is_read_without_one(unpacked, tmp_path):
    (tmp_path / "suite.json").write_text("{}")
    suite = tmp_path / "a.yaml"
    suite.write_text(
        "# yaml-language-server: $schema=suite.json\nsuite: a\ntraces: [none/*]\nscenarios: [{id: b, assertions: [{type: contains, value: ok}]}]\n"
    )
    done = run_unpacked(unpacked, "run", str(suite), "--output-dir", str(tmp_path / "out"))
    assert (done.returncode, "no traces found" in done.stdout) == (3, True), done.stderr


def test_a_run_from_it_has_a_page_and_is_saved_in_a_store(unpacked, tmp_path):
    store, page = tmp_path / "store.db", tmp_path / "report.html"
    written = ["--store-url", f"sqlite:///{store}", "--html", str(page), "--output-dir", str(tmp_path / "out")]
    done = run_unpacked(unpacked, "run", "evals/support.yaml", *written)
    assert (done.returncode, store.exists(), page.exists()) == (0, True, True), done.stderr


def test_a_verb_that_no_job_runs_says_that_it_is_left_out(unpacked):
    done = run_unpacked(unpacked, "init", "traces")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: `evalgate init` is not in this copy of EvalGate")


def test_watching_says_that_it_is_left_out(unpacked):
    done = run_unpacked(unpacked, "run", "evals/support.yaml", "--watch")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: `--watch` is not in this copy of EvalGate")


def test_every_other_verb_is_in_it(unpacked):
    script = "from importlib import import_module as load; from evalgate.cli import VERBS\n"
    script += "left_out = []\nfor name, verb in VERBS.items():\n"
    script += "    try: load(verb.module)\n    except ModuleNotFoundError: left_out.append(name)\nprint(*left_out)"
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, sys.argv[1])\n{script}", unpacked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (LEFT_OUT, "")
