"""Files of sub-agents obey the rules of the session's own: links, the border of the workspace, and sizes."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from evalgate.action import run
from evalgate.adapters.github.workflow_step import WorkflowStep
from hostile.suite_edits import write
from hostile.whole_run.test_who_acted import DENY, FOLDER, HONEST, SESSION, session, sub_agent

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

OUTER = "outer_call"
"""A name that only a file outside of the workspace has."""
SUB_AGENT, META = f"{FOLDER}/agent-a1.jsonl", f"{FOLDER}/agent-a1.meta.json"
FOLDERS = (FOLDER, f"traces/{SESSION}")
PLACES = pytest.mark.parametrize("place", [SUB_AGENT, META, "traces/agent-a1.jsonl", *FOLDERS])
GLOBS = pytest.mark.parametrize("glob", ["traces/*.jsonl", "traces/**/*"])


def lay_out(folder: Path, glob: str, check: Any = HONEST, **files: Any) -> None:
    suite = {"suite": "s", "traces": [f"../{glob}"], "scenarios": [{"id": "*", "assertions": [check]}]}
    write(folder, {"evals/s.yaml": suite, f"traces/{SESSION}.jsonl": session(), **files})


def link(place: Path, target: Path, name: str) -> None:
    """Puts a link at the place, to a file of a sub-agent or a folder with one that calls the tool."""
    text = sub_agent(name=name) if "meta" not in place.name else json.dumps({"agentType": name, "toolUseId": "t1"})
    below = {FOLDER: "agent-a1.jsonl", SESSION: "subagents/agent-a1.jsonl", "subagents": "agent-a1.jsonl"}
    write(target, {below.get(place.name, "file"): text})
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target if place.name in below else target / "file")


def act(folder: Path) -> tuple[int, str]:
    """Runs the Action's job on the project; returns its exit code, log and results."""
    write(folder, {"event.json": {"repository": {"default_branch": "main"}}})
    environ = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(folder),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_REPOSITORY_ID": "1",
        "GITHUB_EVENT_NAME": "schedule",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_SHA": "c" * 40,
        "GITHUB_REF": "refs/heads/main",
        "GITHUB_RUN_ID": "1",
        "GITHUB_API_URL": "http://127.0.0.1:9",
        "RUNNER_TEMP": str(folder),
        "INPUT_CONFIG": "evals/s.yaml",
        "INPUT_BASELINE": "none",
        "INPUT_UPLOAD-BASELINE": "false",
        "INPUT_MODE": "evaluate",
        "PATH": "",
    }
    log = io.StringIO()
    code = run(environ, WorkflowStep(log, str(folder / "outputs"), str(folder / "summary")), is_sandboxed=False)
    written = [path.read_text() for path in sorted((folder / ".evalgate").rglob("*.json"))]
    return code, log.getvalue() + "".join(written)


@GLOBS
@PLACES
@pytest.mark.parametrize("target", ["../outside", "inside"])
def test_a_job_refuses_a_link_in_place_of_a_sub_agent(tmp_path, place, glob, target):
    project = tmp_path / "project"
    lay_out(project, glob)
    link(project / place, project / target, OUTER)
    code, shown = act(project)
    assert code == 2, shown
    assert "symbolic links are not followed" in shown
    assert OUTER not in shown


@GLOBS
def test_a_job_reads_the_files_of_sub_agents(tmp_path, glob):
    lay_out(tmp_path, glob, DENY, **{SUB_AGENT: sub_agent()})
    code, shown = act(tmp_path)
    assert code == 1
    assert "`delete_db` must not be called, but was" in shown


@GLOBS
@pytest.mark.parametrize("place", [SUB_AGENT, "traces/agent-a1.jsonl", *FOLDERS])
def test_a_shell_follows_a_link_as_it_does_for_the_session(tmp_path, place, glob):
    lay_out(tmp_path, glob, DENY)
    link(tmp_path / place, tmp_path / "inside", "delete_db")
    ran = evalgate(tmp_path, ["evals/s.yaml"])
    assert ran.code == 1
    assert "`delete_db` must not be called, but was" in json.dumps(ran.results)


@GLOBS
def test_a_link_that_leads_nowhere_is_refused_by_name(tmp_path, glob):
    lay_out(tmp_path, glob)
    link(tmp_path / SUB_AGENT, tmp_path / "inside", OUTER)
    (tmp_path / "inside/file").unlink()
    ran = evalgate(tmp_path, ["evals/s.yaml"])
    assert ran.code == 2
    assert f"{SUB_AGENT}: this is a link that leads to no file" in ran.stderr


def incomplete(ran: CommandResult) -> bool:
    return ran.code == 1 and "calls of sub-agents (1) are recorded in other files" in json.dumps(ran.results)


@GLOBS
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (["record=2KB"], "is larger than the limit `record`"),
        (["together=8KB"], "the file and those of its sub-agents are larger than"),
        (["record=2KB", "together=8KB"], "is larger than the limit `record`"),
    ],
)
def test_a_file_over_a_limit_is_an_error_that_names_it(tmp_path, glob, limits, reason):
    lay_out(tmp_path, glob, **{SUB_AGENT: sub_agent(name="sweep", notes="x" * 10_000)})
    ran = evalgate(tmp_path, ["evals/s.yaml", *(word for limit in limits for word in ("--limit", limit))])
    assert ran.code == 1
    assert reason in json.dumps(ran.results)


@GLOBS
def test_no_more_is_read_than_the_limit_of_files_together_allows(tmp_path, glob):
    """Reading on would exceed the limit of the whole run, which ends it."""
    large = sub_agent(name="sweep", notes="x" * 500) * 200
    lay_out(tmp_path, glob, **{f"{FOLDER}/agent-a{number}.jsonl": large for number in (1, 2)})
    ran = evalgate(tmp_path, ["evals/s.yaml", "--limit", "together=8KB", "--limit", "traces=100KB"])
    assert ran.code == 1, ran.stderr
    assert "the file and those of its sub-agents are larger than 8,000 bytes" in json.dumps(ran.results)


@GLOBS
def test_a_file_named_like_a_pattern_hides_no_other(tmp_path, glob):
    lay_out(tmp_path, glob, DENY, **{SUB_AGENT: sub_agent(), f"{FOLDER}/agent-*": "{}"})
    ran = evalgate(tmp_path, ["evals/s.yaml"])
    assert ran.code == 1
    assert "`delete_db` must not be called, but was" in json.dumps(ran.results)


def test_a_session_named_like_a_pattern_hides_no_other(tmp_path):
    lay_out(tmp_path, "traces/*.jsonl", DENY, **{"traces/*.jsonl": session(0), SUB_AGENT: sub_agent()})
    assert evalgate(tmp_path, ["evals/s.yaml"]).code == 1
