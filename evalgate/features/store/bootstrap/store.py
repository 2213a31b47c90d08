"""Opens the store for shell and job, and keeps runs and approvals in it.

A store that can't be opened does not prevent the verdict of a run. The approvals of a shell may also be in a file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalgate.adapters.clock import SystemClock
from evalgate.adapters.files.git_head import find_commit_and_branch
from evalgate.bootstrap.named_store import NONE, find_store_url
from evalgate.errors import InvalidInput, Problem, SettingError, Unreachable
from evalgate.features.store.feature import StoreInputs
from evalgate.models.results.document_names import OUTPUT_FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.features.store.application.history.run_record import RunContext
    from evalgate.features.store.application.history.run_recorder import RunRecorder
    from evalgate.features.store.ports import Store
    from evalgate.settings.settings import Settings


DEFAULT_STORE = f"{OUTPUT_FOLDER}/evalgate.db"
"""The path of a shell's store if none is named."""
REPOSITORY_VARIABLES = ("EVALGATE_REPOSITORY", "GITHUB_REPOSITORY", "CI_PROJECT_PATH")
"""Where a shell finds the name of the repository: ours, GitHub's, GitLab's."""
_EXTRAS = {"sqlite": "store", "postgresql": "postgres"}


def open_store(url: str, cwd: str, *, create: bool = True, source_date_epoch: str | None = None) -> Store:
    """Opens the store at a path or URL, and migrates an older schema.

    Without `create` a SQLite file must exist. Raises StoreUnreachable, or SettingError for an invalid name, a
    file that is not a store, or a newer schema. No message holds a user name or password.
    """
    from evalgate.features.store.adapters.store_url import parse_store_url

    location = parse_store_url(url, cwd)
    try:
        from evalgate.features.store.adapters.store import SqlStore

        return SqlStore(location, SystemClock(source_date_epoch).now, create=create)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"sqlalchemy", "alembic", "psycopg"}:
            raise
        hint = f"install evalgate-action[{_EXTRAS[location.kind]}]"
        raise SettingError(Problem("a store needs an extra that is not installed", None, hint)) from None


def choose_store(flag: str | None, environ: Mapping[str, str], cwd: str, *, create: bool = False) -> Store:
    """Opens the named store, or the shell's default one, and selects the repository of the shell.

    Without `create` a file must exist. Raises SettingError, also for the name `none`, and StoreUnreachable.
    """
    store = open_whole_store(flag, environ, cwd, create=create)
    try:
        require_repository(store, find_repository(environ))
    except BaseException:
        store.close()
        raise
    return store


def open_whole_store(flag: str | None, environ: Mapping[str, str], cwd: str, *, create: bool = False) -> Store:
    """The same with what all repositories have."""
    store_url = find_store_url(flag, environ, cwd) or DEFAULT_STORE
    if store_url == NONE:
        raise SettingError(Problem("a store is required here, not `none`", None, "name one with --store-url"))
    return open_store(store_url, cwd, create=create, source_date_epoch=environ.get("SOURCE_DATE_EPOCH"))


def find_repository(environ: Mapping[str, str]) -> str | None:
    """The repository of a shell or of a job of another CI system, by the variables; None without one."""
    return next((environ[name] for name in REPOSITORY_VARIABLES if environ.get(name)), None)


def require_repository(store: Store, name: str | None) -> None:
    """Selects what the store has of this repository. Raises SettingError for None if it has several."""
    store.select_repository(name)
    if store.is_shared and name is None:
        hint = f"set {REPOSITORY_VARIABLES[0]} to the one that is meant, such as owner/name"
        raise SettingError(Problem(f"the store {store.display_url} has several repositories", None, hint))


def open_shell_recorder(store_url: str, environ: Mapping[str, str], cwd: str) -> RunRecorder:
    """A recorder for the store of a shell; raises SettingError for an invalid name."""
    from evalgate.features.store.application.history.run_record import RunContext

    _, branch = find_commit_and_branch(None, environ, cwd)
    history = environ.get("GITHUB_BASE_REF") or environ.get("GITHUB_REF_NAME")
    context = RunContext(
        branch, environ.get("GITHUB_RUN_ID"), history_branch=history, repository=find_repository(environ)
    )
    return _open(store_url, cwd, environ.get("SOURCE_DATE_EPOCH"), context)


def open_job_recorder(settings: Settings) -> RunRecorder:
    """A recorder for the store of the input; a file lies in the runner's temporary folder."""
    from evalgate.features.store.application.history.run_record import RunContext

    job, pull_request = settings.job, settings.event.pull_request
    context = RunContext(
        settings.stored_branch,
        job.run_id,
        pull_request=pull_request.number if pull_request else None,
        url=job.run_url,
        history_branch=settings.baseline_branch,
        is_approved_by_store=_is_store_trusted(settings),
        repository=job.repository,
    )
    recorder = _open(settings.inputs.of(StoreInputs).store_url, job.temp, job.source_date_epoch, context)
    recorder.sentence = "The run was {}."
    return recorder


def _is_store_trusted(settings: Settings) -> bool:
    """Whether approvals of the store count: code of a pull request could have written into a file."""
    from evalgate.features.store.adapters.store_url import parse_store_url

    if not settings.approvals_commit:
        return settings.allows_approvals
    return parse_store_url(settings.inputs.of(StoreInputs).store_url, settings.job.temp).kind == "postgresql"


def _open(store_url: str, folder: str, source_date_epoch: str | None, context: RunContext) -> RunRecorder:
    """A recorder with the opened store. Raises SettingError for an invalid name, and nothing else."""
    from evalgate.features.store.adapters.store_url import parse_store_url
    from evalgate.features.store.application.history.run_recorder import NOT_STORED, RunRecorder

    clock = SystemClock(source_date_epoch)
    location = parse_store_url(store_url, folder)

    def open_it() -> Store:
        store = open_store(store_url, folder, source_date_epoch=source_date_epoch)
        store.select_repository(context.repository)
        return store

    if location.kind == "sqlite" and not os.path.lexists(location.target):
        return RunRecorder(None, clock, context, create=open_it)
    try:
        return RunRecorder(open_it(), clock, context)
    except (InvalidInput, Unreachable) as error:
        return RunRecorder(None, clock, context, f"{NOT_STORED}: {error}")
