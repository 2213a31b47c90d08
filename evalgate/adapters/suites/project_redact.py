"""Applies a project file's redaction in commands that print traces without judging them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.suites import MAX_BYTES, PROJECT, yaml_tree
from evalgate.errors import Location, Problem, SuiteError

if TYPE_CHECKING:
    from evalgate.ports import Files

KEY = b"redact"


def hide_for_project(files: Files) -> None:
    """Activates the redaction of the working folder's project file; raises SuiteError if it is invalid."""
    if not files.expand(PROJECT, "."):
        return
    content = files.read(PROJECT, MAX_BYTES, what="project")
    if KEY not in content:
        return
    from evalgate.suite.diagnostics import Diagnostics
    from evalgate.suite.parse import hide_what_it_says

    mistakes = Diagnostics()
    try:
        hide_what_it_says(yaml_tree.load(content.decode("utf-8-sig"), PROJECT), mistakes)
    except UnicodeDecodeError:
        raise SuiteError(Problem("a project file is text in UTF-8", Location(PROJECT))) from None
    if mistakes.problems:
        raise SuiteError(*mistakes.problems)
