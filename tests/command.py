"""The command as people start it: a process of its own, in a folder of its own, at a fixed time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

NOW = "1800000000"
ROOT = Path(__file__).resolve().parents[1]


class Ran(NamedTuple):
    """What the command left."""

    code: int
    stdout: str
    stderr: str
    folder: Path

    @property
    def results(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self.folder / "results.json").read_bytes())
        return loaded

    def text(self, name: str) -> str:
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


def evalgate(folder: Path, arguments: list[str], *, now: str = NOW) -> Ran:
    """Runs `evalgate run` with the arguments, in the folder."""
    environ = {
        "PATH": os.environ["PATH"],
        "SOURCE_DATE_EPOCH": now,
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "evalgate", "run", *arguments]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, timeout=60, check=False)
    output = folder / ".evalgate"
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode(), output)
