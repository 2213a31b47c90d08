"""Writes a run's files, and removes reports of an earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalgate.application.messages.request import Judgement
    from evalgate.ports import OutputFolder

REPORTS = ("comment.md", "summary.md", "junit.xml", "results.sarif")


def write_outputs(judgement: Judgement, folder: OutputFolder, *, keep: str | None = None) -> None:
    """Writes the run's files except `keep`; removes reports of an earlier run, which would look like this run's."""
    for name in REPORTS:
        if name not in judgement.files:
            folder.remove(name)
    for name, content in judgement.files.items():
        if name != keep:
            folder.write(name, content)
