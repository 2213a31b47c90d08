from __future__ import annotations

import pytest
from fakes.agent import make_workspace
from fakes.hub import FakeHub, site_of
from fakes.runner import FakeRunner

from evalgate.adapters.github.client import Client
from evalgate.adapters.http import RequestDeadline


@pytest.fixture(scope="session")
def _running_hub():
    hub = FakeHub()
    yield hub
    hub.stop()


@pytest.fixture(scope="session")
def _running_enterprise_server():
    hub = FakeHub(is_enterprise=True)
    yield hub
    hub.stop()


@pytest.fixture
def hub(_running_hub):
    fresh = _running_hub.fresh()
    yield fresh
    assert fresh.violations == []


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def budget(pauses):
    return RequestDeadline(20, sleep=pauses.append)


@pytest.fixture
def site(hub):
    return site_of(hub)


@pytest.fixture
def client(site, budget):
    client = Client(site, budget)
    yield client
    client.close()


@pytest.fixture
def workspace(tmp_path):
    return make_workspace(tmp_path / "workspace")


@pytest.fixture
def runner(hub, workspace, tmp_path):
    return FakeRunner(hub, workspace, tmp_path)


@pytest.fixture
def act(runner):
    return runner.act
