"""Reads only the store from a project file, for commands that judge nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.adapters.suites import MAX_BYTES, PROJECT, yaml_tree
from evalgate.errors import Location, Problem, SuiteError

if TYPE_CHECKING:
    from evalgate.ports import Files

KEY = "store"
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def read_project_store(files: Files) -> str | None:
    """The path under `store` in the working folder's project file, None if it has none.

    A URL is refused: a file of the repository must not decide which server is contacted. Raises SuiteError.
    """
    if not files.expand(PROJECT, "."):
        return None
    content = files.read(PROJECT, MAX_BYTES, what="project")
    try:
        document = yaml_tree.load(content.decode("utf-8-sig"), PROJECT)
    except UnicodeDecodeError:
        raise SuiteError(Problem("a project file is text in UTF-8", Location(PROJECT))) from None
    path = document.value.get(KEY) if isinstance(document.value, dict) else None
    if path is None:
        return None
    if not isinstance(path, str) or not path.strip() or _URL.match(path):
        hint = "name a URL with --store-url or EVALGATE_STORE_URL"
        raise SuiteError(Problem("`store` is the path of a file", document.locate((KEY,)), hint))
    return path
