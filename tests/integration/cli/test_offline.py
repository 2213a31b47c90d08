"""A run in a shell opens no connection, whatever it reads and however many processes it takes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from programs import require

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "support-agent"
EVALGATE = [sys.executable, "-I", "-m", "evalgate"]
RUN = ["run", "evals/support.yaml", "--traces", "traces/pr/*.jsonl", "--baseline", "first/baseline.zip"]
CALL = re.compile(r"^\d+ +(\w+)\(([^,)]*)", re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The example with what a first run left."""
    made = Path(shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("offline") / "work"))
    first = ["run", "evals/support.yaml", "--traces", "traces/main/*.jsonl", "--output-dir", "first"]
    subprocess.run([*EVALGATE, *first], cwd=made, check=True, capture_output=True, timeout=60)
    return made


@pytest.fixture
def calls(folder, tmp_path):
    """The calls of all its processes that open or use sockets, as name and first argument."""
    strace = require("strace")

    def traced(*arguments):
        log = tmp_path / "log"
        command = [strace, "-f", "-e", "trace=%network,execve", "-o", log, *EVALGATE, *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
        if "PTRACE" in done.stderr or not log.read_text().strip():
            pytest.skip("processes can't be traced here")
        assert done.returncode in (0, 1), done.stderr
        return CALL.findall(log.read_text())

    return traced


@pytest.mark.parametrize("more", [[], ["--limit", "cpu=30"], ["--jobs", "2"]], ids=" ".join)
def test_no_connection_is_opened_and_no_name_is_looked_up(calls, more):
    made = calls(*RUN, *more)
    assert "execve" in {name for name, _ in made}
    assert [call for call in made if call[0] == "connect" or call == ("socket", "AF_INET")] == []
    assert {name for name, _ in made} <= {"execve", "socketpair", "sendmsg", "recvmsg", "shutdown"}
