"""Which pull requests a finished run may have been for: found by ids, whatever else the list holds."""

from __future__ import annotations

import json

import pytest
from fakes.server import Server, answer

from evalgate.adapters.github.client import Client
from evalgate.adapters.github.connection import Site
from evalgate.adapters.github.pull_requests import Pulls
from evalgate.adapters.http import RequestDeadline
from evalgate.models.approvals.review import TriggeringRun

HERE, FORK, HEAD = 1001, 2002, "a" * 40
RUN = TriggeringRun(8001, "pull_request", FORK, "mallory/support", "patch", HEAD, is_same_repository=False)
ENTRY = {
    "number": 7,
    "state": "open",
    "head": {"ref": "patch", "sha": HEAD, "repo": {"id": FORK}},
    "base": {"ref": "main", "repo": {"id": HERE}},
}


def changed(*path, to):
    entry = json.loads(json.dumps(ENTRY))
    part = entry
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = to
    return entry


def found_in(*entries):
    server = Server(answer(200, json.dumps(entries).encode()))
    client = Client(Site(server.url, "https://github.com", "acme/support", HERE), RequestDeadline(20))
    try:
        return [(pull.number, pull.head_sha) for pull in Pulls(client).find_open(RUN)]
    finally:
        client.close()
        server.close()


def test_one_from_the_runs_repository_and_branch_into_this_repository_counts():
    assert found_in(ENTRY) == [(7, HEAD)]


@pytest.mark.parametrize(
    "entry",
    [
        changed("head", "repo", "id", to=3003),
        changed("head", "repo", to=None),
        changed("head", "ref", to="other"),
        changed("head", "sha", to="main"),
        changed("base", "repo", "id", to=FORK),
        changed("base", to=None),
        changed("state", to="closed"),
        changed("number", to=True),
        changed("number", to=-1),
        changed("number", to="7"),
        [],
        None,
    ],
)
def test_any_other_does_not_count(entry):
    assert found_in(entry, ENTRY) == [(7, HEAD)]
