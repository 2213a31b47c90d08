"""What a run leaves in its folder, and what of an earlier run must not stay beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalgate.application.messages.request import Judgement
    from evalgate.ports import OutputFolder

REPORTS = ("comment.md", "summary.md", "junit.xml", "results.sarif")


def leave_files(judgement: Judgement, folder: OutputFolder) -> None:
    """Writes the run's files. Reports of an earlier run go: they would be taken for this one's."""
    for name in REPORTS:
        if name not in judgement.files:
            folder.remove(name)
    for name, content in judgement.files.items():
        folder.write(name, content)
