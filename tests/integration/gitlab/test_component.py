"""The component's job, its scripts run by a shell as a runner does: what it reports, and what a branch can't do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from command_server import run_script
from fakes.gitlab import Pipeline
from other_ci import component

APPROVALS = """\
approvals:
  - {suite: support, scenario: refund, reason: mine, who: me, until: 2099-12-31}
"""


class Done(NamedTuple):
    """What a job left: its exit code, all that it printed, the note's heading."""

    code: int
    log: str
    heading: str
    note: str


@pytest.fixture
def start(tmp_path, tmp_path_factory):
    """Runs lines by a shell in the checkout, in which `evalgate` runs in this process."""
    program = tmp_path_factory.mktemp("bin") / "evalgate"

    def run(lines: list[str], variables: dict[str, str]) -> tuple[int, str]:
        path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
        return run_script(["sh", "-e", "-c", "\n".join(lines)], program, {**variables, "PATH": path}, tmp_path)

    return run


@pytest.fixture
def start_processes(tmp_path):
    """Runs lines by a shell in the checkout, in which `evalgate` is a process of its own."""

    def run(lines: list[str], variables: dict[str, str]) -> tuple[int, str]:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        command = ["sh", "-e", "-c", "\n".join(lines)]
        variables = {**variables, "PATH": path}
        done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def player(start, environ, gitlab, folder):
    """Runs the job with inputs of the component, on an answer of the agent; `changed` replaces its variables."""

    def run(answer: str, changed: dict[str, str] | None = None, **inputs: str) -> Done:
        [[name, job]] = component(**inputs)[1].items()
        (folder / "traces").mkdir(exist_ok=True)
        trace = {"schema": "evalgate.trace/1", "scenario_id": "refund"}
        trace["messages"] = [{"role": "assistant", "content": answer}]
        (folder / "traces/refund.json").write_text(json.dumps(trace))
        variables = {**environ, "CI_JOB_NAME": name, **job["variables"], **(changed or {})}
        code, log = start(job["script"], variables)
        _, log_after = start(job["after_script"], variables)
        note = gitlab.notes[-1]["body"] if gitlab.notes else ""
        return Done(code, log + log_after, note.splitlines()[1] if note else "", note)

    return run


@pytest.fixture
def play(start, environ, gitlab, tmp_path):
    return player(start, environ, gitlab, tmp_path)


@pytest.fixture
def play_alone(start_processes, environ, gitlab, tmp_path):
    """The same with a process for each command."""
    return player(start_processes, environ, gitlab, tmp_path)


ON_MAIN = {"CI_MERGE_REQUEST_IID": "", "CI_COMMIT_BRANCH": "main"}


@pytest.fixture
def main_run(play, gitlab, tmp_path):
    """A pipeline of main with this answer, which leaves its artifacts."""

    def run(answer: str, name: str = "evalgate", **inputs: str) -> Done:
        done = play(answer, ON_MAIN, job=name, **inputs)
        content = (tmp_path / ".evalgate/baseline.zip").read_bytes()
        gitlab.pipelines.append(Pipeline("main", "success", {name: {".evalgate/baseline.zip": content}}))
        return done

    return run


def loosen(folder: Path) -> None:
    suite = folder / "evals/support.yaml"
    suite.write_text(suite.read_text().replace("refunded", "No"))


def test_it_compares_reports_and_keeps_the_exit_code(play_alone, main_run):
    assert main_run("It is refunded.").code == 0
    done = play_alone("No.")
    assert (done.code, done.heading) == (
        1,
        '## ❌ EvalGate failed: scenario ` refund ` broke: expected the answer to contain ` "refunded" `, got ` "No." `',
    )
    assert "note written" in done.log
    assert play_alone("It is refunded.").code == 0
    [job] = component()[1].values()
    assert job["rules"][1]["allow_failure"] is True
    assert "allow_failure" not in job["rules"][0]


def test_two_gates_of_a_project_have_a_note_and_a_baseline_each(play, main_run, gitlab):
    main_run("It is refunded.", "evalgate-a")
    assert play("No.", job="evalgate-a").heading.startswith("## ❌ EvalGate failed: scenario ` refund ` broke")
    assert "no baseline of main" in play("No.", job="evalgate-b").log
    assert len(gitlab.notes) == 2


def test_reports_that_the_branch_holds_are_gone_where_the_gate_could_not_run(play, tmp_path):
    (tmp_path / ".evalgate").mkdir()
    for name in ("comment.md", "junit.xml", "gl-code-quality.json"):
        (tmp_path / ".evalgate" / name).write_text("forged")
    (tmp_path / "evals/support.yaml").write_text("suite: [")
    done = play("No.")
    assert (done.code, done.heading) == (2, "## ❌ EvalGate could not run")
    assert not (tmp_path / ".evalgate").exists()


def test_a_link_of_the_branch_leads_no_file_out_of_the_checkout(play, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "comment.md").write_text("of somebody else")
    (tmp_path / ".evalgate").symlink_to(outside)
    assert play("No.").code == 1
    assert [file.name for file in outside.iterdir()] == ["comment.md"]
    assert not (tmp_path / ".evalgate").is_symlink()


