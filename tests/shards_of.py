"""Shards of a run, judged and merged in this very process."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from command import NOW
from leavings import left_in

from evalgate.cli import main
from evalgate.cli.shell import Shell

if TYPE_CHECKING:
    from pathlib import Path

    from leavings import Judged


def said(folder: Path, *words: str) -> tuple[int, str]:
    """Exit code of a command, and what it said."""
    out, err = io.StringIO(), io.StringIO()
    code = main(words, Shell(out, err, {"SOURCE_DATE_EPOCH": NOW}, str(folder)))
    return code, out.getvalue() + err.getvalue()


def shard(judged: Judged, number: int, of: int, *words: str) -> Path:
    """One shard of the run, judged now."""
    name = f"shards/{number}-of-{of}"
    flags = [*judged.arguments, "--shard", f"{number}/{of}", "--output-dir", name]
    code, told = said(judged.folder, "run", *flags, *words)
    assert code == 0, told
    return judged.folder / name / "shard.zip"


def merged(judged: Judged, shards: list[Path], name: str) -> tuple[int, dict[str, bytes]]:
    """Exit code of the merge, and what it left."""
    code, _ = said(judged.folder, "merge", *map(str, shards), *judged.arguments, "--output-dir", name)
    return code, left_in(judged.folder / name)
