"""A LangSmith on this machine, and a finished run of two scheduling suites."""

from __future__ import annotations

import shutil

import pytest
from fakes.fault_proxy import FaultProxy
from fakes.langsmith import KEY, FakeLangSmith
from scheduling_project import evalgate_in, write_project
from tracker_servers import PHOENIX_KEY, ask, free_port, started

PHOENIX_SECRET = "phoenix-signs-with-a-b-c-d-0123456789"


@pytest.fixture
def langsmith():
    service = FakeLangSmith()
    yield service
    service.close()


@pytest.fixture
def environ(langsmith):
    return {"LANGSMITH_API_KEY": KEY, "LANGSMITH_ENDPOINT": langsmith.url}


@pytest.fixture(scope="session")
def judged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scheduling")
    write_project(folder)
    done = evalgate_in(folder, {"GITHUB_SHA": "c" * 40, "GITHUB_REF_NAME": "main"}, "run")
    assert done.exit_code == 0, done.err
    return folder


@pytest.fixture
def project(judged, tmp_path):
    """The project with its finished run, to be changed by one test."""
    return shutil.copytree(judged, tmp_path / "project")


@pytest.fixture(scope="session")
def mlflow_server(tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("mlflow"), free_port()
    command = [
        *("mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", str(folder / "files")),
    ]
    environ = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
    with started("mlflow", command, environ, folder, port) as url:
        ask(f"{url}/api/2.0/mlflow/experiments/search?max_results=1")  # its first answer is slow
        yield url


@pytest.fixture
def mlflow(request):
    """A proxy before the real server where a test asks for it, else before nothing."""
    is_real = request.node.get_closest_marker("skipif") is not None
    proxy = FaultProxy(request.getfixturevalue("mlflow_server")) if is_real else FaultProxy()
    yield proxy
    proxy.close()


@pytest.fixture(scope="session")
def phoenix_server(tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("phoenix"), free_port()
    environ = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        "PHOENIX_ENABLE_AUTH": "true",
        "PHOENIX_SECRET": PHOENIX_SECRET,
        "PHOENIX_ADMIN_SECRET": PHOENIX_KEY,  # a key that is there from the start
        "PHOENIX_DEFAULT_ADMIN_INITIAL_PASSWORD": PHOENIX_SECRET,
    }
    with started("phoenix", ["phoenix", "serve"], environ, folder, port) as url:
        yield url


@pytest.fixture
def phoenix(request):
    """A proxy before the real server where a test asks for it, else before nothing."""
    is_real = request.node.get_closest_marker("skipif") is not None
    proxy = FaultProxy(request.getfixturevalue("phoenix_server")) if is_real else FaultProxy()
    yield proxy
    proxy.close()
