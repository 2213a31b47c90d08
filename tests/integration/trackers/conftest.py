"""A LangSmith on this machine, and a finished run of two scheduling suites."""

from __future__ import annotations

import shutil

import pytest
from fakes.langsmith import KEY, FakeLangSmith
from scheduling_project import evalgate_in, write_project


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
