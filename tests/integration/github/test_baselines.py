from __future__ import annotations

import base64
import zipfile
from datetime import UTC, datetime
from hashlib import sha1

import pytest
from fakes.hub import FakeHub, site_of

from evalgate.adapters.github.ancestry import Reference
from evalgate.adapters.github.baselines import BaselineRequest, Baselines
from evalgate.adapters.github.client import Client

COMMITS = ("c0", "c1", "c2", "pr-head", "pr-merge")
C0, C1, C2, PR, MERGE = (sha1(name.encode(), usedforsecurity=False).hexdigest() for name in COMMITS)
EVALGATE = ".github/workflows/evalgate.yml"


class Noon:
    def now(self):
        return datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def find(client, tmp_path):
    def _find(*, branch="main", reference=None, artifact="evalgate-baseline", run=None):
        wanted = BaselineRequest(artifact, branch, "main", EVALGATE, reference or Reference("parent", MERGE), run)
        return Baselines(client, wanted, tmp_path, Noon()).find()

    return _find


def files_of(found):
    with zipfile.ZipFile(found.info.path) as zipped:
        return zipped.read("results.json").decode()


def good(hub: FakeHub, text="good", **run):
    return hub.plant(files={"results.json": text, "manifest.json": "{}"}, run=run)


def test_the_baseline_of_the_merge_commits_first_parent_is_exact(hub, find):
    hub.plant(files={"results.json": "good"}, created_at="2030-01-01T11:00:00Z")
    found = find()
    assert (found.info.status, found.info.sha, found.info.age_seconds) == ("exact", C2, 3600)
    assert files_of(found) == "good"
    assert found.refused == []


def test_a_red_main_is_still_main(hub, find):
    good(hub, conclusion="failure")
    assert find().info.status == "exact"


@pytest.mark.parametrize("event", ["schedule", "workflow_dispatch"])
def test_a_run_of_the_branch_without_a_push_makes_a_baseline_too(hub, find, event):
    good(hub, event=event)
    found = find()
    assert (found.info.status, found.info.sha, found.refused) == ("exact", C2, [])


def test_a_run_by_hand_on_another_branch_gives_no_baseline(hub, find):
    hub.state["refs"]["refs/heads/other"] = C2
    good(hub, event="workflow_dispatch", head_branch="other")
    assert find().info.status == "none"


def test_the_nearest_ancestor_is_taken_though_a_farther_one_is_newer(hub, find):
    good(hub, "near", head_sha=C1)
    good(hub, "far", head_sha=C0)
    found = find()
    assert (found.info.status, found.info.distance, found.info.sha) == ("ancestor", 1, C1)
    assert files_of(found) == "near"


def test_a_newer_commit_of_the_branch_is_the_latest(hub, find):
    newest = hub.commit("a" * 40, C2)
    hub.state["refs"]["refs/heads/main"] = newest
    good(hub, head_sha=newest)
    found = find()
    assert (found.info.status, found.info.sha) == ("latest", newest)


def test_a_branch_without_a_baseline_falls_back_to_the_default_branchs_latest(hub, find):
    hub.state["refs"]["refs/heads/release"] = hub.commit("b" * 40, C1)
    good(hub)
    found = find(branch="release", reference=Reference("commit", "b" * 40))
    assert (found.info.status, found.info.sha) == ("latest", C2)


def test_of_two_artifacts_of_one_run_the_higher_id_counts(hub, find):
    good(hub, "first", id=8700)
    hub.plant(files={"results.json": "second"}, run_id=8700)
    assert files_of(find()) == "second"


def test_a_good_one_is_found_behind_many_that_other_runs_left(hub, find):
    good(hub, "pushed", head_sha=C0)
    for _ in range(12):
        good(hub, "merged", head_sha=C1, event="merge_group")
    found = find()
    assert (found.info.status, files_of(found)) == ("ancestor", "pushed")


def test_no_artifact_at_all_is_a_clean_state(hub, find):
    found = find()
    assert (found.info.status, found.info.path, found.refused) == ("none", None, [])


def test_a_branch_that_has_baselines_of_other_names_only_is_reported_with_them(hub, find):
    for name in ("evalgate-baseline", "evalgate-baseline-billing", "evalgate-report-evalgate", "coverage"):
        hub.plant(name=name)
    hub.plant(name="evalgate-baseline-fork", run={"head_repository_id": 2002})
    hub.plant(name="evalgate-baseline-branch", run={"head_branch": "feature/x"})
    hub.plant(name="evalgate-baseline-old", expired=True)
    info = find(artifact="evalgate-baseline-v2").info
    assert (info.status, info.target, info.artifact) == ("none", "main", "evalgate-baseline-v2")
    assert info.others == ["evalgate-baseline", "evalgate-baseline-billing"]


