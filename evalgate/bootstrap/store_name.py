"""Which store is meant, by whoever says it first: a flag, the environment, the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "EVALGATE_STORE_URL"


def named_store(said: str | None, environ: Mapping[str, str], cwd: str) -> str | None:
    """The store that a flag names, else EVALGATE_STORE_URL, else the project file; None where none does.

    Raises SuiteError for a project file that can't be read, or names a URL.
    """
    if said is not None:
        return said
    if environ.get(VARIABLE):
        return environ[VARIABLE]
    from evalgate.adapters.suite_files.project_store import project_store
    from evalgate.bootstrap.sources import workspace

    return project_store(workspace(cwd))
