"""On GitLab the author of a merge request decides neither by what it is judged nor what of it is approved."""

from __future__ import annotations

import json

import pytest

APPROVALS = """\
approvals:
  - {suite: support, scenario: refund, reason: ticket 4711, who: Ana, until: 2099-12-31}
"""
LOOSE = """\
suite: support
traces: ["../traces/*.json"]
policy: {on_weakening: ignore}
scenarios:
  - {id: refund, assertions: [{type: contains, value: "No", required: true}]}
"""
OF_MAIN = ("--policy-from", "base", "--approvals-from", "base")


@pytest.fixture
def answer(tmp_path):
    """Writes the answer of the recorded run."""

    def write(text: str) -> None:
        message = {"role": "assistant", "content": text}
        (tmp_path / "traces").mkdir(exist_ok=True)
        trace = {"schema": "evalgate.trace/1", "scenario_id": "refund", "messages": [message]}
        (tmp_path / "traces/refund.json").write_text(json.dumps(trace))

    return write


@pytest.fixture
def main_run(job, answer, tmp_path):
    """Runs the gate as on main, on this answer, and keeps its baseline."""

    def run(text: str) -> None:
        answer(text)
        job("run")
        (tmp_path / ".evalgate/baseline.zip").rename(tmp_path / "main.zip")

    return run


def judge(job, tmp_path, *words: str) -> tuple[int, dict]:
    done = job("run", *words)
    return done.exit_code, json.loads((tmp_path / ".evalgate/results.json").read_text())


def list_statuses(results: dict) -> list[str]:
    return [each["status"] for each in results["approvals"]]


def test_an_approval_that_the_branch_adds_is_only_proposed(job, main_run, answer, tmp_path):
    main_run("It is refunded.")
    answer("No.")
    (tmp_path / "evalgate-approvals.yaml").write_text(APPROVALS)
    code, results = judge(job, tmp_path, "--baseline", "main.zip", "--approvals-from", "base")
    assert (code, list_statuses(results)) == (1, ["proposed"])
    assert results["approvals"][0]["message"].startswith("added by this pull request: it counts once merged")
    assert results["command"] == "evalgate run --baseline main.zip --approvals-from base"
    code, results = judge(job, tmp_path, "--baseline", "main.zip")
    assert (code, list_statuses(results)) == (0, ["active"])


def test_an_approval_of_main_counts_and_one_that_the_branch_extends_does_not(job, main_run, tmp_path):
    (tmp_path / "evalgate-approvals.yaml").write_text(APPROVALS)
    main_run("No.")
    code, results = judge(job, tmp_path, "--baseline", "main.zip", "--approvals-from", "base")
    assert (code, list_statuses(results)) == (0, ["active"])
    (tmp_path / "evalgate-approvals.yaml").write_text(APPROVALS.replace("2099", "2199"))
    code, results = judge(job, tmp_path, "--baseline", "main.zip", "--approvals-from", "base")
    assert (code, list_statuses(results)) == (1, ["proposed"])


@pytest.mark.parametrize("baseline", ["none", "results.json"])
def test_without_the_approvals_of_main_none_counts(job, main_run, answer, tmp_path, baseline):
    main_run("It is refunded.")
    (tmp_path / ".evalgate/results.json").rename(tmp_path / "results.json")
    answer("No.")
    (tmp_path / "evalgate-approvals.yaml").write_text(APPROVALS)
    code, results = judge(job, tmp_path, "--baseline", baseline, "--approvals-from", "base")
    assert (code, list_statuses(results)) == (1, ["proposed"])


def test_an_approval_of_a_store_that_the_branch_could_have_written_is_only_proposed(job, main_run, answer, tmp_path):
    main_run("It is refunded.")
    answer("No.")
    store = ("--store-url", "store.db")
    assert judge(job, tmp_path, *store)[0] == 1
    assert job("approve", "refund", "--until", "2099-12-31", "--because", "x", "--who", "Ben", *store).exit_code == 0
    assert judge(job, tmp_path, "--baseline", "main.zip", *store)[0] == 0
    assert judge(job, tmp_path, "--baseline", "main.zip", "--approvals-from", "base", *store)[0] == 1


@pytest.mark.parametrize("words", [(), ("--policy-from", "base")])
def test_with_none_no_approval_counts_and_none_is_offered(job, main_run, tmp_path, words):
    (tmp_path / "evalgate-approvals.yaml").write_text(APPROVALS)
    main_run("No.")
    store = ("--store-url", "store.db")
    approve = ("approve", "refund", "--until", "2099-12-31", "--because", "x", "--who", "Ben", *store)
    assert judge(job, tmp_path, "--baseline", "main.zip", *store)[0] == 0
    assert job(*approve).exit_code == 0
    code, results = judge(job, tmp_path, "--baseline", "main.zip", *words, "--approvals-from", "none", *store)
    assert (code, list_statuses(results)) == (1, [])
    assert results["command"].endswith("--approvals-from none")
    assert "evalgate approve" not in (tmp_path / ".evalgate/comment.md").read_text()


def test_a_broken_file_of_approvals_is_not_read_where_none_counts(job, answer, tmp_path):
    answer("It is refunded.")
    (tmp_path / "evalgate-approvals.yaml").write_text("approvals: [{suite: support}]")
    assert job("run").exit_code == 2
    assert job("run", "--approvals-from", "none").exit_code == 0


def test_the_suites_of_main_decide_and_what_the_branch_loosens_is_named(job, main_run, answer, tmp_path):
    main_run("It is refunded.")
    answer("No.")
    (tmp_path / "evals/support.yaml").write_text(LOOSE)
    assert judge(job, tmp_path, "--baseline", "main.zip")[0] == 0
    code, results = judge(job, tmp_path, "--baseline", "main.zip", *OF_MAIN)
    assert code == 1
    assert results["rules"]["from"] == "base"
    assert results["command"] == f"evalgate run --baseline main.zip {' '.join(OF_MAIN)}"
    assert "check_replaced" in {each["kind"] for each in results["weakenings"]}


def test_an_honest_branch_is_green_by_the_rules_of_main(job, main_run, answer, tmp_path):
    main_run("It is refunded.")
    answer("Yes, it is refunded.")
    code, results = judge(job, tmp_path, "--baseline", "main.zip", *OF_MAIN)
    assert (code, results["weakenings"]) == (0, [])


@pytest.mark.parametrize("baseline", ["none", "results.json"])
def test_without_the_rules_of_main_the_gate_cannot_judge(job, main_run, tmp_path, baseline):
    main_run("It is refunded.")
    (tmp_path / ".evalgate/results.json").rename(tmp_path / "results.json")
    code, results = judge(job, tmp_path, "--baseline", baseline, "--policy-from", "base")
    assert (code, results["verdict"]) == (3, "cannot_judge")
    assert "the rules of the base branch are not available" in results["reasons"][0]["message"]


def test_shards_of_the_branches_rules_are_not_merged_under_those_of_main(job, main_run, answer, tmp_path):
    main_run("It is refunded.")
    answer("No.")
    (tmp_path / "evals/support.yaml").write_text(LOOSE)
    assert job("run", "--shard", "1/1").exit_code == 0
    done = job("merge", ".evalgate/shard.zip", "--baseline", "main.zip", "--policy-from", "base")
    assert done.exit_code != 0
