"""A run in a shell knows commit and branch of its folder, read from `.git` without running git."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from programs import require
from store_verbs import Verbs

SHA, OTHER = "c0ffee" + "0" * 34, "badcafe" + "1" * 33
SUITE = """\
suite: small
traces: ["traces/*.json"]
scenarios:
  - id: a
    assertions: [{type: turn_limit, max_turns: 3}]
"""
TRACE = {
    "schema": "evalgate.trace/1",
    "trace_id": "t1",
    "scenario_id": "a",
    "messages": [{"role": "user", "content": "hi"}],
}


@pytest.fixture
def folder(tmp_path):
    """A suite and a trace in a folder of a repository."""
    inside = tmp_path / "work" / "agent"
    (inside / "traces").mkdir(parents=True)
    (inside / "traces/a.json").write_text(json.dumps(TRACE))
    (inside / "suite.yaml").write_text(SUITE)
    return inside


def lay_out(top, files):
    for name, content in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def run(folder, *words, **environ):
    """The commit in the results, and the commit and branch that history has."""
    verbs = Verbs(folder, str(folder / "runs.db"))
    verbs("run", "suite.yaml", "-q", *words, **environ)
    commit = json.loads((folder / ".evalgate/results.json").read_bytes())["commit"]
    last = verbs("history", "--json").json["runs"][-1]
    return commit, (last["commit"], last["branch"])


BRANCH = {".git/HEAD": "ref: refs/heads/main\n"}
KNOWN = {
    "a loose ref": ({**BRANCH, ".git/refs/heads/main": f"{SHA}\n"}, (SHA, "main")),
    "a branch with slashes": (
        {".git/HEAD": "ref: refs/heads/fix/the-é\n", ".git/refs/heads/fix/the-é": f"{SHA}\n"},
        (SHA, "fix/the-é"),
    ),
    "a packed ref": (
        {**BRANCH, ".git/packed-refs": f"# pack-refs with: peeled\n{OTHER} refs/heads/mainline\n{SHA} refs/heads/main\n^{OTHER}\n"},
        (SHA, "main"),
    ),
    "a loose ref before a packed one": (
        {**BRANCH, ".git/refs/heads/main": f"{SHA}\n", ".git/packed-refs": f"{OTHER} refs/heads/main\n"},
        (SHA, "main"),
    ),
    "no branch": ({".git/HEAD": f"{SHA}\n"}, (SHA, None)),
    "SHA-256": ({".git/HEAD": "ab" * 32}, ("ab" * 32, None)),
    "a worktree": (
        {
            ".git": "gitdir: ../main/.git/worktrees/w\n",
            "../main/.git/worktrees/w/HEAD": "ref: refs/heads/side\n",
            "../main/.git/worktrees/w/commondir": "../..\n",
            "../main/.git/refs/heads/side": f"{SHA}\n",
        },
        (SHA, "side"),
    ),
    "a submodule": (
        {".git": "gitdir: ../.git/modules/agent\n", "../.git/modules/agent/HEAD": f"{SHA}\n"},
        (SHA, None),
    ),
    "a ref to a ref": (
        {".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": "ref: refs/heads/trunk\n", ".git/refs/heads/trunk": SHA},
        (SHA, "main"),
    ),
}  # fmt: skip
UNKNOWN = {
    "no repository": {},
    "no commit yet": BRANCH,
    "an empty HEAD": {".git/HEAD": ""},
    "a damaged HEAD": {".git/HEAD": "\0\x01nonsense"},
    "a damaged ref": {**BRANCH, ".git/refs/heads/main": "c0ffee"},
    "refs in a table": {".git/HEAD": "ref: refs/heads/.invalid\n", ".git/reftable/tables.list": ""},
    "a ref outside": {".git/HEAD": "ref: refs/../../secret\n", "secret": SHA},
    "a ref that is no ref": {".git/HEAD": "ref: /etc/passwd\n"},
    "refs in a circle": {".git/HEAD": "ref: refs/heads/a\n", ".git/refs/heads/a": "ref: refs/heads/a\n"},
    "a folder for a ref": {**BRANCH, ".git/refs/heads/main/x": SHA},
    "a file of another tool": {".git": "hello"},
    "a missing folder": {".git": "gitdir: gone\n"},
    "a HEAD without end": {".git/HEAD": "a" * 1_000_000},
}


@pytest.mark.parametrize(("files", "head"), KNOWN.values(), ids=KNOWN)
def test_commit_and_branch_are_those_of_the_repository(folder, files, head):
    lay_out(folder.parent, files)

    assert run(folder) == (head[0], head)


@pytest.mark.parametrize("files", UNKNOWN.values(), ids=UNKNOWN)
def test_a_repository_that_can_not_be_read_changes_nothing(folder, files):
    lay_out(folder.parent, files)

    commit, (stored, branch) = run(folder)

    assert (commit, stored) == (None, None)
    assert branch in {None, "main", "a"}


def test_flag_and_variables_come_first(folder):
    lay_out(folder.parent, KNOWN["a loose ref"][0])

    assert run(folder, "--commit", "feed") == ("feed", ("feed", "main"))
    assert run(folder, GITHUB_SHA=OTHER, GITHUB_REF_NAME="7/merge") == (OTHER, (OTHER, "7/merge"))


def test_equal_results_of_two_commits_are_two_runs(folder):
    lay_out(folder.parent, KNOWN["a loose ref"][0])
    run(folder)
    run(folder)
    (folder.parent / ".git/refs/heads/main").write_text(OTHER)
    run(folder)

    runs = Verbs(folder, str(folder / "runs.db"))("history", "--json").json["runs"]
    assert [each["commit"] for each in runs] == [SHA, OTHER]


def test_freshness_requires_traces_of_that_commit(folder):
    lay_out(folder.parent, KNOWN["a loose ref"][0])
    (folder / "suite.yaml").write_text(f"{SUITE}policy: {{fail_on: [stale_evidence], freshness: {{require: head}}}}\n")
    verbs = Verbs(folder, str(folder / "runs.db"))

    verbs("run", "suite.yaml", code=1)
    (folder / "traces/a.json").write_text(json.dumps({**TRACE, "commit": SHA}))
    verbs("run", "suite.yaml")


@pytest.mark.parametrize("packed", [False, True])
def test_it_is_what_git_says(folder, packed):
    program = require("git")

    def git(*words):
        names = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.run(
            [program, *names, *words], cwd=folder, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q", "-b", "some/branch")
    git("commit", "-q", "--allow-empty", "-m", "one")
    if packed:
        git("pack-refs", "--all")
    sha = git("rev-parse", "HEAD")
    assert run(folder) == (sha, (sha, "some/branch"))
    git("checkout", "-q", "--detach")
    git("commit", "-q", "--allow-empty", "-m", "two")
    sha = git("rev-parse", "HEAD")
    assert run(folder) == (sha, (sha, None))
    git("worktree", "add", "-q", "-b", "side", "tree")
    for name in ("suite.yaml", "traces"):
        shutil.move(folder / name, folder / "tree" / name)
    assert run(folder / "tree") == (sha, (sha, "side"))