def test_a_branch_that_ran_the_gate_and_has_no_baseline_is_reported_with_its_successful_pushes(hub, find):
    hub.write(EVALGATE, b"uses: org/evalgate@v1", C2)
    for changed in ({}, {"conclusion": "failure"}, {"head_branch": "feature/x"}, {"event": "pull_request"}):
        hub.state["runs"].append({**hub.state["runs"][0], "id": 7000 + len(hub.state["runs"]), **changed})
    info = find().info
    assert (info.status, info.runs) == ("none", 2)


@pytest.mark.parametrize("path", [r"/workflows/evalgate.yml/runs$", "/contents/"])
def test_without_an_answer_to_whether_it_ran_there_is_just_no_baseline(hub, find, path):
    hub.write(EVALGATE, b"uses: org/evalgate@v1", C2)
    hub.fail({"kind": "status", "status": 403}, path=path)
    info = find().info
    assert (info.status, info.runs) == ("none", 0)


def test_without_an_answer_to_what_else_there_is_there_is_just_no_baseline(hub, find):
    hub.plant(name="evalgate-baseline")
    hub.fail({"kind": "status", "status": 403}, path=r"/actions/artifacts$", skip=1)
    info = find(artifact="evalgate-baseline-v2").info
    assert (info.status, info.others) == ("none", [])


def test_what_an_earlier_attempt_of_the_run_left_is_not_its_own_baseline(hub, find):
    own = good(hub, status="in_progress", conclusion=None)
    found = find(run=own["run_id"])
    assert (found.info.status, found.refused) == ("none", [])
    assert find(run=1).info.status == "refused"


def test_an_expired_one_is_reported_as_expired(hub, find):
    hub.plant(expired=True)
    assert find().info.status == "expired"


def test_one_that_expires_between_listing_and_download_is_left_for_the_next(hub, find):
    good(hub, "older", head_sha=C1)
    good(hub, "exact")
    hub.fail({"kind": "expired"}, path=r"/zip$")
    found = find()
    assert (found.info.status, files_of(found)) == ("ancestor", "older")
    assert "it has expired" in found.refused[0]


STRANGE = {
    "a fork's push to its own main": ({"head_repository_id": 2002}, {}, "it was made by a fork"),
    "a pull request run": ({"event": "pull_request"}, {}, "it was not made by a push, a schedule or"),
    "a pull request run with a writing token": ({"event": "pull_request_target"}, {}, "it was not made by a push"),
    "a run after another": ({"event": "workflow_run"}, {}, "it was not made by a push"),
    "a run of the merge queue": ({"event": "merge_group"}, {}, "it was not made by a push"),
    "a run that an app started": ({"event": "repository_dispatch"}, {}, "it was not made by a push"),
    "a run by hand of a workflow in another file": (
        {"event": "workflow_dispatch", "path": ".github/workflows/other.yml"},
        {},
        "it was made by another workflow than .github/workflows/evalgate.yml; `baseline-workflow` names the one that counts",
    ),
    "a run by hand on a tag called main": (
        {"event": "workflow_dispatch", "head_sha": "d" * 40},
        {},
        "its commit is not in the history of main",
    ),
    "a run by hand that was cancelled": (
        {"event": "workflow_dispatch", "conclusion": "cancelled"},
        {},
        "its run was cancelled or did not complete",
    ),
    "a scheduled run of a fork's main": (
        {"event": "schedule", "head_repository_id": 2002},
        {},
        "it was made by a fork",
    ),
    "a run that was cancelled": ({"conclusion": "cancelled"}, {}, "its run was cancelled or did not complete"),
    "a run that took too long": ({"conclusion": "timed_out"}, {}, "its run was cancelled or did not complete"),
    "a run that waits": ({"status": "waiting", "conclusion": None}, {}, "its run has not finished"),
    "a workflow that was renamed": (
        {"path": ".github/workflows/evalgate-old.yml"},
        {},
        "it was made by another workflow than .github/workflows/evalgate.yml; `baseline-workflow` names the one that counts",
    ),
    "a workflow in a folder of the same name": (
        {"path": "evil/.github/workflows/evalgate.yml"},
        {},
        "it was made by another workflow than .github/workflows/evalgate.yml; `baseline-workflow` names the one that counts",
    ),
    "no path at all": (
        {"path": ""},
        {},
        "it was made by another workflow than .github/workflows/evalgate.yml; `baseline-workflow` names the one that counts",
    ),
    "a run that goes on": ({"status": "in_progress", "conclusion": None}, {}, "its run has not finished"),
    "a tag called main": ({"head_sha": "d" * 40}, {}, "its commit is not in the history of main"),
    "an unknown commit": ({"head_sha": "f" * 40}, {}, "its commit is not in the history of main"),
    "other bytes than its digest": (
        {},
        {"digest": "sha256:" + "0" * 64},
        "its content does not match its digest",
    ),
    "a digest of another kind": ({}, {"digest": "md5:00"}, "its content does not match its digest"),
    "no zip": ({}, {"blob_b64": base64.b64encode(b"<html>").decode(), "digest": None}, "it is not a zip file"),
    "a size over the limit": ({}, {"size": 65 * 1024 * 1024, "sha256": "0" * 64}, "it is larger than 64 MB"),
}


