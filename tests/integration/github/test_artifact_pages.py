"""Finding a baseline among many artifacts costs few requests, however many there are."""

from __future__ import annotations

import zipfile
from collections import Counter
from datetime import UTC, datetime
from hashlib import sha1

import pytest
from fakes.faults import FAULTS

from evalgate.adapters.github.ancestry import Reference
from evalgate.adapters.github.baselines import BaselineRequest, Baselines

MERGE = sha1(b"pr-merge", usedforsecurity=False).hexdigest()
EVALGATE = ".github/workflows/evalgate.yml"
LIST, RUNS, RUN = "actions/list-artifacts-for-repo", "actions/list-workflow-runs", "actions/get-workflow-run"
OF_RUN = "actions/list-workflow-run-artifacts"
COMMIT, COMPARE = "repos/get-commit", "repos/compare-commits-with-basehead"
CONTENT = "repos/get-content"
DOWNLOAD = {"actions/download-artifact": 1, "blob/GET": 1}


class Noon:
    def now(self):
        return datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def commits(hub):
    """Main's newest commits, the newest last; the pull request is based on the newest."""
    made = hub.extend_main(15)
    base_on(hub, made[-1])
    return made


def fill_pages(hub, commits):
    """Two pages of artifacts of older commits."""
    hub.plant_many([commits[2], commits[1]] * 100)


def base_on(hub, commit):
    hub.state["commits"][MERGE]["parents"][0] = commit


@pytest.fixture
def find(client, tmp_path):
    def _find(branch="main"):
        wanted = BaselineRequest("evalgate-baseline", branch, "main", EVALGATE, Reference("parent", MERGE))
        return Baselines(client, wanted, tmp_path, Noon()).find()

    return _find


def asked(hub):
    return Counter(request["op"] for request in hub.requests)


def run_of(found):
    """Which run made the baseline that was found, by the artifact's id."""
    return int(found.info.path.rpartition("-")[2].removesuffix(".zip"))


def content_of(found):
    with zipfile.ZipFile(found.info.path) as zipped:
        return zipped.read("results.json").decode()


def test_the_exact_commits_baseline_on_the_first_page_ends_the_search(hub, find, commits):
    fill_pages(hub, commits)
    hub.plant_many(commits[5:])
    found = find()
    assert (found.info.status, content_of(found)) == ("exact", commits[-1])
    assert asked(hub) == {LIST: 1, COMMIT: 1, RUNS: 1, **DOWNLOAD}


def test_the_exact_commits_baseline_on_a_later_page_is_found_by_its_run(hub, find, commits):
    hub.plant_many([commits[3]])
    fill_pages(hub, commits)
    base_on(hub, commits[3])
    found = find()
    assert (found.info.status, content_of(found)) == ("exact", commits[3])
    assert asked(hub) == {LIST: 1, COMMIT: 1, RUNS: 1, OF_RUN: 1, **DOWNLOAD}


def test_a_baseline_older_than_all_pages_that_are_read_is_found_by_its_run(hub, find, commits):
    hub.plant_many([commits[3]])
    hub.plant_many([commits[4]] * 1010, head_repository_id=2002)
    base_on(hub, commits[3])
    found = find()
    assert (found.info.status, content_of(found)) == ("exact", commits[3])
    assert asked(hub)[LIST] == 1


def test_an_ancestor_next_to_the_commit_ends_the_search(hub, find, commits):
    fill_pages(hub, commits)
    hub.plant_many(commits[5:-1])
    found = find()
    assert (found.info.status, found.info.distance, content_of(found)) == ("ancestor", 1, commits[-2])
    assert asked(hub) == {LIST: 1, COMMIT: 1, RUNS: 2, COMPARE: 1, **DOWNLOAD}


def test_of_ancestors_farther_away_the_nearest_of_ten_is_taken(hub, find, commits):
    hub.plant_many([*commits[:-5], commits[-3], commits[-5], commits[-4]])
    found = find()
    assert (found.info.status, found.info.distance) == ("ancestor", 2)
    assert asked(hub)[COMPARE] == 10


