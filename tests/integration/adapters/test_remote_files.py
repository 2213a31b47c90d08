"""Traces at a URL: read through fsspec, in a shell only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command import evalgate

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.files.wrapped_files import RemoteFiles
from evalgate.errors import RefusedPath, SettingError

if TYPE_CHECKING:
    from pathlib import Path

fsspec = pytest.importorskip("fsspec", reason="the extra `dask` is not installed")

SUITE = """
suite: s
traces: {traces}
scenarios:
  - id: "*"
    assertions: [{{path: "length(turns)", eq: 1}}]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE.format(traces='["traces/**/*.json"]'))
    (tmp_path / "traces" / "deep").mkdir(parents=True)
    for number, folder in enumerate(("traces", "traces/deep")):
        trace = {"schema": "evalgate.trace/1", "messages": [{"role": "user", "content": f"{number}"}]}
        (tmp_path / folder / f"{number}.json").write_text(json.dumps(trace))
    return tmp_path


def judged(project, *words):
    ran = evalgate(project, ["suite.yaml", "--no-baseline-zip", *words])
    assert ran.code == 0, ran.stderr
    return {each["id"]: each["verdict"] for each in ran.results["suites"][0]["scenarios"]}


@pytest.mark.parametrize("pattern", ["file://{}/traces/**/*.json", "file://{}/traces"])
def test_traces_at_a_url_are_judged_as_those_of_a_folder(project, pattern):
    here = judged(project)
    assert here == {"0": "PASS", "deep/1": "PASS"}
    assert judged(project, "--traces", pattern.format(project)) == here


def test_a_store_in_memory_is_read_by_ranges_too(project):
    store = fsspec.filesystem("memory")
    store.pipe("/runs/a.jsonl", b"12345\n6789\n")
    files = RemoteFiles(Workspace(None, str(project)))
    (found,) = files.expand("memory://runs/*.jsonl", ".")
    assert (found.path, found.below) == ("memory:///runs/a.jsonl", "a.jsonl")
    assert files.size(found) == 11
    with files.open(found) as stream:
        stream.seek(6)
        assert stream.readline() == b"6789\n"


def test_a_suite_may_name_no_url(project):
    (project / "suite.yaml").write_text(SUITE.format(traces='["file:///etc/*"]'))
    ran = evalgate(project, ["suite.yaml"])
    assert ran.code == 2
    assert "`traces` of suite `s` contains a URL" in ran.stderr


def test_a_job_reads_no_url(project):
    with pytest.raises(RefusedPath, match="this is a URL, not a path"):
        Workspace(str(project), str(project)).expand("file:///etc/*", ".")


def test_a_url_that_can_not_be_read_is_an_error_with_a_fix(project):
    files = RemoteFiles(Workspace(None, str(project)))
    with pytest.raises(SettingError, match="nowhere:// URLs can't be read here"):
        files.expand("nowhere://bucket/*.json", ".")


def test_messages_of_remote_storage_are_not_repeated(project):
    files = RemoteFiles(Workspace(None, str(project)))
    with pytest.raises(RefusedPath) as refused:
        files.open(files.expand("file:///proc/version", ".")[0]._replace(real="file:///proc/none/secret"))
    assert str(refused.value).endswith("(FileNotFoundError)")
