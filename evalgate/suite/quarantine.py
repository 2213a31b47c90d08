"""The quarantines of a suite, with their places."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from evalgate.models.comparison.quarantine import Quarantine

if TYPE_CHECKING:
    from evalgate.suite.diagnostics import Document
    from evalgate.suite.schema.suite_file import SuiteFile


def quarantines(document: Document, file: SuiteFile) -> list[Quarantine]:
    """Those of one suite, as written."""
    return [
        Quarantine(
            scenario=entry.scenario,
            variant=entry.variant,
            reason=entry.reason,
            until=date.fromisoformat(entry.until),
            who=entry.who,
            location=document.at(("quarantine", number)),
        )
        for number, entry in enumerate(file.quarantine)
    ]
