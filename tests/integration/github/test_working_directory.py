"""With `working-directory`, everything that people and GitHub read names paths from the repository's root."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from fakes.agent import SUITE, next_run, on_main, own_comments, trace, write_trace
from markdown_check import read_text

SUITE_PATH = "deep/evals/support.yaml"
APPROVAL = "version: 1\napprovals:\n  - {suite: support, scenario: gone, reason: x}\n"


@pytest.fixture
def deep(workspace):
    """The folder of the agent, in a repository with other things."""
    (workspace / "deep").mkdir()
    for name in ("evals", "traces"):
        (workspace / name).rename(workspace / "deep" / name)
    return workspace / "deep"


def test_outputs_and_files_are_named_from_the_root(act, workspace, deep):
    step = act(working_directory="deep", junit_path="reports/junit.xml", sarif_path="./x.sarif")
    assert step.exit_code == 0
    assert step.outputs["results-path"] == "deep/.evalgate/results.json"
    assert (workspace / step.outputs["results-path"]).exists()
    assert step.outputs["sarif-path"] == "deep/x.sarif"
    assert (workspace / step.outputs["sarif-path"]).exists()
    assert (deep / "reports/junit.xml").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("inputs", [{}, {"sarif_path": "x.sarif", "config": "evals/none.yaml"}])
def test_without_a_sarif_file_its_path_is_empty(act, inputs):
    assert act(**inputs).outputs["sarif-path"] == ""


@pytest.mark.parametrize("is_sandboxed", [False, True], ids=["in one process", "apart"])
def test_page_of_a_failing_pull_request_holds_its_conversation(act, workspace, deep, is_sandboxed):
    write_trace(deep, trace(tool="guess", content="It is Tuesday."))
    step = act(working_directory="deep", html_path="out/page.html", is_sandboxed=is_sandboxed)
    page = (workspace / step.outputs["html-path"]).read_text()

    assert step.exit_code == 1
    assert step.outputs["html-path"] == "deep/out/page.html"
    assert "This file holds 1 recorded conversation." in page
    assert "It is Tuesday." in page
    assert not (deep / ".evalgate/report.html").exists()
    assert not (deep / ".evalgate/baseline.zip").exists()


def test_without_a_page_its_path_is_empty(act, deep):
    assert act(working_directory="deep").outputs["html-path"] == ""


def test_every_place_is_named_from_the_root(hub, act, deep):
    suite = SUITE + "  - id: other\n    assertions:\n      - {type: output_contains, value: refunded}\n"
    (deep / "evals/support.yaml").write_text(suite)
    (deep / "traces/bad.json").write_text("{")
    (deep / "traces/stray.json").write_text(json.dumps({**trace(), "scenario_id": "stray"}))
    write_trace(deep, trace(tool="guess"))
    step = act(working_directory="./deep/", sarif_path="x.sarif", junit_path="j.xml", check_run="true")
    bad = "deep/traces/bad.json: the JSON ends unexpectedly"
    assert {(found.get("file"), found.get("line")) for found in step.annotations} == {
        (SUITE_PATH, "7"),
        (SUITE_PATH, "9"),
        (None, None),
    }
    assert [bad in found["message"] for found in step.annotations].count(True) == 1
    places = {(each["path"], each["start_line"]) for each in hub.state["check_runs"][0]["annotations"]}
    assert places == {(SUITE_PATH, 7), (SUITE_PATH, 9)}
    results = json.loads((deep / "x.sarif").read_text())["runs"][0]["results"]
    uris = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results}
    assert uris == {SUITE_PATH}
    suites = ET.parse(deep / "j.xml").getroot()  # noqa: S314 - our own file
    assert {each.get("file") for each in suites.iter() if each.get("file")} == {SUITE_PATH}
    head = hub.state["pulls"]["7"]["head"]["sha"]
    for text in (own_comments(hub)[0], step.summary):
        assert bad in read_text(text)
        assert f"/agent/blob/{head}/{SUITE_PATH}#L5)" in text
        assert "` deep/traces/stray.json `" in text
        outside_of_commands = re.sub("```sh\n.*?\n```", "", text, flags=re.DOTALL)
        assert not re.search(r"(?<!deep/)(evals/support\.yaml|traces/\w+\.json)", outside_of_commands)
    judged = json.loads((deep / ".evalgate/results.json").read_text())
    assert (judged["working_directory"], judged["suites"][0]["path"]) == ("deep", "evals/support.yaml")


def test_globs_that_match_nothing_name_the_folder(hub, act, deep):
    (deep / "traces/refund.json").unlink()
    step = act(working_directory="deep")
    found = "nothing matches traces/*.json below deep"
    assert found in step.annotations[0]["message"]
    assert "nothing matches ` traces/*.json ` below ` deep `" in own_comments(hub)[0]


def test_an_error_in_a_suite_is_located_from_the_root(act, deep):
    (deep / "evals/support.yaml").write_text("version: 2\n")
    step = act(working_directory="deep")
    assert {annotation["file"] for annotation in step.annotations} == {SUITE_PATH}


def test_an_error_in_the_approvals_is_located_in_the_root(act, workspace, deep):
    """The approvals file lies in the repository's root, whatever the working directory is."""
    (workspace / "evalgate-approvals.yaml").write_text(APPROVAL)
    step = act("push", working_directory="deep")
    assert {annotation["file"] for annotation in step.annotations} == {"evalgate-approvals.yaml"}


