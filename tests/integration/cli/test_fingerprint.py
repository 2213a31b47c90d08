"""The fingerprint of the files behind a trace, and a gate that watches the same files."""

from __future__ import annotations

import io
import json
import os
from types import SimpleNamespace

import pytest

from evalgate.adapters.files.project_files import FileFingerprints
from evalgate.adapters.files.workspace import Workspace
from evalgate.cli import main
from evalgate.cli.shell import Shell
from evalgate.errors import OverLimit, RefusedPath

SUITE = """\
version: 1
suite: s
traces: [../traces/*.json]
policy: {fail_on: [stale_evidence], freshness: {watch: ["agent/**", prompt.md], require: head}}
scenarios:
  - {id: a, assertions: [{contains: x}]}
"""
GLOBS = ("agent/**", "prompt.md")


@pytest.fixture
def project(tmp_path):
    for name in ("agent/deep", "evals", "traces"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "agent/main.py").write_text("print(1)")
    (tmp_path / "agent/deep/tool.py").write_text("print(2)")
    (tmp_path / "prompt.md").write_text("Be kind.")
    (tmp_path / "evals/s.yaml").write_text(SUITE)
    return tmp_path


def command(project, *arguments):
    out, err = io.StringIO(), io.StringIO()
    code = main(arguments, Shell(out, err, {}, str(project)))
    return SimpleNamespace(code=code, out=out.getvalue(), err=err.getvalue())


def fingerprint(project, *globs):
    done = command(project, "fingerprint", *(globs or GLOBS))
    assert done.code == 0, done.err
    return done.out.strip()


def test_it_is_the_sha256_of_sorted_digests_and_paths(project):
    import hashlib

    lines = [
        f"{hashlib.sha256((project / path).read_bytes()).hexdigest()}  {path}\n"
        for path in ("agent/deep/tool.py", "agent/main.py", "prompt.md")
    ]
    assert fingerprint(project) == hashlib.sha256("".join(lines).encode()).hexdigest()


def test_neither_the_order_of_globs_nor_times_nor_modes_nor_other_files_change_it(project):
    before = fingerprint(project)
    os.utime(project / "prompt.md", (1, 1))
    (project / "prompt.md").chmod(0o755)
    (project / "other.md").write_text("x")
    assert fingerprint(project, *reversed(GLOBS), "agent/main.py") == before


@pytest.mark.parametrize("change", ["content", "name", "new", "gone"])
def test_any_change_of_a_watched_file_changes_it(project, change):
    before = fingerprint(project)
    file = project / "agent/main.py"
    if change == "content":
        file.write_text("print(3)")
    elif change == "name":
        file.rename(project / "agent/other.py")
    elif change == "new":
        (project / "agent/new.py").write_text("")
    else:
        file.unlink()
    assert fingerprint(project) != before


@pytest.mark.parametrize("target", ["gone.js", "/nowhere/python3", "link", "main.py/x"])
def test_a_link_to_nothing_counts_by_where_it_leads(project, target):
    before = fingerprint(project)
    link = project / "agent/link"
    link.symlink_to(target)
    with_link = fingerprint(project)
    assert with_link != before
    assert fingerprint(project) == with_link
    link.unlink()
    link.symlink_to("elsewhere")
    assert fingerprint(project) not in (before, with_link)
    link.unlink()
    assert fingerprint(project) == before


def test_a_fifo_is_refused_and_a_link_to_a_file_counts_by_its_content(project):
    (project / "agent/link").symlink_to("../prompt.md")
    before = fingerprint(project, "agent/**")
    (project / "prompt.md").write_text("Be rude.")
    assert fingerprint(project, "agent/**") != before
    os.mkfifo(project / "agent/pipe")
    assert command(project, "fingerprint", "agent/**").code == 2


def test_a_glob_that_finds_nothing_is_an_error(project):
    done = command(project, "fingerprint", "agnet/**")
    assert (done.code, done.out) == (2, "")
    assert "no file matches 'agnet/**'" in done.err


def test_watched_files_that_are_too_large_are_refused(project):
    with pytest.raises(OverLimit, match="larger than 10 bytes"):
        FileFingerprints(Workspace(None, str(project)), 10).compute_fingerprint(GLOBS)


def test_in_a_job_nothing_outside_the_workspace_is_watched(project):
    (project / "agent/link.py").symlink_to("/etc/passwd")
    inside = FileFingerprints(Workspace(str(project), str(project)))
    for globs in (["agent/**"], ["../**"]):
        with pytest.raises(RefusedPath):
            inside.compute_fingerprint(globs)
    (project / "agent/link.py").unlink()
    (project / "agent/link.py").symlink_to("gone.py")
    with pytest.raises(RefusedPath):
        inside.compute_fingerprint(["agent/**"])


