"""Reads only the store from a project file, for commands that judge nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.adapters.suites import MAX_BYTES, yaml_tree
from evalgate.errors import Location, Problem, SuiteError
from evalgate.models.results.document_names import PROJECT

if TYPE_CHECKING:
    from evalgate.ports import Files

STORE_KEY = "store"
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def read_project_store(files: Files) -> str | None:
    """The path under `store` in the working directory's project file, None if it has none.

    A URL is refused: a file of the repository must not decide which server is contacted. Raises SuiteError.
    """
    if not files.expand(PROJECT, "."):
        return None
    content = files.read(PROJECT, MAX_BYTES, what="project")
    try:
        document = yaml_tree.load(content.decode("utf-8-sig"), PROJECT)
    except UnicodeDecodeError:
        raise SuiteError(Problem("a project file must be UTF-8 text", Location(PROJECT))) from None
    path = document.value.get(STORE_KEY) if isinstance(document.value, dict) else None
    if path is None:
        return None
    if not isinstance(path, str) or not path.strip() or _URL.match(path):
        hint = "set a URL with --store-url or EVALGATE_STORE_URL"
        raise SuiteError(Problem("`store` must be the path of a file", document.locate((STORE_KEY,)), hint))
    return path


REDACT_KEY = b"redact"


def apply_project_redaction(files: Files) -> None:
    """Activates the redaction of the working directory's project file; raises SuiteError if it is invalid."""
    if not files.expand(PROJECT, "."):
        return
    content = files.read(PROJECT, MAX_BYTES, what="project")
    if REDACT_KEY not in content:
        return
    from evalgate.suite.diagnostics import Diagnostics
    from evalgate.suite.parse import hide_project_secrets

    diagnostics = Diagnostics()
    try:
        hide_project_secrets(yaml_tree.load(content.decode("utf-8-sig"), PROJECT), diagnostics)
    except UnicodeDecodeError:
        raise SuiteError(Problem("a project file must be UTF-8 text", Location(PROJECT))) from None
    if diagnostics.problems:
        raise SuiteError(*diagnostics.problems)
