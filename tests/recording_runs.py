"""Runs `evalgate record` as a process of its own, with an agent of tests/recorded_agents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

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
    done = subprocess.run(
        command(*words, **agent),
        cwd=folder,
        env=env or environ(),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert f'File "{ROOT}/evalgate' not in done.stderr, done.stderr
    return Run(done.returncode, done.stdout, done.stderr)


def record_command(folder: Path, words: list[str], agent: tuple[str, ...], env: dict[str, str]) -> Run:
    """Records a command of any program."""
    line = [sys.executable, "-m", "evalgate", "record", *words, "--", *agent]
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, timeout=100, check=False)
    return Run(done.returncode, done.stdout, done.stderr)


def start_waiting(folder: Path, flags: list[str], env: dict[str, str]) -> tuple[subprocess.Popen[str], dict[str, str]]:
    """A recording whose agent prints its environment, which is returned, and then waits for a line."""
    script = "import json, os; print(json.dumps(dict(os.environ)), flush=True); input()"
    words = [*command(*flags)[:-1], "-c", script]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    running = subprocess.Popen(words, cwd=folder, env=env, text=True, **pipes)
    assert running.stdout is not None
    return running, json.loads(running.stdout.readline())


def evalgate(folder: Path, *words: str, env: dict[str, str] | None = None) -> Run:
    done = subprocess.run(
        [sys.executable, "-m", "evalgate", *words],
        cwd=folder,
        env=env or environ(),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


def trace_of(folder: Path, name: str = "refund/0") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"traces/{name}.jsonl").read_bytes())
    return found


def written(folder: Path) -> bytes:
    """All bytes of all files below a folder, and their names."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return b"\n".join(str(path).encode() + path.read_bytes() for path in files)
