"""`evalgate record --state CMD --state-files GLOBS`: what the agent left behind is in its trace, and judged."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest
from recording_runs import AGENTS, KEY, Run, environ, evalgate, record_command, trace_of, written

if TYPE_CHECKING:
    from pathlib import Path

    from fakes.providers import FakeProviders

ASK = shlex.join([sys.executable, f"{AGENTS}/plain.py"])
SUITE = """
version: 1
suite: support
traces: traces/**/*.jsonl
scenarios:
  - id: refund
    assertions:
      - {type: state, path: orders.A7, eq: refunded, required: true}
      - {type: state_unchanged, except: [orders.A7], required: true}
      - {type: files_changed, only: ["out/*"], required: true}
"""
REFUND = """printf '{"orders": {"A7": "refunded", "B2": "paid"}}' > db.json; echo done > out/letter; """


def run(folder: Path, fake: FakeProviders, script: str, *words: str, **env: str) -> Run:
    """Records a shell script that asks the model, and then does what it does."""
    (folder / "out").mkdir(exist_ok=True)
    (folder / "db.json").write_text('{"orders": {"A7": "paid", "B2": "paid"}}')
    (folder / "suite.yaml").write_text(SUITE)
    (folder / "state.sh").write_text("echo $EVALGATE_STATE >> when; cat db.json")
    flags = [*fake.flags, "--scenario", "refund", *words]
    return record_command(folder, flags, ("sh", "-c", f"{ASK}; {script}"), environ(**env))


def test_what_the_agent_did_is_in_its_trace_and_judged(fake: FakeProviders, tmp_path: Path) -> None:
    script = REFUND + f"echo {KEY} > out/{KEY}"
    assert run(tmp_path, fake, script, "--state", "sh state.sh", "--state-files", "out/**,*.py").code == 0
    assert (tmp_path / "when").read_text() == "before\nafter\n"
    state = trace_of(tmp_path)["state"]
    assert state["after"] == {"orders": {"A7": "refunded", "B2": "paid"}}
    assert state["diff"] == [{"op": "replace", "path": "/orders/A7", "value": "refunded"}]
    assert state["files"]["out/letter"]["text"] == "done\n"
    assert len(state["files"]) == 2
    assert KEY.encode() not in written(tmp_path / "traces")
    assert evalgate(tmp_path, "run", "suite.yaml").code == 0


@pytest.mark.parametrize(("command", "asked"), [("cat db.json", 2), ("cat no-such.json", 0)])
def test_a_state_that_can_not_be_read_is_not_measured(
    fake: FakeProviders, tmp_path: Path, command: str, asked: int
) -> None:
    """What can't be read before the run starts no agent."""
    done = run(tmp_path, fake, "rm db.json", "--state", command, "--keep-going")
    assert (done.code, done.last_line.endswith("1 trial without its state")) == (3, True)
    assert len(fake.requests) == asked
    judged = evalgate(tmp_path, "run", "suite.yaml")
    assert judged.code != 0
    assert "the state was not recorded: the state " in judged.out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--state", ""], "--state takes a command"),
        (["--state", "a 'b"], "--state: a quote or an escape of the command is not closed"),
        (["--state-files", "../x"], "--state-files takes globs of paths below the working directory, not '../x'"),
    ],
)
def test_a_state_that_can_not_be_is_one_line(
    fake: FakeProviders, tmp_path: Path, words: list[str], reason: str
) -> None:
    done: Any = run(tmp_path, fake, "true", *words)
    assert (done.code, done.err) == (2, f"error: {reason}\n")
