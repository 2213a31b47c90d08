"""GitHub Enterprise Server: another address, no digests of artifacts, no service for uploads."""

from __future__ import annotations

import base64

import pytest
from fakes.agent import BOT, next_run, on_main, own_comments, trace, write_trace
from fakes.hub import site_of

from evalgate.adapters.github.client import Client
from evalgate.adapters.github.pull_requests import Comments

SERVER = {"GITHUB_SERVER_URL": "https://github.acme.example", "ACTIONS_RESULTS_URL": ""}


@pytest.fixture
def hub(_running_enterprise_server):
    fresh = _running_enterprise_server.fresh()
    yield fresh
    assert fresh.violations == []


def test_the_api_is_below_its_path(hub, client):
    assert hub.info.github_api_url.endswith("/api/v3")
    assert client.get("/actions/runs/8001")["id"] == 8001


def test_a_push_is_judged_and_leaves_its_baseline_to_an_official_step(hub, act, workspace):
    on_main(hub)
    step = act("push", variables=SERVER)
    assert (step.exit_code, step.outputs["baseline-path"]) == (0, ".evalgate/baseline.zip")
    [annotation] = step.annotations
    assert annotation["type"] == "warning"
    assert "GitHub Enterprise Server does not support uploads from container actions" in annotation["message"]
    assert "actions/upload-artifact" in annotation["message"]
    assert "v3-node20" in annotation["message"]
    events = '["push", "schedule", "workflow_dispatch"]'
    assert f"if: always() && contains(fromJSON('{events}'), github.event_name)," in annotation["message"]


def test_a_pull_request_is_compared_with_a_baseline_without_a_digest(hub, act, workspace):
    on_main(hub)
    act("push", variables=SERVER)
    baseline = (workspace / ".evalgate/baseline.zip").read_bytes()
    uploaded_by_an_official_step(hub, baseline)
    next_run(hub, "success")
    write_trace(workspace, trace(tool="guess"))
    step = act(variables=SERVER, check_run="true")
    assert (step.exit_code, step.outputs["baseline-status"], step.outputs["regressions"]) == (1, "exact", "1")
    assert len(own_comments(hub)) == len(hub.state["check_runs"]) == 1
    assert "https://github.acme.example/acme/agent/actions/runs/" in hub.state["check_runs"][0]["details_url"]


def uploaded_by_an_official_step(hub, content):
    main = hub.state["refs"]["refs/heads/main"]
    hub.plant(blob_b64=base64.b64encode(content).decode(), run={"head_sha": main})


def test_the_owner_of_a_token_is_requested_at_the_other_apis_path(hub, budget):
    client = Client(site_of(hub), budget)
    assert client.viewer() == BOT
    client.close()


def test_a_comment_is_kept_on_every_page(hub, client):
    hub.comment("me too", "alice", count=105)
    Comments(client, 7).upsert_comment("k", "first")
    posted = Comments(client, 7).upsert_comment("k", "second")
    assert (posted.created, len(hub.comments_of(BOT))) == (False, 1)


def test_a_renamed_repository_is_followed(hub, budget):
    hub.state["renamed_from"] = ["acme/old"]
    client = Client(site_of(hub, repository="acme/old"), budget)
    assert client.get("/actions/runs/8001")["id"] == 8001
    client.close()
