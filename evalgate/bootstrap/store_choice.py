"""Chooses the store: by a flag, else the environment, else the project file."""

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
    """The store named by the flag, else EVALGATE_STORE_URL, else the project file; None if none is named.

    Raises SuiteError for a project file that is invalid or names a URL, and RefusedPath if it names a file
    outside the working folder: a repository must not decide what else is written.
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
    except (OSError, ValueError, RuntimeError):  # an invalid path, or links in a circle
        return False


def shell_store(said: str | None, environ: Mapping[str, str], cwd: str, *, create: bool = False) -> Store:
    """Opens the named store, or the shell's default one.

    Without `create` a file must exist. Raises SettingError, also for the name `none`, and StoreUnreachable.
    """
    from evalgate.bootstrap.store import DEFAULT, open_store

    named = named_store(said, environ, cwd) or DEFAULT
    if named == NONE:
        raise SettingError(Problem("there is no store called none", None, "name one with --store-url"))
    return open_store(named, cwd, create=create, source_date_epoch=environ.get("SOURCE_DATE_EPOCH"))


def goldens_of_shell(said: str | None, environ: Mapping[str, str], cwd: str) -> Callable[[], Store]:
    """A function that opens the store with goldens when a suite first needs it."""
    return lambda: shell_store(said, environ, cwd)