# --- the gate -------------------------------------------------------------------------------------------------


def recorded(project, **fields):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "x"}]
    content = {"schema": "evalgate.trace/1", "scenario_id": "a", "messages": messages, **fields}
    (project / "traces/a.json").write_text(json.dumps(content))


@pytest.mark.parametrize("where", ["fields", "metadata"])
def test_a_trace_of_the_current_files_passes(project, where):
    origin = {"commit": "a" * 40, "agent_hash": fingerprint(project)}
    metadata = {f"evalgate.{name}": value for name, value in origin.items()}
    recorded(project, **(origin if where == "fields" else {"metadata": metadata}))
    assert command(project, "run", "--commit", "a" * 40).code == 0


def test_a_trace_of_earlier_files_fails(project):
    recorded(project, commit="a" * 40, agent_hash=fingerprint(project))
    (project / "prompt.md").write_text("Be quick.")
    done = command(project, "run", "--commit", "a" * 40)
    assert done.code == 1
    assert "failed: 1 scenario relied on stale evidence" in done.out


def test_without_a_commit_the_message_says_how_to_set_it(project):
    recorded(project, commit="a" * 40, agent_hash=fingerprint(project))
    assert command(project, "run").code == 1
    results = json.loads((project / ".evalgate/results.json").read_text())
    assert "set --commit" in results["reasons"][0]["message"]


def test_missing_files_to_watch_end_the_run(project):
    recorded(project)
    (project / "prompt.md").unlink()
    done = command(project, "run")
    assert done.code == 2
    assert "no file matches 'prompt.md'" in done.err


def test_approvals_are_read_from_the_working_folder_of_a_shell(project):
    (project / "evals/s.yaml").write_text(SUITE.split("policy", maxsplit=1)[0] + SUITE[SUITE.index("scenarios") :])
    recorded(project)
    (project / "evals/s.yaml").write_text(
        (project / "evals/s.yaml").read_text().replace("contains: x", "contains: y, required: true")
    )
    assert command(project, "run").code == 1
    approval = "{suite: s, scenario: a, reason: known, who: Ana, until: 2999-01-01}"
    (project / "evalgate-approvals.yaml").write_text(f"approvals: [{approval}]\n")
    done = command(project, "run")
    assert done.code == 0
    assert "approval approved: s / a (at any score, also 0): expires in" in done.out
    (project / "evalgate-approvals.yaml").write_text("approvals: [{suit: s}]\n")
    for verb in ("run", "validate"):
        done = command(project, verb)
        assert done.code == 2
        assert "evalgate-approvals.yaml:1:13" in done.err


def run_with_results(project, *arguments):
    trace = {"scenario_id": "a", "trace_id": "t", "messages": [{"role": "assistant", "content": "x"}]}
    (project / "traces/a.json").write_text(json.dumps(trace))
    assert command(project, "run", "evals", "--fail-on", "hard_fail", *arguments).code == 0
    return json.loads((project / ".evalgate/results.json").read_bytes())


def test_later_runs_know_which_watched_files_changed(project):
    first = run_with_results(project)["watched"]
    assert list(first) == ["files"]
    assert list(first["files"]) == ["agent/deep/tool.py", "agent/main.py", "prompt.md"]
    assert {len(digest) for digest in first["files"].values()} == {16}
    assert command(project, "baseline", "save").code == 0
    baseline = ["--baseline", ".evalgate/saved"]
    assert run_with_results(project, *baseline)["watched"]["changed"] == []
    (project / "prompt.md").write_text("Be brief.")
    (project / "agent/deep/tool.py").unlink()
    (project / "agent/new.py").write_text("")
    changed = ["agent/deep/tool.py", "agent/new.py", "prompt.md"]
    assert run_with_results(project, *baseline)["watched"]["changed"] == changed
    shown = command(project, "explain", "--for-agent").out
    assert [line for line in shown.split("\n") if "changed file" in line] == [
        f"\u2502 changed file of the agent: {path}" for path in changed
    ]


def test_a_baseline_of_an_earlier_version_knows_no_files(project):
    document = run_with_results(project)
    del document["watched"]
    (project / "old.json").write_text(json.dumps(document))
    assert "changed" not in run_with_results(project, "--baseline", "old.json")["watched"]
    shown = command(project, "explain", "--for-agent")
    assert (shown.code, "changed file" in shown.out) == (0, False)


def test_too_many_watched_files_are_not_kept(project):
    for number in range(1_001):
        (project / f"agent/{number}.py").write_text("")
    assert "watched" not in run_with_results(project)