@pytest.mark.parametrize("folder", ["deep", "deep/of a 'person'", "-P"])
def test_the_command_repeats_the_run_when_pasted_at_the_root(hub, act, workspace, deep, folder):
    if folder != "deep":
        deep.rename(workspace / "x")
        (workspace / "deep").mkdir()
        (workspace / "x").rename(workspace / folder)
    write_trace(workspace / folder, trace(tool="guess"))
    assert act(working_directory=folder, config="evals/support.yaml").exit_code == 1
    [commands] = re.findall("```sh\n([^`]+)\n```", own_comments(hub)[0])
    command, *views = commands.splitlines()
    assert [each.split()[:2] for each in views] == [["evalgate", "explain"], ["evalgate", "show"]]
    shown = "./-P" if folder == "-P" else shlex.quote(folder)
    assert command == f"cd {shown} && evalgate run evals/support.yaml"
    pasted = "\n".join([f"{command} || test $? = 1", "set -e", *views])
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["/bin/sh", "-c", pasted], cwd=workspace, capture_output=True, text=True, check=False, env=environ
    )
    assert done.returncode == 0, done.stderr
    assert all(text in done.stdout for text in ("EvalGate failed", "HARD FAIL", "guess")), done.stdout


GH = """#!{python}
import pathlib, sys, zipfile
verb, run, *options = sys.argv[2:]
named = dict(zip(options[::2], options[1::2]))
assert (verb, run, named["-R"], named["-n"]) == ("download", "9001", "acme/agent", "evalgate-baseline"), sys.argv
target = pathlib.Path(named["-D"])
target.mkdir(parents=True)
zipfile.ZipFile({zip!r}).extractall(target)
"""
"""Unpacks the artifact into the folder after -D, as `gh run download` does."""


@pytest.mark.parametrize("folder", ["deep", "deep/of a 'person' @home"])
def test_the_commands_fetch_the_baseline_and_compare_with_it(hub, act, workspace, deep, tmp_path, folder):
    if folder != "deep":
        deep.rename(workspace / "x")
        (workspace / folder).parent.mkdir()
        (workspace / "x").rename(workspace / folder)
    on_main(hub)
    assert act("push", working_directory=folder).exit_code == 0
    (tmp_path / "artifact.zip").write_bytes((workspace / folder / ".evalgate/baseline.zip").read_bytes())
    next_run(hub, "success")
    write_trace(workspace / folder, trace(tool="guess"))
    assert act(working_directory=folder).exit_code == 1
    [commands] = re.findall("```sh\n(gh run download .+\n.*evalgate run.*)\n", own_comments(hub)[0])
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gh").write_text(GH.format(python=sys.executable, zip=str(tmp_path / "artifact.zip")))
    (tmp_path / "bin/gh").chmod(0o755)
    environ = {"PATH": f"{tmp_path}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["/bin/sh", "-c", f"set -e\n{commands}"],
        cwd=workspace,
        capture_output=True,
        text=True,
        check=False,
        env=environ,
    )
    assert (done.returncode, "broken" in done.stdout) == (1, True), done.stderr


def test_the_judge_in_its_own_process_names_the_same_places(hub, act, deep):
    write_trace(deep, trace(tool="guess"))
    step = act(working_directory="deep", matrix={"suite": "support"}, sarif_path="x.sarif", is_sandboxed=True)
    assert [(found["file"], found["line"]) for found in step.annotations] == [(SUITE_PATH, "7")]
    assert f'"uri": "{SUITE_PATH}"' in (deep / "x.sarif").read_text()
    [comment] = own_comments(hub)
    assert f"/{SUITE_PATH}#L5)" in comment
    [heading] = [line for line in comment.splitlines() if line.startswith("### \u274c")]
    assert heading.startswith("### \u274c ` suite: support `: EvalGate failed: ")
