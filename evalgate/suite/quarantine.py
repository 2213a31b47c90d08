"""Builds the quarantines of a suite, with their locations."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from evalgate.models.comparison.weakening import Quarantine

if TYPE_CHECKING:
    from evalgate.suite.diagnostics import Document
    from evalgate.suite.schema.suite_file import SuiteFile


def build_quarantines(document: Document, file: SuiteFile) -> list[Quarantine]:
    """The quarantines of one suite, in file order."""
    return [
        Quarantine(
            scenario=entry.scenario,
            variant=entry.variant,
            reason=entry.reason,
            until=date.fromisoformat(entry.until),
            who=entry.who,
            location=document.locate(("quarantine", number)),
        )
        for number, entry in enumerate(file.quarantine)
    ]
