"""The command of `--state`: bounded, without a shell and without keys; whatever fails is a problem of the snapshot."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evalgate.errors import TraceError
from evalgate.features.record.adapters.state.command import MOST_BYTES, run_state_command
from evalgate.features.record.adapters.state.state_reader import StateReader
from evalgate.features.record.bootstrap.trace_readers import decode_state
from evalgate.features.record.models.state import StateNotReadError
from evalgate.measures.sequences.differences import ABSENT

if TYPE_CHECKING:
    from evalgate.features.record.models.state import Snapshot

ENVIRON = {"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "sk-planted", "DB_TOKEN": "t", "DATABASE": "orders.db"}


def read(folder: Path, *command: str) -> Snapshot:
    return asyncio.run(StateReader(str(folder), decode_state, command).read(ENVIRON))


def test_what_it_prints_is_the_state(tmp_path: Path) -> None:
    assert read(tmp_path, "echo", '{"a": [1, null]}').data == {"a": [1, None]}
    assert read(tmp_path, "echo", "null").data is None
    assert read(tmp_path).data is ABSENT


def test_no_shell_interprets_it(tmp_path: Path) -> None:
    assert read(tmp_path, "echo", '"$HOME; ls"').data == "$HOME; ls"


def test_it_has_the_environment_of_the_agent_without_keys(tmp_path: Path) -> None:
    script = "import json, os; print(json.dumps(dict(os.environ)))"
    found: Any = read(tmp_path, sys.executable, "-S", "-c", script).data
    assert found["DATABASE"] == "orders.db"
    assert not {"OPENAI_API_KEY", "DB_TOKEN"} & {*found}


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (("false",), "its command ended with exit code 1"),
        (("sh", "-c", 'echo "{}"; exit 3'), "its command ended with exit code 3"),
        (("sh", "-c", "kill -9 $$"), "its command ended with signal 9"),
        (("no-such-program",), "its command can't be started: No such file or directory"),
        (("a\0b",), "its command can't be started: it is no valid command"),
        (("true",), "its command printed no JSON"),
        (("echo", "{} {}"), "its command printed no JSON"),
        (("echo", '{"a": 1, "a": 2}'), "its command printed no JSON"),
        (("echo", "NaN"), "its command printed no JSON"),
        (("echo", "1e999"), "its command printed no JSON"),
        (("echo", "[" * 63 + "]" * 63), "its command printed no JSON"),
        (("sh", "-c", "yes | tr -d '\\n' | head -c 2000000"), f"its command printed more than {MOST_BYTES:,} bytes"),
    ],
)
def test_what_fails_is_a_problem_and_no_state(tmp_path: Path, command: tuple[str, ...], problem: str) -> None:
    found = read(tmp_path, *command)
    assert (found.data, found.files) == (ABSENT, None)
    assert (found.problem or "").startswith(problem)


def test_a_command_that_does_not_end_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    script = f"(sleep 60; touch {tmp_path}/late) & echo $! > {tmp_path}/pid; sleep 60"
    with pytest.raises(StateNotReadError, match=r"did not end within 0\.2 seconds"):
        asyncio.run(run_state_command(["sh", "-c", script], ENVIRON, str(tmp_path), 0.2))
    pid, until = int((tmp_path / "pid").read_text()), time.monotonic() + 5
    while not is_gone(pid) and time.monotonic() < until:  # the signal is sent, and takes a moment
        time.sleep(0.01)
    assert is_gone(pid)


def is_gone(pid: int) -> bool:
    """Whether no such process runs; one that nobody waited for yet is gone too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_as_deep_as_a_trace_may_be_is_read() -> None:
    assert decode_state(b"[" * 62 + b"]" * 62)
    with pytest.raises(TraceError):
        decode_state(json.dumps({"a": [1]}).encode()[:-1])
