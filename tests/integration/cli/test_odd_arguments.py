"""Arguments and files given by mistake: one clear line and exit code 2, never a bug report, never green."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from store_verbs import Verbs

SUITE = """\
suite: small
traces: ["traces/**/*.json"]
scenarios:
  - id: a
    assertions: [{type: turn_limit, max_turns: 3, required: true}]
"""
TRACE = {
    "schema": "evalgate.trace/1",
    "scenario_id": "a",
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
}


@pytest.fixture
def verbs(tmp_path):
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces/a.json").write_text(json.dumps(TRACE))
    (tmp_path / "suite.yaml").write_text(SUITE)
    return Verbs(tmp_path, "runs.db")


@pytest.mark.parametrize("words", [("--output-dir", ""), ("--template", "")], ids=str)
@pytest.mark.parametrize("verb", ["run suite.yaml", "merge shards"])
def test_an_empty_path_is_no_path(verbs, words, verb):
    """A variable that is not set must not write into the current folder, or leave a template out."""
    if verb.startswith("merge"):
        verbs("run", "suite.yaml", "--shard", "1/1", "--output-dir", "shards")
        verb += " --config suite.yaml"
    before = sorted(verbs.folder.iterdir())

    done = verbs(*verb.split(), *words, code=2)

    assert done.err.count("\n") == 1
    assert "is empty" in done.err
    assert sorted(verbs.folder.iterdir()) == before


@pytest.mark.parametrize("flag", ["--suite", "--branch"])
def test_an_empty_name_has_no_history(verbs, flag):
    verbs("run", "suite.yaml")

    assert f"the store has no {flag[2:]} ``" in verbs("history", flag, "", code=2).err


def test_an_empty_path_of_results_is_not_the_default(verbs):
    verbs("run", "suite.yaml")

    assert "the path is empty" in verbs("approvals", "--results", "", code=2).err


def test_a_commit_that_is_no_text_is_replaced(verbs):
    verbs("run", "suite.yaml", "--commit", "\udcff")

    assert json.loads((verbs.folder / ".evalgate/results.json").read_bytes())["commit"] == "?"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no file here that can be opened, not read")
@pytest.mark.parametrize(
    "verb", ["run suite.yaml --traces", "convert", "query trace_id", "goldens add --from-trace", "fingerprint"]
)
def test_a_file_that_can_be_opened_and_not_read_is_an_error_of_that_file(verbs, verb):
    done = verbs(*verb.split(), "/proc/self/mem", code=1 if verb.startswith("run") else 2)

    assert "bug" not in done.err
    assert "/proc/self/mem" in done.out + done.err
    assert "can't be" in done.out + done.err


def test_a_path_longer_than_the_system_allows_is_an_error_of_that_folder(verbs):
    here = os.open(verbs.folder / "traces", os.O_RDONLY)
    try:
        for _ in range(20):
            os.mkdir("d" * 250, dir_fd=here)
            deeper = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = deeper
    finally:
        os.close(here)

    done = verbs("run", "suite.yaml", code=2)

    assert done.err.count("\n") == 1
    assert "the folder can't be searched: File name too long" in done.err
