from __future__ import annotations

import zipfile
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256

import pytest
from fakes.hub import FakeHub, site_of

from evalgate.adapters.github.ancestry import Reference
from evalgate.adapters.github.artifacts import BLOCK, Artifacts
from evalgate.adapters.github.baselines import BaselineRequest, Baselines
from evalgate.errors import Unreachable


class Noon:
    def now(self):
        return datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def baseline(tmp_path):
    path = tmp_path / "baseline.zip"
    with zipfile.ZipFile(path, "w") as zipped:
        zipped.writestr("results.json", "{}")
    return path


@pytest.fixture
def artifacts(site, budget):
    return Artifacts(site, budget)


def uploaded(hub: FakeHub):
    return [artifact for artifact in hub.state["artifacts"] if artifact["run_id"] == 9001]


def finished_push(hub):
    """Run 9001 becomes a finished push on main."""
    main = hub.state["refs"]["refs/heads/main"]
    run = next(run for run in hub.state["runs"] if run["id"] == 9001)
    run.update(event="push", head_branch="main", head_sha=main, status="completed", conclusion="success")
    return main


def test_what_was_uploaded_is_found_again(hub, artifacts, client, baseline, tmp_path):
    number = artifacts.upload("evalgate-baseline", str(baseline))
    main = finished_push(hub)
    wanted = BaselineRequest(
        "evalgate-baseline", "main", "main", ".github/workflows/evalgate.yml", Reference("commit", main)
    )
    found = Baselines(client, wanted, tmp_path, Noon()).find()
    assert found.info.status == "exact"
    assert (tmp_path / f"baseline-{number}.zip").read_bytes() == baseline.read_bytes()


def test_an_artifact_expires_at_the_time_given_in_utc(hub, artifacts, baseline):
    expiry = datetime(2030, 1, 31, 14, 0, 5, 999_999, tzinfo=timezone(timedelta(hours=2)))
    artifacts.upload("evalgate-baseline", str(baseline), expiry)
    assert uploaded(hub)[0]["expires_at"] == "2030-01-31T12:00:05.000Z"


def test_a_file_of_several_blocks_arrives_whole(hub, artifacts, tmp_path):
    path = tmp_path / "large.zip"
    path.write_bytes(b"PK\x03\x04" + bytes(2 * BLOCK))
    artifacts.upload("large", str(path))
    assert uploaded(hub)[0]["digest"] == f"sha256:{sha256(path.read_bytes()).hexdigest()}"
    assert [request["op"] for request in hub.requests].count("blob/PUT?comp=block") == 3


def test_a_server_that_spells_otherwise_is_understood(hub, artifacts, baseline):
    hub.spell("camel")
    assert artifacts.upload("evalgate-baseline", str(baseline)) == uploaded(hub)[0]["id"]


@pytest.mark.parametrize("step", ["CreateArtifact", "FinalizeArtifact"])
@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "status": 503},
        {"kind": "reset"},
        {"kind": "bad_json"},
        {"kind": "commit_then_reset"},
        {"kind": "commit_then_status", "status": 502},
    ],
)
def test_a_call_that_breaks_once_leaves_one_artifact(hub, artifacts, baseline, step, fault):
    hub.fail(fault, op=f"results/{step}")
    artifacts.upload("evalgate-baseline", str(baseline))
    assert len(uploaded(hub)) == 1


@pytest.mark.parametrize(
    "fault", [{"kind": "status", "status": 503}, {"kind": "reset"}, {"kind": "status", "status": 200}]
)
def test_a_block_that_breaks_once_is_sent_again(hub, artifacts, baseline, fault):
    hub.fail(fault, listener="blob", method="PUT")
    artifacts.upload("evalgate-baseline", str(baseline))
    assert len(uploaded(hub)) == 1


def test_a_second_artifact_of_the_name_is_refused_with_the_remedy(hub, artifacts, baseline):
    artifacts.upload("evalgate-baseline", str(baseline))
    with pytest.raises(Unreachable, match="own `baseline-artifact`"):
        artifacts.upload("evalgate-baseline", str(baseline))
    assert len(uploaded(hub)) == 1


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"server_url": "https://github.example.com"}, "Enterprise Server"),
        ({"runtime_token": ""}, "no access"),
        ({"results_url": ""}, "no access"),
        ({"runtime_token": "not.a.token"}, "unexpected format"),
        ({"runtime_token": "x"}, "unexpected format"),
    ],
)
def test_a_job_that_can_not_upload_says_so_without_a_request(hub, budget, baseline, other, reason):
    with pytest.raises(Unreachable, match=reason):
        Artifacts(site_of(hub, **other), budget).upload("evalgate-baseline", str(baseline))
    assert hub.requests == []


def test_failing_storage_is_an_evalgate_error(hub, artifacts, baseline):
    hub.fail({"kind": "status", "status": 500}, times=-1, listener="blob")
    with pytest.raises(Unreachable, match="GitHub returned status 500"):
        artifacts.upload("evalgate-baseline", str(baseline))


def test_the_storage_never_sees_a_token(hub, artifacts, baseline):
    artifacts.upload("evalgate-baseline", str(baseline))
    to_storage = [request for request in hub.requests if request["listener"] == "blob"]
    assert to_storage
    assert not [request for request in to_storage if "Authorization" in request["headers"]]
