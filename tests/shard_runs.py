"""Shards of a run, judged and merged in this process."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from command import NOW
from run_outputs import read_outputs

from evalgate.cli import main
from evalgate.cli.shell import Shell

if TYPE_CHECKING:
    from pathlib import Path

    from run_outputs import JudgedRun


def run_command(folder: Path, *words: str) -> tuple[int, str]:
    """Runs a command; returns its exit code and output."""
    out, err = io.StringIO(), io.StringIO()
    code = main(words, Shell(out, err, {"SOURCE_DATE_EPOCH": NOW}, str(folder)))
    return code, out.getvalue() + err.getvalue()


def judge_shard(judged: JudgedRun, number: int, of: int, *words: str) -> Path:
    """Judges one shard of the run; returns the path of its archive."""
    name = f"shards/{number}-of-{of}"
    flags = [*judged.arguments, "--shard", f"{number}/{of}", "--output-dir", name]
    code, output = run_command(judged.folder, "run", *flags, *words)
    assert code == 0, output
    return judged.folder / name / "shard.zip"


def merge_shards(judged: JudgedRun, shards: list[Path], name: str) -> tuple[int, dict[str, bytes]]:
    """Merges the shards; returns the exit code and the output files."""
    code, _ = run_command(judged.folder, "merge", *map(str, shards), *judged.arguments, "--output-dir", name)
    return code, read_outputs(judged.folder / name)