@pytest.mark.parametrize("case", STRANGE)
def test_a_strange_artifact_is_refused_by_name_and_the_next_is_taken(hub, find, case):
    run, fields, reason = STRANGE[case]
    hub.commit("d" * 40, C0)
    good(hub, "trusted", head_sha=C1)
    planted = hub.plant(run=dict(run), **fields)
    found = find()
    assert (found.info.status, files_of(found)) == ("ancestor", "trusted")
    assert [line for line in found.refused if reason in line and str(planted["id"]) in line]


@pytest.mark.parametrize("case", STRANGE)
def test_a_strange_artifact_alone_leaves_no_baseline(hub, find, case):
    run, fields, reason = STRANGE[case]
    hub.commit("d" * 40, C0)
    hub.plant(run=dict(run), **fields)
    found = find()
    assert (found.info.status, found.info.path) == ("refused", None)
    assert reason in found.refused[0]


def test_an_artifact_of_another_workflow_is_refused(hub, find):
    hub.state["workflows"].append({"id": 600, "name": "x", "path": ".github/workflows/x.yml", "state": "active"})
    good(hub, workflow_id=600)
    found = find()
    assert found.info.status == "refused"
    assert "another workflow" in found.refused[0]


def answering(hub, client, path, change):
    """From now on GitHub answers so, which its own API never would."""
    document = client.get(path)
    change(document)
    hub.fail({"kind": "status", "status": 200, "body": document}, times=-1, path=f"{path}$")


LISTED = {
    "no run": (lambda found: found.update(workflow_run=None), "its workflow run is unknown"),
    "no run's id": (lambda found: found["workflow_run"].pop("id"), "its workflow run is unknown"),
    "no head repository": (lambda found: found["workflow_run"].pop("head_repository_id"), "made by a fork"),
    "another repository": (
        lambda found: found["workflow_run"].update(repository_id=2002),
        "it was made in another repository",
    ),
    "no commit": (lambda found: found["workflow_run"].update(head_sha=None), "its commit is unknown"),
    "an invalid commit": (
        lambda found: found["workflow_run"].update(head_sha="main"),
        "its commit is unknown",
    ),
    "another commit than the run's": (
        lambda found: found["workflow_run"].update(head_sha=C1),
        "its run belongs to another branch or commit",
    ),
}


@pytest.mark.parametrize("case", LISTED)
def test_an_artifact_that_is_listed_strangely_is_refused(hub, client, find, case):
    change, reason = LISTED[case]
    good(hub)
    answering(hub, client, "/actions/artifacts", lambda page: change(page["artifacts"][0]))
    found = find()
    assert (found.info.status, found.info.path) == ("refused", None)
    assert reason in found.refused[0]


RUNS = {
    "of another repository": (
        lambda run: run["repository"].update(id=2002),
        "its run belongs to another repository",
    ),
    "of another number": (lambda run: run.update(id=1), "its run belongs to another repository"),
    "of a fork, though the list says otherwise": (
        lambda run: run["head_repository"].update(id=2002),
        "it was made by a fork",
    ),
    "of a deleted fork": (lambda run: run.update(head_repository=None), "it was made by a fork"),
    "of another branch, though the list says otherwise": (
        lambda run: run.update(head_branch="x"),
        "its run belongs to another branch or commit",
    ),
    "that is no object": (lambda run: run.clear(), "its run belongs to another repository"),
}


@pytest.mark.parametrize("case", RUNS)
def test_an_artifact_that_contradicts_its_run_is_refused(hub, client, find, case):
    change, reason = RUNS[case]
    planted = good(hub)
    answering(hub, client, f"/actions/runs/{planted['run_id']}", change)
    found = find()
    assert (found.info.status, found.info.path) == ("refused", None)
    assert reason in found.refused[0]


def test_an_artifact_whose_run_is_another_repositorys_or_gone_is_refused(hub, find):
    planted = good(hub)
    hub.fail({"kind": "not_found"}, path=f"/actions/runs/{planted['run_id']}$")
    found = find()
    assert (found.info.status, found.refused[0].rpartition(": ")[2]) == (
        "refused",
        "its workflow run no longer exists",
    )


