"""What a run leaves behind, to be compared to the last byte."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from command import NOW

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("results.json", "comment.md", "summary.md", "junit.xml", "baseline.zip")


class Judged(NamedTuple):
    """A folder of recordings, how they were judged, and what that left."""

    folder: Path
    arguments: list[str]
    left: dict[str, bytes]


def left_in(folder: Path) -> dict[str, bytes]:
    """The files of a run."""
    return {name: (folder / name).read_bytes() for name in NAMES if (folder / name).exists()}


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    """The command in a process of its own, as a shell starts it."""
    return subprocess.Popen(
        [sys.executable, "-m", "evalgate", *words],
        cwd=folder,
        env={"SOURCE_DATE_EPOCH": NOW, "PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ran(folder: Path, *words: str) -> tuple[int, str]:
    """Its exit code, and what it said."""
    process = started(folder, *words)
    out, err = process.communicate(timeout=120)
    return process.returncode, out + err
