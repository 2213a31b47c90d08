"""A preforked judge: forked before there is a secret, used once, and gone whatever happens to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evalgate.adapters.sandbox.exchange_dir import ExchangeDir
from evalgate.adapters.sandbox.judge_process import (
    JUDGE_GROUP,
    end_all,
    fork_ready_judge,
    running_judges,
    start_judge,
    wait_for_judge,
)
from evalgate.adapters.sandbox.process_bounds import Bounds
from evalgate.bootstrap.judge_main import run_ready_judge
from evalgate.errors import OverLimit

BOUNDS = Bounds(cpu=20, memory=1_000_000_000, wall=30)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "downloads").mkdir()
    return ExchangeDir(tmp_path / "downloads" / "judge", None, JUDGE_GROUP)


def look_around(ears):
    """A judge that reports what it was given, and what it received."""
    opened = Path("/proc/self/fd")
    seen = {
        "files": sorted(int(each.name) for each in opened.iterdir() if each.is_char_device() or each.is_fifo()),
        "streams": [str((opened / str(stream)).readlink()) for stream in (0, 1, 2)],
        "leads": os.getsid(0) == os.getpid() == os.getpgid(0),
        "handled": [signal.getsignal(number) is signal.SIG_DFL for number in (signal.SIGTERM, signal.SIGINT)],
        "blocked": list(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    }
    os.write(1, b"no one reads this")
    with os.fdopen(ears, "rb") as words:
        seen["received"] = words.read().decode().splitlines()
    Path(seen["received"][-1], "answer.json").write_text(json.dumps(seen))
    os._exit(0)


def test_it_keeps_only_its_pipe_open_and_receives_its_bounds_user_and_folder(place, capfd):
    with Path(os.devnull).open() as devnull:
        judge = fork_ready_judge(look_around)
        assert devnull.fileno() > 2
    judge.prepare(Bounds(cpu=7, memory=9, spare=3), ["json"])
    wait_for_judge(judge.begin(place.path, 60_700), place, BOUNDS)

    assert json.loads(place.read_answer()) == {
        "files": [0, 1, 2, 3],
        "streams": ["/dev/null"] * 3,
        "leads": True,
        "handled": [True, True],
        "blocked": [],
        "received": ["7 3 9 json", "60700", place.path],
    }
    assert capfd.readouterr() == ("", "")


def test_a_judge_without_a_request_exits():
    judge = fork_ready_judge(run_ready_judge)
    os.close(judge._pipe)
    _, status = os.waitpid(judge._pid, 0)
    running_judges.discard(judge._pid)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_prepared_judge_without_a_request_exits():
    judge = fork_ready_judge(run_ready_judge)
    judge.prepare(BOUNDS, ["json"])
    os.close(judge._pipe)
    _, status = os.waitpid(judge._pid, 0)
    running_judges.discard(judge._pid)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("leave", [lambda judge: judge.dismiss(), lambda _: end_all()])
def test_a_dismissed_judge_is_gone(leave):
    judge = fork_ready_judge(run_ready_judge)
    leave(judge)
    assert judge._pid not in running_judges
    with pytest.raises(ChildProcessError):
        os.waitpid(judge._pid, os.WNOHANG)


def test_one_that_ended_before_its_request_is_invalid_input(place):
    judge = fork_ready_judge(run_ready_judge)
    os.kill(judge._pid, signal.SIGKILL)
    os.waitid(os.P_PID, judge._pid, os.WEXITED | os.WNOWAIT)
    judge.prepare(BOUNDS)
    with pytest.raises(OverLimit, match="judging was killed by the system"):
        wait_for_judge(judge.begin(place.path, None), place, BOUNDS)


def test_too_little_memory_for_loading_is_reported(place):
    judge = fork_ready_judge(run_ready_judge)
    judge.prepare(Bounds(cpu=20, memory=1_000_000), ["decimal", "sqlite3", "xml.dom.minidom"])
    with pytest.raises(OverLimit, match="memory"):
        wait_for_judge(judge.begin(place.path, None), place, Bounds(memory=1_000_000, wall=30))


# --- one that ends before its time -------------------------------------------------

READING = "printf evals/s.yaml > reading;"


@pytest.mark.parametrize(
    "script",
    ["", "printf '{\"resul' > answer.json;", "printf '{\"refused\": []}' > answer.json;"],
    ids=["no response", "half an answer", "a whole answer"],
)
@pytest.mark.parametrize("number", ["KILL", "TERM", "XCPU", "SEGV"])
def test_one_that_is_ended_at_any_stage_is_reported_with_what_it_was_reading(place, script, number):
    program = ["/bin/sh", "-c", f"cd {place.path}; {READING} {script} kill -{number} $$"]
    with pytest.raises(OverLimit, match=r"judging .* while it was reading evals/s\.yaml"):
        wait_for_judge(start_judge(program), place, BOUNDS)


def test_one_that_was_stopped_is_killed_when_its_time_is_up(place):
    pid = start_judge(["/bin/sh", "-c", f"cd {place.path}; {READING} kill -STOP $$"])
    with pytest.raises(OverLimit, match=r"longer than 1 seconds while it was reading evals/s\.yaml"):
        wait_for_judge(pid, place, Bounds(wall=1))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


FORKS = """
import os, sys
from evalgate.adapters.sandbox.process_bounds import drop_privileges
user = int(sys.argv[1])
if os.geteuid() == 0 and not user:
    os.setresuid(60_701, 60_701, 60_701)
drop_privileges(user or None, 60_700)
try:
    os.fork()
except BlockingIOError:
    os._exit(42)
os._exit(1)
"""


@pytest.mark.parametrize("user", [0, *([60_700] if os.geteuid() == 0 else [])])
def test_a_judge_starts_no_other_process(user):
    done = subprocess.run([sys.executable, "-c", FORKS, str(user)], check=False)
    assert done.returncode == 42
