"""Which store is meant, by whoever says it first: a flag, the environment, the project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.errors import Location, Problem, RefusedPath, SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.ports.store import Store

VARIABLE = "EVALGATE_STORE_URL"
NONE = "none"


def named_store(said: str | None, environ: Mapping[str, str], cwd: str) -> str | None:
    """The store that a flag names, else EVALGATE_STORE_URL, else the project file; None where none does.

    Raises SuiteError for a project file that can't be read, or names a URL, and RefusedPath where it names a
    file outside of the working folder: a repository does not decide what else is written.
    """
    if said is not None:
        return said
    if environ.get(VARIABLE):
        return environ[VARIABLE]
    from evalgate.adapters.suites.project_store import project_store
    from evalgate.bootstrap.sources import workspace

    named = project_store(workspace(cwd))
    if named is not None and not _is_below(Path(cwd), named):
        hint = "name a file elsewhere with --store-url or EVALGATE_STORE_URL"
        message = "`store` is a file outside of the working folder"
        raise RefusedPath(Problem(message, Location("evalgate.yaml"), hint))
    return named


def _is_below(folder: Path, named: str) -> bool:
    try:
        return (folder / named).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # no path at all, or links that lead round in circles
        return False


def shell_store(said: str | None, environ: Mapping[str, str], cwd: str, *, create: bool = False) -> Store:
    """The store that is named, opened, else the one where a shell keeps its own.

    Not `create`: a file must be there. Raises SettingError, also where `none` is named, and StoreUnreachable.
    """
    from evalgate.bootstrap.store import DEFAULT, open_store

    named = named_store(said, environ, cwd) or DEFAULT
    if named == NONE:
        raise SettingError(Problem("there is no store called none", None, "name one with --store-url"))
    return open_store(named, cwd, create=create, source_date_epoch=environ.get("SOURCE_DATE_EPOCH"))


def goldens_of_shell(said: str | None, environ: Mapping[str, str], cwd: str) -> Callable[[], Store]:
    """Opens the store out of which suites may name goldens, once one does."""
    return lambda: shell_store(said, environ, cwd)
