from __future__ import annotations

import pytest

from evalgate.settings.secret_variables import find_secret_values

SECRET = "c0rrect-horse"


@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_API_KEY", "APIKEY", "ACTIONS_RUNTIME_TOKEN", "DB_PASSWORD", "SECRET"),
        *(
            "aws_secret_access_key",
            "PGPASSWORD_PASS",
            "SSH_PASSPHRASE",
            "SECRETS",
            "my.token",
            "MYSQL_PWD_PASSWD",
        ),
    ],
)
def test_a_variable_whose_name_says_so(name):
    assert find_secret_values({"HOME": "/home/me", name: SECRET}) == [SECRET]


@pytest.mark.parametrize(
    "name", ["HOME", "KEYBOARD", "MONKEY", "TOKENIZERS_PARALLELISM", "COMPASS", "AUTHOR", "INPUT_COMMENT-KEY"]
)
def test_a_variable_of_another_name(name):
    assert find_secret_values({name: SECRET}) == []


@pytest.mark.parametrize(
    "value",
    [
        "",
        "short1",
        "12345678901",
        "disabled",
        "Production",
        "/etc",
        "/etc/passwd",
        "2026-11-22",
        "3.14159265",
    ],
)
def test_values_that_would_tear_ordinary_text_apart(value):
    assert find_secret_values({"SOME_TOKEN": value}) == []


@pytest.mark.parametrize(
    "value",
    ["correcthorsebattery", "/not+there/wJalrXUtnFEMI", "hunter2!", "6f1e0c0a-5b5e-4b7e-8a3a-0d6d6f0b7a11"],
)
def test_values_that_can_be_hidden(value):
    assert find_secret_values({"SOME_TOKEN": value}) == [value]


def test_a_password_within_an_address():
    assert find_secret_values({"DATABASE_URL": "postgresql://me:s3cr3t-w0rd@db/x?a=b"}) == ["s3cr3t-w0rd"]


def test_what_the_runner_says_openly_is_no_secret():
    sha = "4f1c2b3a" * 5
    assert find_secret_values({"GITHUB_SHA": sha, "CACHE_KEY": sha, "GITHUB_TOKEN": SECRET}) == [SECRET]
