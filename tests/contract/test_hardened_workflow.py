"""The workflow for public repositories judges by main's rules, and only what its own job has recorded."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from fnmatch import fnmatch

import pytest
import yaml
from documents import ROOT

WORKFLOW = yaml.safe_load((ROOT / "examples/workflows/hardened.yml").read_text(encoding="utf-8"))
RECORD, GATE = WORKFLOW["jobs"]["record"], WORKFLOW["jobs"]["gate"]
OWNERS = (ROOT / "examples/CODEOWNERS").read_text(encoding="utf-8")
AGENT = """\
import pathlib
folder = pathlib.Path("traces")
folder.mkdir()
(folder / "recorded.jsonl").write_text("recorded")
"""


def test_the_job_that_runs_the_pull_request_can_only_read_and_has_no_part_of_the_gate():
    assert WORKFLOW["permissions"] == {}
    assert RECORD["permissions"] == {"contents": "read"}
    assert not any("evalgate" in step.get("uses", "") for step in RECORD["steps"])


def test_the_gate_runs_no_command_of_the_pull_request_and_is_never_skipped():
    assert [step["run"] for step in GATE["steps"] if "run" in step] == ["rm -rf traces"]
    assert (GATE["needs"], GATE["if"]) == ("record", "always()")


def test_the_gate_uses_mains_rules_and_fails_if_they_become_weaker():
    inputs = GATE["steps"][-1]["with"]
    assert (inputs["policy-from"], inputs["on-weakening"]) == ("base", "fail")
    declared = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(inputs) <= set(declared)


@pytest.mark.skipif(os.name != "posix", reason="the workflow's commands are for a POSIX shell")
def test_a_committed_trace_is_not_judged(tmp_path):
    """Runs the commands of both jobs, and hands the recordings on as the artifact does."""
    temp, checkouts = tmp_path / "temp", [tmp_path / "record", tmp_path / "gate"]
    temp.mkdir()
    for checkout in checkouts:
        (checkout / "traces").mkdir(parents=True)
        (checkout / "traces/committed.jsonl").write_text("committed")
        (checkout / "my_agent.py").write_text(AGENT)
    for checkout, job in zip(checkouts, (RECORD, GATE), strict=True):
        for step in job["steps"]:
            if "run" in step:
                command = step["run"].replace("python ", f"{shlex.quote(sys.executable)} ", 1)
                environ = {**os.environ, "RUNNER_TEMP": str(temp)}
                subprocess.run(["/bin/sh", "-c", command], cwd=checkout, env=environ, check=True)
    [upload] = [step["with"] for step in RECORD["steps"] if "upload-artifact@" in step.get("uses", "")]
    [download] = [step["with"] for step in GATE["steps"] if "download-artifact@" in step.get("uses", "")]
    assert (upload["path"], upload["if-no-files-found"]) == ("${{ runner.temp }}/traces", "error")
    assert upload["name"] == download["name"]
    (temp / "traces").rename(checkouts[1] / download["path"])
    globbed = GATE["steps"][-1]["with"]["traces"]
    files = [path.relative_to(checkouts[1]).as_posix() for path in checkouts[1].rglob("*.jsonl")]
    assert [name for name in files if fnmatch(name, globbed)] == ["traces/recorded.jsonl"]


def test_the_page_shows_the_owners_of_everything_that_decides():
    rules = [line.split() for line in OWNERS.splitlines() if not line.startswith("#")]
    assert [path for path, _ in rules] == ["/evalgate.yaml", "/evals/", "/evalgate-approvals.yaml", "/.github/"]
    page = (ROOT / "docs/hardening.md").read_text(encoding="utf-8")
    assert all(f"\n{line}\n" in page for line in OWNERS.splitlines() if not line.startswith("#"))
