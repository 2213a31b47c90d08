"""The store that the user names: for the history and the results of runs, and for goldens that suites name."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.errors import Location, Problem, RefusedPath, SuiteError
from evalgate.features.store.feature import StoreInputs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.ports.store import GoldenStore, RunStore
    from evalgate.settings.settings import Settings

STORE_VARIABLE = "EVALGATE_STORE_URL"
NONE = "none"


def open_shell_store(flag: str | None, environ: Mapping[str, str], cwd: str) -> RunStore | None:
    """The store of flag, environment or project; None if no store is named, or `none`.

    Raises SettingError for an invalid name. An invalid project file is not reported here but by the judge.
    """
    try:
        store_url = find_store_url(flag, environ, cwd)
    except SuiteError:
        return None
    if store_url in (None, NONE):
        return None
    from evalgate.bootstrap.features import load_port

    store: RunStore = load_port("shell_run_store")(store_url, environ, cwd)
    return store


def open_job_store(settings: Settings) -> RunStore | None:
    """The store of the input; a file lies in the runner's temporary folder. None if no store is named."""
    if not settings.inputs.of(StoreInputs).store_url:
        return None
    from evalgate.bootstrap.features import load_port

    store: RunStore = load_port("job_run_store")(settings)
    return store


def find_store_url(flag: str | None, environ: Mapping[str, str], cwd: str) -> str | None:
    """The store named by the flag, else EVALGATE_STORE_URL, else the project file; None if none is named.

    Raises SuiteError for a project file that is invalid or names a URL, and RefusedPath if it names a file
    outside the working directory: a repository must not decide what else is written.
    """
    if flag is not None:
        return flag
    if environ.get(STORE_VARIABLE):
        return environ[STORE_VARIABLE]
    from evalgate.adapters.suites.project_file import read_project_store
    from evalgate.bootstrap.sources import build_workspace

    store_url = read_project_store(build_workspace(cwd))
    if store_url is not None and not _is_below(Path(cwd), store_url):
        hint = "name a file elsewhere with --store-url or EVALGATE_STORE_URL"
        message = "`store` is a file outside the working directory"
        raise RefusedPath(Problem(message, Location("evalgate.yaml"), hint))
    return store_url


def _is_below(folder: Path, path: str) -> bool:
    try:
        return (folder / path).resolve().is_relative_to(folder.resolve()) and not _is_circular(folder / path)
    except (OSError, ValueError, RuntimeError):  # an invalid path, or links in a circle
        return False


def _is_circular(path: Path) -> bool:
    """Whether links lead in a circle, which `resolve` accepts since Python 3.13."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def shell_store_opener(flag: str | None, environ: Mapping[str, str], cwd: str) -> Callable[[], GoldenStore]:
    """A function that opens the store of flag, environment or project, else the shell's default one."""

    def open_it() -> GoldenStore:
        from evalgate.bootstrap.features import load_port

        store: GoldenStore = load_port("golden_store")(flag, environ, cwd)
        return store

    return open_it
