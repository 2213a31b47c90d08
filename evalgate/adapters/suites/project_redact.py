"""Applies a project file's redaction in commands that print traces without judging them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.suites import MAX_BYTES, PROJECT, yaml_tree
from evalgate.errors import Location, Problem, SuiteError

if TYPE_CHECKING:
    from evalgate.ports import Files

KEY = b"redact"


def apply_project_redaction(files: Files) -> None:
    """Activates the redaction of the working folder's project file; raises SuiteError if it is invalid."""
    if not files.expand(PROJECT, "."):
        return
    content = files.read(PROJECT, MAX_BYTES, what="project")
    if KEY not in content:
        return
    from evalgate.suite.diagnostics import Diagnostics
    from evalgate.suite.parse import hide_project_secrets

    diagnostics = Diagnostics()
    try:
        hide_project_secrets(yaml_tree.load(content.decode("utf-8-sig"), PROJECT), diagnostics)
    except UnicodeDecodeError:
        raise SuiteError(Problem("a project file is text in UTF-8", Location(PROJECT))) from None
    if diagnostics.problems:
        raise SuiteError(*diagnostics.problems)
