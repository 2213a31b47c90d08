"""The author of a comment: a person, and not an app in a person's name."""

from __future__ import annotations

import json

import pytest
from fakes.server import Server, answer

from evalgate.adapters.github.client import Client
from evalgate.adapters.github.connection import Site
from evalgate.adapters.github.pull_request_review import PullRequestReview
from evalgate.adapters.http import RequestDeadline

COMMENT = {
    "id": 5,
    "issue_url": "https://api.github.com/repos/acme/support/issues/7",
    "html_url": "https://github.com/acme/support/pull/7#issuecomment-5",
    "user": {"id": 11, "login": "alice", "type": "User"},
    "performed_via_github_app": None,
    "body": "/evalgate approve refund because it is right",
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
}


def remark(**changes):
    server = Server(answer(200, json.dumps({**COMMENT, **changes}).encode()))
    client = Client(Site(server.url, "https://github.com", "acme/support", 1001), RequestDeadline(20))
    try:
        return PullRequestReview(client, 7, "gate.yml", "report", None).comment(5)
    finally:
        client.close()
        server.close()


def test_a_persons_own_comment():
    assert remark().is_person


@pytest.mark.parametrize(
    "changes",
    [
        {"performed_via_github_app": {"id": 1, "slug": "helpful"}},
        {"user": {"id": 11, "login": "alice", "type": "Bot"}},
        {"user": {"id": 11, "login": "alice"}},
    ],
)
def test_a_comment_that_an_app_wrote(changes):
    assert not remark(**changes).is_person


@pytest.mark.parametrize(
    "changes",
    [
        {"issue_url": "https://api.github.com/repos/acme/support/issues/17"},
        {"issue_url": None},
        {"created_at": None},
        {"updated_at": "2026-01-01T00:00:00"},
        {"id": "5"},
    ],
)
def test_a_comment_of_another_pull_request_or_of_no_time(changes):
    assert remark(**changes) is None