def test_a_path_with_the_branch_it_was_read_from_is_the_workflows(hub, find):
    good(hub, path=f"{EVALGATE}@refs/heads/main")
    assert find().info.status == "exact"


def test_a_job_that_ran_again_is_known_by_its_newest_artifact_in_any_order_of_the_list(hub, client, find):
    good(hub, "first", id=8700)
    hub.plant(files={"results.json": "second"}, run_id=8700)
    answering(hub, client, "/actions/artifacts", lambda page: page["artifacts"].reverse())
    assert files_of(find()) == "second"


def test_no_commit_is_fetched_to_learn_what_the_merge_commit_was_merged_into(hub, find):
    good(hub)
    assert find().info.sha == C2
    asked = [request["path"] for request in hub.requests if "/commits/" in request["path"]]
    assert asked == [f"/repos/acme/agent/commits/{MERGE}"]


def test_many_refused_artifacts_are_counted(hub, find):
    for _ in range(14):
        hub.plant(run={"head_repository_id": 2002})
    found = find()
    assert len(found.refused) == 11
    assert found.refused[-1] == "4 more artifacts were refused"


def test_a_list_filled_by_untrusted_runs_is_not_a_missing_baseline(hub, find):
    hub.plant(run={"head_repository_id": 2002})
    link = f'<{hub.info.api}/repos/acme/agent/actions/artifacts?page=2>; rel="next"'
    page = {"kind": "status", "status": 200, "headers": {"Link": link}, "body": {"artifacts": []}}
    hub.fail(page, times=-1, path="/actions/artifacts")
    found = find()
    assert (found.info.status, found.info.path) == ("unreachable", None)
    assert "only the newest artifacts were searched" in found.refused[0]


def test_an_artifact_of_another_branch_is_not_even_read(hub, find):
    hub.state["refs"]["refs/heads/other"] = C2
    good(hub, head_branch="other")
    found = find()
    assert (found.info.status, found.refused) == ("none", [])


def test_without_a_digest_the_file_is_still_taken(hub, find):
    hub.plant(digest=None)
    assert find().info.status == "exact"


def test_an_artifact_on_the_second_page_is_found(hub, find):
    for _ in range(101):
        hub.plant(run={"head_repository_id": 2002})
    hub.state["artifacts"].append({**good(hub), "id": 1})
    del hub.state["artifacts"][-2]
    assert find().info.status == "exact"


def test_bytes_damaged_on_the_way_are_fetched_again(hub, find):
    good(hub, "whole")
    hub.fail({"kind": "corrupt", "offset": 40}, listener="blob", method="GET")
    found = find()
    assert (found.info.status, files_of(found)) == ("exact", "whole")


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "status": 503},
        {"kind": "reset"},
        {"kind": "reset_mid", "after_bytes": 20},
        {"kind": "truncate", "keep": 20, "lie": True},
        {"kind": "status", "status": 403},
    ],
)
def test_a_download_that_breaks_once_is_begun_again(hub, find, fault):
    good(hub, "whole")
    hub.fail(fault, listener="blob", method="GET")
    found = find()
    assert (found.info.status, files_of(found)) == ("exact", "whole")


def test_a_failing_server_leaves_the_baseline_unreachable(hub, find, pauses):
    good(hub)
    hub.fail({"kind": "html_502"}, times=-1, path="/actions/artifacts")
    found = find()
    assert found.info.status == "unreachable"
    assert found.refused == ["the baseline could not be looked up: GitHub returned status 502"]
    assert pauses == [1.0, 2.0]


def test_without_actions_read_the_error_names_the_permission(hub, tmp_path, budget):
    good(hub)
    client = Client(site_of(hub, "ghs_noactions"), budget)
    found = Baselines(
        client,
        BaselineRequest("evalgate-baseline", "main", "main", EVALGATE, Reference("commit", C2)),
        tmp_path,
        Noon(),
    ).find()
    client.close()
    assert found.info.status == "unreachable"
    assert "(add `actions: read` to `permissions:` in the workflow)" in found.refused[0]
    assert found.info.problem in found.refused[0]


def test_a_merge_commit_that_github_forgot_leaves_the_pull_requests_base(hub, find):
    good(hub)
    found = find(reference=Reference("parent", "e" * 40, fallback=C2))
    assert found.info.status == "exact"


def test_the_commit_where_a_branch_left_main_is_exact(hub, find):
    good(hub, head_sha=C1)
    found = find(reference=Reference("fork_point", PR))
    assert (found.info.status, found.info.sha) == ("exact", C1)
