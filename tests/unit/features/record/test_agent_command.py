"""The command that traces keep: as a shell reads it, never with a secret."""

from __future__ import annotations

import pytest

from evalgate.features.record.bootstrap.agent_command import MAX_COMMAND, describe_command

SECRET = "hunter22-of-a-test"


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["/p/.venv/bin/python", "agent.py", "{prompt}"], ".venv/bin/python agent.py '{prompt}'"),
        (
            ["python", "key.py", "--max-tokens", "100", "--max-tokens=9"],
            "python key.py --max-tokens 100 --max-tokens=9",
        ),
        (["agent", "--token", "--verbose"], "agent --token --verbose"),
        (["agent", "say\nboth"], "agent 'say\nboth'"),
        (["agent", "--api-key", "abc"], None),
        (["agent", "--api-key=abc"], None),
        (["env", "DB_PASSWORD=abc", "agent"], None),
        (["agent", f"x{SECRET}"], None),
        (["agent", "sk-proj-Planted0123456789abcdefXYZ"], None),
        (["agent", "x" * MAX_COMMAND], None),
        (["agent", "\udcff"], None),
    ],
)
def test_a_command_is_kept_without_paths_of_the_machine_unless_it_may_hold_a_secret(
    words: list[str], kept: str | None
) -> None:
    assert describe_command(words, [], "/p", [SECRET]) == kept


def test_options_that_say_what_a_trace_has_come_before_it() -> None:
    options = ["--state=./dump", "--state-files=out/**"]
    assert describe_command(["./agent"], options, "/p", []) == "--state=./dump '--state-files=out/**' -- ./agent"