def test_a_commit_with_many_nightly_baselines_is_located_once(hub, find, commits):
    hub.plant_many([commits[-3]])
    hub.plant_many([commits[-4]] * 30, event="schedule")
    found = find()
    assert (found.info.status, found.info.distance) == ("ancestor", 2)
    assert asked(hub)[COMPARE] == 2


@pytest.mark.parametrize(("runs", "of_workflow"), [(1, {RUNS: 1, CONTENT: 1}), (0, {RUNS: 1})])
def test_without_artifacts_few_requests_tell_why(hub, find, runs, of_workflow):
    del hub.state["runs"][0 : 0 if runs else 1]
    assert find().info.status == "none"
    assert asked(hub) == {LIST: 2, **of_workflow}


def test_a_list_without_a_usable_artifact_is_read_to_its_end(hub, find, commits):
    hub.plant_many(commits * 14, event="pull_request", head_branch="feature/x")
    assert find().info.status == "none"
    assert asked(hub) == {LIST: 4, COMMIT: 1, RUNS: 2, CONTENT: 1}


def test_expired_artifacts_on_a_later_page_are_reported(hub, find, commits):
    hub.plant(expired=True)
    hub.plant_many([commits[1]] * 100, event="pull_request", head_branch="feature/x")
    assert find().info.status == "expired"


def test_of_a_list_in_arbitrary_order_all_pages_are_read(hub, find, commits):
    hub.shuffle_lists()
    fill_pages(hub, commits)
    hub.plant_many(commits[3:-2])
    found = find()
    assert (found.info.status, found.info.distance) == ("ancestor", 2)
    assert asked(hub)[LIST] == 3


def test_a_branch_without_a_baseline_gets_that_of_where_it_left_the_default_branch_at_once(hub, find, commits):
    hub.state["refs"]["refs/heads/release"] = hub.commit("b" * 40, commits[0])
    base_on(hub, "b" * 40)
    hub.plant_many(commits[:9])
    found = find("release")
    assert (found.info.status, content_of(found), found.info.distance) == ("ancestor", commits[0], 1)
    assert asked(hub)[COMPARE] == 2


@pytest.mark.parametrize("others", [0, 150])
def test_of_a_commits_baselines_the_pushs_counts_then_the_newest_runs(hub, find, commits, others):
    pushed = hub.plant(run={"head_sha": commits[-1]})
    hub.plant_many([commits[1]] * others)
    nightly = [hub.plant(run={"head_sha": commits[-1], "event": event}) for event in ("schedule", "workflow_dispatch")]
    assert run_of(find()) == pushed["id"]
    pushed["expired"] = True
    assert run_of(find()) == nightly[1]["id"]


@pytest.mark.parametrize("others", [0, 150])
def test_the_same_holds_for_an_ancestors_baselines(hub, find, commits, others):
    pushed = hub.plant(run={"head_sha": commits[-2]})
    hub.plant_many([commits[1]] * others)
    hub.plant(run={"head_sha": commits[-2], "event": "schedule"})
    found = find()
    assert (found.info.status, run_of(found)) == ("ancestor", pushed["id"])


def test_a_run_that_is_not_trusted_does_not_hide_another_of_its_commit(hub, find, commits):
    hub.plant(run={"head_sha": commits[-1], "event": "schedule"})
    refused = hub.plant(run={"head_sha": commits[-1], "path": ".github/workflows/other.yml"})
    found = find()
    assert found.info.status == "exact"
    assert f"artifact {refused['id']}" in found.refused[0]


FAULTY = sorted({*FAULTS} - {"slow", "drip", "hang", "expired", "done, then reset", "done, then 502", "corrupt"})


def faulty_calls():
    """Each fault at one of the two calls; at the other one on demand."""
    for number, fault in enumerate(FAULTY):
        ops = (RUNS, OF_RUN) if number % 2 else (OF_RUN, RUNS)
        yield pytest.param(ops[0], fault)
        yield pytest.param(ops[1], fault, marks=pytest.mark.matrix)


