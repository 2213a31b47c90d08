"""Which baseline a run is compared with: a pull request and the push that merges it agree, whatever came first."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import permutations

import pytest

from evalgate.adapters.github.ancestry import Reference
from evalgate.adapters.github.baselines import BaselineRequest, Baselines
from evalgate.bootstrap.features import all_settings
from evalgate.settings.settings import Settings

RELEASE, BARE_RELEASE, STACKED = "release/1", "release/2", "feature"
UPLOADING = ("main", RELEASE)
BRANCHES = ("main", RELEASE, BARE_RELEASE, STACKED)
ORDERS = list(enumerate(permutations(BRANCHES)))
SAMPLED = 4
"""One order of so many is always tried."""
PULL = "refs/pull/7/merge"


class Noon:
    def now(self):
        return datetime(2030, 1, 1, 12, tzinfo=UTC)


class Repository:
    """A made-up repository: main has a baseline of each push, and a branch leaves main at its first push."""

    def __init__(self, hub):
        self._hub, self._count = hub, 0
        self.tips = {"main": hub.state["refs"]["refs/heads/main"]}
        self._baselines = {branch: [] for branch in BRANCHES}
        self._parents = {}
        self._plant("main")

    def commit(self, *parents):
        self._count += 1
        sha = f"{self._count:040x}"
        self._parents[sha] = parents[0]
        return self._hub.commit(sha, *parents)

    def push(self, branch):
        """Commits to a branch, and leaves a baseline where the workflow uploads one."""
        self._move(branch, self.commit(self.tips.get(branch, self.tips["main"])))
        if branch in UPLOADING:
            self._plant(branch)

    def open_pull_request(self, branch):
        """The commit in which a change is tested as merged into the branch."""
        return self.commit(self.tips[branch], self.commit(self.tips[branch]))

    def merge_pull_request(self, branch):
        """The commit that a push of the merged change makes the branch's newest."""
        self._move(branch, self.open_pull_request(branch))
        return self.tips[branch]

    def nearest(self, branch):
        """The commit nearest to the branch's newest that has a baseline, the branch's own first: the expected one."""
        for owner in dict.fromkeys((branch, "main")):
            sha = self.tips[branch]
            while sha and sha not in self._baselines[owner]:
                sha = self._parents.get(sha)
            if sha:
                return owner, sha
        raise AssertionError("main's first commit has a baseline")

    def _move(self, branch, sha):
        self.tips[branch] = self._hub.state["refs"][f"refs/heads/{branch}"] = sha

    def _plant(self, branch):
        sha = self.tips[branch]
        self._baselines[branch].append(sha)
        self._hub.plant(files={"results.json": "{}"}, run={"head_branch": branch, "head_sha": sha})


@pytest.fixture
def repository(hub):
    return Repository(hub)


@pytest.fixture
def find(client, tmp_path):
    """Looks for the baseline as the Action does for an event."""

    def _find(event, payload, sha, ref, **inputs):
        path = tmp_path / "event.json"
        path.write_text(json.dumps({"repository": {"id": 1001, "default_branch": "main"}, **payload}))
        environ = {
            "GITHUB_WORKSPACE": "/github/workspace",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_REPOSITORY": "acme/agent",
            "GITHUB_REPOSITORY_ID": "1001",
            "GITHUB_SHA": sha,
            "GITHUB_REF": ref,
            "GITHUB_RUN_ID": "9001",
            "GITHUB_JOB": "gate",
            "GITHUB_WORKFLOW_REF": f"acme/agent/.github/workflows/evalgate.yml@{ref}",
            "INPUT_GITHUB-TOKEN": "ghs_secret",
            "ACTIONS_RUNTIME_TOKEN": "runtime_secret",
            **{f"INPUT_{name.replace('_', '-').upper()}": value for name, value in inputs.items()},
        }
        settings = Settings.from_environ(environ, all_settings())
        request = BaselineRequest(
            settings.baseline_artifact,
            settings.baseline_branch,
            settings.event.default_branch,
            settings.baseline_workflow,
            Reference(*settings.baseline_reference),
        )
        return Baselines(client, request, tmp_path, Noon()).find()

    return _find


def pull_request_into(branch, base):
    head = {"ref": "x", "sha": "c" * 40, "repo": {"id": 1001}}
    return {"pull_request": {"number": 7, "head": head, "base": {"ref": branch, "sha": base}}}


@pytest.mark.parametrize(
    "order",
    [order if number % SAMPLED == 0 else pytest.param(order, marks=pytest.mark.matrix) for number, order in ORDERS],
    ids=" ".join,
)
@pytest.mark.parametrize("branch", BRANCHES)
def test_a_pull_request_and_the_push_that_merges_it_find_the_nearest_baseline(repository, find, order, branch):
    for pushed in (*order, "main"):
        repository.push(pushed)
    owner, nearest = repository.nearest(branch)
    base = repository.tips[branch]
    proposed = find("pull_request", pull_request_into(branch, base), repository.open_pull_request(branch), PULL)
    uploads = {"upload_baseline": "true"} if branch in UPLOADING else {}
    merged = find("push", {}, repository.merge_pull_request(branch), f"refs/heads/{branch}", **uploads)
    assert (proposed.info.branch, proposed.info.sha) == (owner, nearest)
    assert (merged.info.branch, merged.info.sha) == (owner, nearest)
    assert proposed.info.status == ("exact" if nearest == base else "ancestor")


def test_the_newest_of_the_base_branch_comes_before_the_newest_of_the_default_branch(repository, find, hub):
    repository.push(RELEASE)
    repository.push("main")
    unrelated = hub.commit("e" * 40)
    found = find("pull_request", pull_request_into(RELEASE, unrelated), hub.commit("d" * 40, unrelated), PULL)
    assert (found.info.status, found.info.branch, found.info.sha) == ("latest", RELEASE, repository.tips[RELEASE])
