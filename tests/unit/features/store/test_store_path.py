"""Which paths the store of a job can have, and what of its URL is masked."""

from __future__ import annotations

import pytest

from evalgate.features.store.settings import find_store_path_problem, find_store_secrets

TEMP, WORKSPACE = "/github/runner_temp", "/github/workspace"
PASSWORD = "pa55-w0rd"


@pytest.mark.parametrize(
    "named",
    [
        "evalgate.db",
        "stores/evalgate.db",
        f"{TEMP}/evalgate.db",
        "sqlite:evalgate.db",
        f"sqlite:///{TEMP}/evalgate.db",
        "SQLite:///evalgate.db",
        "postgresql://me:secret@db.example/evalgate",
    ],
)
def test_a_file_in_runner_temp_and_a_server_are_accepted(named):
    assert find_store_path_problem(named, TEMP, WORKSPACE) is None


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (f"{WORKSPACE}/evalgate.db", "in the workspace"),
        (f"sqlite:///{WORKSPACE}/evalgate.db", "in the workspace"),
        (f"{TEMP}/../workspace/evalgate.db", "in the workspace"),
        ("../workspace/x/evalgate.db", "in the workspace"),
        ("../evalgate.db", "outside of RUNNER_TEMP"),
        ("/etc/evalgate.db", "outside of RUNNER_TEMP"),
        ("sqlite:////etc/evalgate.db", "outside of RUNNER_TEMP"),
        (f"{TEMP}", "outside of RUNNER_TEMP"),
        (f"{TEMP}-other/evalgate.db", "outside of RUNNER_TEMP"),
        ("sqlite:../evalgate.db", "outside of RUNNER_TEMP"),
        ("sqlite:%2e%2e/evalgate.db", "outside of RUNNER_TEMP"),
    ],
)
def test_any_other_file_is_refused(named, message):
    assert message in find_store_path_problem(named, TEMP, WORKSPACE).message


def test_without_runner_temp_no_file_is_accepted():
    assert "RUNNER_TEMP is not set" in find_store_path_problem("evalgate.db", "", WORKSPACE).message
    assert find_store_path_problem("postgresql://db.example/evalgate", "", WORKSPACE) is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (f"postgresql://me:{PASSWORD}@db.example/evalgate", [PASSWORD]),
        (f"postgresql://me:{PASSWORD}@db.example:5432/evalgate?sslmode=require", [PASSWORD]),
        ("postgresql://me:p%40ss%3Aw0rd@db.example/e", ["p%40ss%3Aw0rd", "p@ss:w0rd"]),
        ("postgresql://db.example/e?password=pa55-w0rd&sslmode=require", ["pa55-w0rd"]),
        ("postgresql://me@db.example/e", []),
        ("postgresql://me:abc@db.example/e", []),
    ],
)
def test_a_url_and_its_password_are_masked(url, expected):
    assert find_store_secrets(url) == [url, *expected]


@pytest.mark.parametrize("named", ["", "evalgate.db", "sqlite:///evalgate.db", "C:\\evalgate.db"])
def test_a_file_is_not_a_secret(named):
    assert find_store_secrets(named) == []