@pytest.mark.parametrize(("op", "fault"), list(faulty_calls()))
def test_where_github_lists_no_runs_the_pages_are_read(hub, find, commits, op, fault):
    hub.plant_many([commits[3]])
    fill_pages(hub, commits)
    base_on(hub, commits[3])
    hub.fail(FAULTS[fault], times=-1, op=op)
    found = find()
    assert hub.waiting, "the fault did not happen"
    assert (found.info.status, content_of(found)) == ("exact", commits[3])
    assert asked(hub)[LIST] == 3


def add_runs(hub, count, **run):
    common = {"workflow_id": 501, "head_branch": "main", "created_at": "2026-01-01T00:00:00Z"}
    finished = {"status": "completed", "conclusion": "success"}
    hub.state["runs"] += [{"id": 20_000 + number, **common, **finished, **run} for number in range(count)]


def test_where_a_commit_has_more_runs_than_github_lists_at_once_the_pages_are_read(hub, find, commits):
    hub.plant_many([commits[3]])
    fill_pages(hub, commits)
    base_on(hub, commits[3])
    add_runs(hub, 100, head_sha=commits[3], event="pull_request", head_repository_id=2002)
    assert find().info.status == "exact"
    assert (asked(hub)[RUNS], asked(hub)[LIST]) == (1, 3)


def test_of_runs_without_an_artifact_three_are_asked_for_one(hub, find, commits):
    hub.plant_many([commits[3]])
    fill_pages(hub, commits)
    base_on(hub, commits[3])
    add_runs(hub, 20, head_sha=commits[3], event="push", head_repository_id=1001)
    assert find().info.status == "exact"
    assert (asked(hub)[OF_RUN], asked(hub)[LIST]) == (3, 3)


def test_a_job_whose_workflow_is_unknown_asks_for_no_runs(hub, client, commits, tmp_path):
    hub.plant_many([commits[3]])
    wanted = BaselineRequest("evalgate-baseline", "main", "main", "", Reference("commit", commits[3]))
    found = Baselines(client, wanted, tmp_path, Noon()).find()
    assert (found.info.status, asked(hub)[RUNS]) == ("refused", 0)
    assert "another workflow" in found.refused[0]


@pytest.mark.parametrize("listed", ["of another commit", "not all"])
def test_where_github_lists_other_runs_than_the_commits_the_pages_are_read(hub, client, find, commits, listed):
    """A server that ignores `head_sha`, or lists fewer runs than it counts."""
    hub.plant_many([commits[-1]])
    fill_pages(hub, commits)
    hub.plant_many([commits[-3]])
    others = client.get(f"/actions/workflows/evalgate.yml/runs?branch=main&head_sha={commits[-3]}")
    answer = others if listed == "of another commit" else {"total_count": 1, "workflow_runs": []}
    hub.fail({"kind": "status", "status": 200, "body": answer}, times=-1, op=RUNS)
    found = find()
    assert (found.info.status, content_of(found)) == ("exact", commits[-1])


@pytest.mark.parametrize("answer", [{}, [], None, {"artifacts": None}, {"artifacts": {"id": 1}}])
def test_an_answer_without_a_list_of_artifacts_does_not_mean_that_there_are_none(hub, find, commits, answer):
    hub.plant_many([commits[-1]])
    hub.fail({"kind": "status", "status": 200, "body": answer}, times=-1, op=LIST)
    found = find()
    assert (found.info.status, found.info.path) == ("unreachable", None)
    assert "unexpected response from GitHub to the list of artifacts" in found.refused[0]


def test_a_run_that_ended_since_github_listed_it_counts(hub, client, find, commits):
    fill_pages(hub, commits)
    hub.plant(run={"head_sha": commits[-1]})
    path = f"/actions/workflows/evalgate.yml/runs?branch=main&head_sha={commits[-1]}"
    listed = client.get(path)
    listed["workflow_runs"][0].update(status="in_progress", conclusion=None)
    hub.fail({"kind": "status", "status": 200, "body": listed}, op=RUNS)
    assert find().info.status == "exact"
    assert asked(hub)[RUN] == 1
