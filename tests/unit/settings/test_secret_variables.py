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
def test_a_variable_with_a_secret_name_is_redacted(name):
    assert find_secret_values({"HOME": "/home/me", name: SECRET}) == [SECRET]


def test_the_values_of_a_list_of_headers_are_redacted():
    environ = {"PHOENIX_CLIENT_HEADERS": f"authorization=Bearer%20{SECRET},x-space=ab", "HOME": "/home/me"}

    assert find_secret_values(environ) == [SECRET]


@pytest.mark.parametrize(
    "name", ["HOME", "KEYBOARD", "MONKEY", "TOKENIZERS_PARALLELISM", "COMPASS", "AUTHOR", "INPUT_COMMENT-KEY"]
)
def test_a_variable_with_another_name_is_not_redacted(name):
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
def test_short_or_common_values_are_not_redacted(value):
    assert find_secret_values({"SOME_TOKEN": value}) == []


@pytest.mark.parametrize(
    "value",
    ["correcthorsebattery", "/not+there/wJalrXUtnFEMI", "hunter2!", "6f1e0c0a-5b5e-4b7e-8a3a-0d6d6f0b7a11"],
)
def test_long_values_are_redacted(value):
    assert find_secret_values({"SOME_TOKEN": value}) == [value]


def test_a_password_in_a_url_is_redacted():
    assert find_secret_values({"DATABASE_URL": "postgresql://me:s3cr3t-w0rd@db/x?a=b"}) == ["s3cr3t-w0rd"]


def test_a_value_the_runner_publishes_is_not_a_secret():
    sha = "4f1c2b3a" * 5
    assert find_secret_values({"GITHUB_SHA": sha, "CACHE_KEY": sha, "GITHUB_TOKEN": SECRET}) == [SECRET]
