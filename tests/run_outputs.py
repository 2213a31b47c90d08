"""The output files of a run, to be compared byte by byte."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from command import NOW

if TYPE_CHECKING:
    from pathlib import Path

OUTPUT_NAMES = ("results.json", "comment.md", "summary.md", "junit.xml", "baseline.zip")


class JudgedRun(NamedTuple):
    """A folder of traces, the arguments of the run that judged them, and its output files."""

    folder: Path
    arguments: list[str]
    outputs: dict[str, bytes]


def read_outputs(folder: Path) -> dict[str, bytes]:
    """The output files of a run, by name."""
    return {name: (folder / name).read_bytes() for name in OUTPUT_NAMES if (folder / name).exists()}


def start_command(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Starts the command in a new process, as a shell does."""
    return subprocess.Popen(
        [sys.executable, "-m", "evalgate", *words],
        cwd=folder,
        env={"SOURCE_DATE_EPOCH": NOW, "PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run_command(folder: Path, *words: str) -> tuple[int, str]:
    """Runs the command; returns its exit code and output."""
    process = start_command(folder, *words)
    out, err = process.communicate(timeout=120)
    return process.returncode, out + err