def test_a_merge_request_does_not_approve_itself_unless_it_may(play, main_run, tmp_path):
    main_run("It is refunded.")
    (tmp_path / "evalgate-approvals.yaml").write_text(APPROVALS)
    assert play("No.").code == 1
    assert play("No.", approvals_from="head").code == 0
    assert main_run("No.").code == 0  # main has it: from now on it counts
    assert play("No.").code == 0


def test_with_none_no_approval_counts_in_any_pipeline(play, main_run, tmp_path):
    (tmp_path / "evalgate-approvals.yaml").write_text(APPROVALS)
    assert main_run("No.", approvals_from="none").code == 1
    assert play("No.", approvals_from="none").code == 1
    assert main_run("No.").code == 0


@pytest.mark.parametrize(
    ("inputs", "code"),
    [({}, 0), ({"on_weakening": "fail"}, 1), ({"policy_from": "base"}, 1), ({"fail_on": "broken"}, 0)],
)
def test_a_loosened_suite_is_red_where_the_inputs_say_so(play, main_run, tmp_path, inputs, code):
    main_run("It is refunded.", **inputs)
    loosen(tmp_path)
    done = play("No.", **inputs)
    assert done.code == code
    assert "weakened: support / refund" in done.log


def test_a_baseline_that_is_required_and_missing_can_not_be_judged(play):
    assert play("It is refunded.", fail_on="hard_fail,no_baseline").code == 3


@pytest.mark.parametrize(("inputs", "changed"), [({"baseline": "none"}, {}), ({}, {"EVALGATE_BASELINE": "none"})])
def test_a_comparison_that_a_variable_turned_off_is_named_in_the_heading(play, main_run, inputs, changed):
    main_run("It is refunded.")
    done = play("It is refunded.", changed, **inputs)
    assert done.code == 0
    assert done.heading.endswith("; compared with nothing: ` EVALGATE_BASELINE=none ` was set")
    assert "compared with nothing" not in play("It is refunded.").heading


def test_a_variable_names_no_baseline_that_the_branch_holds(play, main_run, tmp_path):
    main_run("No.", fail_on="broken")
    (tmp_path / "forged.zip").write_bytes((tmp_path / ".evalgate/baseline.zip").read_bytes())
    assert play("No.", fail_on="broken", baseline="forged.zip").code == 0
    done = play("No.", {"EVALGATE_BASELINE": "forged.zip"}, fail_on="broken")
    assert (done.code, "EVALGATE_BASELINE must be auto, none, or what" in done.log) == (2, True)


@pytest.mark.parametrize("demand", [{"fail_on": "hard_fail,no_baseline"}, {"policy_from": "base"}])
def test_a_comparison_that_is_required_can_not_be_turned_off(play, main_run, demand):
    main_run("It is refunded.", **demand)
    assert play("It is refunded.", **demand).code == 0
    done = play("It is refunded.", {"EVALGATE_BASELINE": "none"}, **demand)
    assert done.code == 3
    assert "` EVALGATE_BASELINE=none ` was set" in done.note.split("**Blocks merging")[0]


def test_the_command_that_repeats_the_run_comes_after_the_one_that_gets_its_baseline(
    play, main_run, environ, start, tmp_path
):
    main_run("It is refunded.")
    note = play("No.").note.splitlines()
    [number] = [number for number, line in enumerate(note) if "evalgate fetch-baseline" in line]
    assert note[number + 1].startswith("evalgate run --baseline .evalgate-main.zip ")

    (tmp_path / ".evalgate-main.zip").unlink()
    at_home = {name: environ[name] for name in ("CI_API_V4_URL", "EVALGATE_GITLAB_TOKEN")}
    code, log = start(note[number : number + 2], at_home)
    assert code == 1
    assert "refund broke" in log


@pytest.mark.parametrize(("inputs", "changed"), [({"report_only": "true"}, {}), ({}, {"EVALGATE_REPORT_ONLY": "true"})])
def test_report_only_fails_no_job_and_a_variable_of_a_group_sets_it(play, inputs, changed):
    done = play("No.", changed, **inputs)
    assert done.code == 0
    assert "hard-failed" in done.heading


def test_variables_change_neither_the_day_nor_the_commit_nor_what_event_it_was(play, main_run, tmp_path):
    main_run("It is refunded.")
    (tmp_path / "evalgate-approvals.yaml").write_text(APPROVALS.replace("2099-12-31", "2026-01-31"))
    false = {"SOURCE_DATE_EPOCH": "1767225600", "GITHUB_SHA": "f" * 40, "GITHUB_EVENT_NAME": "push"}
    done = play("No.", false, approvals_from="head")
    assert done.code == 1
    assert "expired on 2026-01-31" in done.heading
    assert "fffffff" not in done.note
    assert "the same as in the baseline" in play("It is refunded.", false).log


def test_code_of_the_branch_is_not_imported_for_a_path_of_all_jobs(play_alone, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('of the branch')")
    assert "of the branch" not in play_alone("No.").log
