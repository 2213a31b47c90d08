"""Runs `evalgate record` with an agent of tests/recorded_agents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pytest
from network_guard import network_variables

from evalgate.cli import main
from evalgate.cli.shell import Shell
from evalgate.measures.redaction.redact import hide_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
AGENTS = ROOT / "tests/recorded_agents"
SDKS = ROOT / ".sdks/venv/bin/python"
needs_sdks = pytest.mark.skipif(not SDKS.exists(), reason="`make sdks` installs the SDKs of model providers")
KEY = "sk-proj-Planted0123456789abcdefXYZ"


class Run(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def last_line(self) -> str:
        return self.err.strip().splitlines()[-1]


def environ(**more: str) -> dict[str, str]:
    kept = {"PATH": os.environ["PATH"], "PYTHONPYCACHEPREFIX": os.environ.get("PYTHONPYCACHEPREFIX", "")}
    return {
        **{name: value for name, value in kept.items() if value},
        "OPENAI_API_KEY": KEY,
        "ANTHROPIC_API_KEY": KEY,
        **more,
    }


def command(*words: str, agent: str = "plain", python: str = sys.executable) -> list[str]:
    """The command line; words after `--` are the agent's arguments."""
    at = words.index("--") if "--" in words else len(words)
    script = [python, str(AGENTS / f"{agent}.py"), *words[at + 1 :]]
    return [sys.executable, "-m", "evalgate", "record", *words[:at], "--", *script]


def record(folder: Path, *words: str, env: dict[str, str] | None = None, **agent: str) -> Run:
    return _run(folder, command(*words, **agent)[3:], env)


def record_command(folder: Path, words: list[str], agent: tuple[str, ...], env: dict[str, str]) -> Run:
    """Records a command of any program."""
    return _run(folder, ["record", *words, "--", *agent], env)


def evalgate(folder: Path, *words: str, env: dict[str, str] | None = None) -> Run:
    return _run(folder, [*words], env)


def _run(folder: Path, words: list[str], env: dict[str, str] | None) -> Run:
    """Runs EvalGate in this process, which starts the agent; in one of its own where the network is another one."""
    variables = env or environ()
    if network_variables(variables):
        line = [sys.executable, "-m", "evalgate", *words]
        done = subprocess.run(line, cwd=folder, env=variables, capture_output=True, text=True, timeout=100, check=False)
        return Run(done.returncode, done.stdout, done.stderr)
    with ExitStack() as stack:
        streams = [stack.enter_context(_take_handle(number)) for number in (1, 2)]
        out, err = (stack.enter_context(open(number, "w", buffering=1, closefd=False)) for number in (1, 2))
        code = main(words, Shell(out, err, variables, str(folder)))
        hide_secrets([])
        for each in (out, err):
            each.flush()
        texts = [_read_all(each) for each in streams]
    return Run(code, *texts)


@contextmanager
def _take_handle(number: int) -> Iterator[IO[bytes]]:
    """A file that a handle of this process, and of those that it starts, writes to meanwhile."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(number)
        os.dup2(file.fileno(), number)
        try:
            yield file
        finally:
            os.dup2(kept, number)
            os.close(kept)


def _read_all(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def start_waiting(folder: Path, flags: list[str], env: dict[str, str]) -> tuple[subprocess.Popen[str], dict[str, str]]:
    """A recording whose agent prints its environment, which is returned, and then waits for a line."""
    script = "import json, os; print(json.dumps(dict(os.environ)), flush=True); input()"
    words = [*command(*flags)[:-1], "-c", script]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    running = subprocess.Popen(words, cwd=folder, env=env, text=True, **pipes)
    assert running.stdout is not None
    return running, json.loads(running.stdout.readline())


def trace_of(folder: Path, name: str = "refund/0") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"traces/{name}.jsonl").read_bytes())
    return found


def written(folder: Path) -> bytes:
    """All bytes of all files below a folder, and their names."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return b"\n".join(str(path).encode() + path.read_bytes() for path in files)
