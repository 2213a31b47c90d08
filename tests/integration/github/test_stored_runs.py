"""Runs of a job kept in a store: where it may lie, what the log says, and that nothing depends on it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fakes.agent import own_comments, trace, write_trace

from evalgate.features.store.bootstrap.store import open_store
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.history.stored_run import RunFacts, StoredRun, StoredScenarioRow
from evalgate.models.run.golden import Golden

PASSWORD = "hunter22"


@pytest.fixture
def job(runner):
    """A job and the folder of its runner."""

    def environment(event="pull_request", **options):
        environ = runner.environment(event, **options)
        return environ, Path(environ["RUNNER_TEMP"])

    return environment


def read_log(step) -> str:
    return "\n".join(step.log)


def stored(path: Path):
    with open_store(str(path), "/") as store:
        return list(store.runs.list())


def past(path: Path, signs: str) -> None:
    """Earlier runs of main, as a store has them: the scenario passed where the sign is `+`."""
    with open_store(str(path), "/") as store:
        for day, sign in enumerate(signs, 1):
            at = datetime(2026, 1, day, tzinfo=UTC)
            facts = RunFacts(f"r{day}", ("support",), "pass", 0, at, at, 0, branch="main", score=1.0, pass_rate=1.0)
            row = StoredScenarioRow(
                ScenarioKey("support", "refund", None), "PASS" if sign == "+" else "FAIL", 1.0, 1, 1
            )
            store.runs.record(StoredRun(facts, (), (row,), b"{}"))


def test_a_run_is_kept_in_the_runners_folder(hub, runner, job):
    environ, temp = job(store_url="evalgate.db")
    step = runner.act_in(environ)
    assert step.exit_code == 0
    [facts] = stored(temp / "evalgate.db")
    assert (facts.verdict, facts.branch, facts.pull_request) == ("pass", "feature/x", 7)
    assert facts.commit == hub.state["pulls"]["7"]["head"]["sha"]
    assert facts.url.endswith(f"/actions/runs/{environ['GITHUB_RUN_ID']}")
    assert "The run was stored in evalgate.db as run" in read_log(step)


def test_a_job_that_is_repeated_is_kept_once(runner, job):
    environ, temp = job(store_url="evalgate.db")
    runner.act_in(environ)
    Path(environ["GITHUB_OUTPUT"]).write_text("")
    again = runner.act_in(environ)
    assert "not stored again in evalgate.db" in read_log(again)
    assert len(stored(temp / "evalgate.db")) == 1


@pytest.mark.parametrize("is_sandboxed", [False, True], ids=["in one process", "apart"])
def test_the_summary_draws_the_runs_of_main_and_the_comment_names_what_became_flaky(hub, runner, job, is_sandboxed):
    environ, temp = job(store_url="evalgate.db")
    past(temp / "evalgate.db", "++++++-")
    step = runner.act_in(environ, is_sandboxed=is_sandboxed)
    assert "The run was stored in evalgate.db as run" in read_log(step)
    assert "### The last 8 runs of ` main `" in step.summary
    [comment] = own_comments(hub)
    assert "newly flaky since 2026-01-07" in comment


@pytest.mark.parametrize("where", ["workspace", "outside"])
def test_a_file_anywhere_else_is_refused(runner, job, workspace, tmp_path, where):
    path = (workspace if where == "workspace" else tmp_path) / "evalgate.db"
    environ, _ = job(store_url=str(path))
    step = runner.act_in(environ)
    assert (step.exit_code, step.outputs["verdict"]) == (2, "invalid")
    assert "input `store-url` is a file" in read_log(step)
    assert not path.exists()


def test_nothing_is_stored_unless_requested(runner, job, workspace):
    (workspace / "evalgate.yaml").write_text("version: 1\nsuites: [evals/*.yaml]\nstore: kept.db\n")
    environ, temp = job()
    step = runner.act_in(environ)
    assert step.exit_code == 0
    assert "stored" not in read_log(step)
    assert not list(temp.rglob("*.db")) + list(workspace.rglob("*.db"))


def test_without_a_store_a_forks_run_has_no_line_about_one(runner, job):
    environ, _ = job(pr=8, token="ghs_readonly")
    step = runner.act_in(environ)
    assert step.annotations
    assert "store" not in read_log(step) + step.summary + json.dumps(step.annotations)


def test_a_fork_whose_branch_is_called_main_writes_nothing_into_the_history_of_main(hub, runner, job):
    hub.state["pulls"]["8"]["head"]["ref"] = "main"
    environ, temp = job(pr=8, token="ghs_read", store_url="evalgate.db")
    runner.act_in(environ)
    assert [facts.branch for facts in stored(temp / "evalgate.db")] == ["pull/8"]


def test_an_unreachable_server_is_a_warning_and_its_password_is_masked(runner, job, workspace):
    url = f"postgresql://me:{PASSWORD}@127.0.0.1:9/evalgate"
    write_trace(workspace, trace(tool="guess"))
    environ, _ = job(store_url=url)
    step = runner.act_in(environ)
    assert step.exit_code == 1
    assert any("the run was not stored" in each["message"] for each in step.annotations)
    masked = [each["data"] for each in step.commands if each["command"] == "add-mask"]
    assert {url, PASSWORD} <= set(masked)
    assert PASSWORD not in read_log(step) + step.summary + json.dumps([step.outputs, step.annotations])


def test_a_damaged_store_changes_nothing_but_a_warning(runner, job):
    environ, temp = job(store_url="evalgate.db")
    (temp / "evalgate.db").write_bytes(b"no database" * 1000)
    step = runner.act_in(environ)
    assert step.exit_code == 0
    assert any("evalgate.db is damaged" in each["message"] for each in step.annotations)


def test_a_job_stores_the_goldens_of_its_repository_and_leaves_those_of_another_alone(runner, job, workspace):
    golden = {"user_messages": ["Refund order 42"], "golden_responses": ["Done."]}
    goldens = [{"id": "refund", **golden}, {"id": "mine", **golden}]
    suite = {"version": 1, "suite": "talks", "traces": ["../traces/*.json"], "goldens": goldens}
    (workspace / "evals/talks.yaml").write_text(json.dumps(suite))
    environ, temp = job("workflow_dispatch", store_url="evalgate.db")
    with open_store("evalgate.db", str(temp)) as store:
        store.select_repository("acme/other")
        store.goldens.create(Golden("refund", title="theirs"))

    step = runner.act_in(environ)

    warning = "the evaluations of 1 golden are not stored: the golden `refund` in the store belongs to the repository"
    assert any(warning in each["message"] for each in step.annotations)
    with open_store("evalgate.db", str(temp)) as store:
        assert store.goldens.get("refund").title == "theirs"
        for repository, ids in (("acme/other", ["refund"]), ("acme/agent", ["mine"])):
            store.select_repository(repository)
            assert store.goldens.ids() == ids
