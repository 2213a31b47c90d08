"""Opens the store for shell and job, and keeps runs and approvals in it.

A store that can't be opened does not prevent the verdict of a run. The approvals of a shell may also be in a file.
"""

from __future__ import annotations

import errno
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evalgate.adapters.clock import SystemClock
from evalgate.bootstrap.judged_commit import find_commit_and_branch
from evalgate.bootstrap.shell_tools import read_approvals
from evalgate.bootstrap.sources import build_baseline_files, build_suite_files, build_workspace
from evalgate.errors import InvalidInput, Location, Problem, RefusedPath, SettingError, SuiteError, Unreachable
from evalgate.models.results.document_names import OUTPUT_FOLDER, RESULTS_PATH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from evalgate.application.approvals.approve_change import ListedApproval
    from evalgate.features.store.application.history.run_record import RunContext
    from evalgate.features.store.application.history.run_recorder import RunRecorder
    from evalgate.features.store.ports import Store
    from evalgate.models.approvals.approval import Approval, StoredApproval
    from evalgate.models.results.results import ResultsDoc
    from evalgate.settings.settings import Settings


DEFAULT_STORE = f"{OUTPUT_FOLDER}/evalgate.db"
"""The path of a shell's store if none is named."""
STORE_VARIABLE = "EVALGATE_STORE_URL"
NONE = "none"
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


def choose_store(flag: str | None, environ: Mapping[str, str], cwd: str, *, create: bool = False) -> Store:
    """Opens the named store, or the shell's default one.

    Without `create` a file must exist. Raises SettingError, also for the name `none`, and StoreUnreachable.
    """
    store_url = find_store_url(flag, environ, cwd) or DEFAULT_STORE
    if store_url == NONE:
        raise SettingError(Problem("a store is required here, not `none`", None, "name one with --store-url"))
    return open_store(store_url, cwd, create=create, source_date_epoch=environ.get("SOURCE_DATE_EPOCH"))


def shell_store_opener(flag: str | None, environ: Mapping[str, str], cwd: str) -> Callable[[], Store]:
    """A function that opens the store with goldens when a suite first needs it."""
    return lambda: choose_store(flag, environ, cwd)


def open_shell_recorder(flag: str | None, environ: Mapping[str, str], cwd: str) -> RunRecorder | None:
    """A recorder for the store of flag, environment or project; None if no store is named, or `none`.

    Raises SettingError for an invalid name. An invalid project file is not reported here but by the judge.
    """
    try:
        store_url = find_store_url(flag, environ, cwd)
    except SuiteError:
        return None
    if store_url in (None, "none"):
        return None
    from evalgate.features.store.application.history.run_record import RunContext

    _, branch = find_commit_and_branch(None, environ, cwd)
    history = environ.get("GITHUB_BASE_REF") or environ.get("GITHUB_REF_NAME")
    context = RunContext(branch, environ.get("GITHUB_RUN_ID"), history_branch=history)
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
    )
    return _open(settings.inputs.store_url, job.temp, job.source_date_epoch, context)


def _is_store_trusted(settings: Settings) -> bool:
    """Whether approvals of the store count: code of a pull request could have written into a file."""
    from evalgate.features.store.adapters.store_url import parse_store_url

    if not settings.approvals_commit:
        return True
    return parse_store_url(settings.inputs.store_url, settings.job.temp).kind == "postgresql"


def _open(store_url: str, folder: str, source_date_epoch: str | None, context: RunContext) -> RunRecorder:
    """A recorder with the opened store. Raises SettingError for an invalid name, and nothing else."""
    from evalgate.features.store.adapters.store_url import parse_store_url
    from evalgate.features.store.application.history.run_recorder import NOT_STORED, RunRecorder

    clock = SystemClock(source_date_epoch)
    location = parse_store_url(store_url, folder)
    open_it = partial(open_store, store_url, folder, source_date_epoch=source_date_epoch)
    if location.kind == "sqlite" and not os.path.lexists(location.target):
        return RunRecorder(None, clock, context, create=open_it)
    try:
        store = open_it()
    except (InvalidInput, Unreachable) as error:
        return RunRecorder(None, clock, context, f"{NOT_STORED}: {error}")
    return RunRecorder(store, clock, context)


class FinishedRun(NamedTuple):
    """A finished run; `run_id` is the id of its workflow run."""

    results: ResultsDoc
    run_id: str | None = None


def write_approvals(cwd: str, approvals: Sequence[Approval]) -> str:
    """Adds approvals to the file; returns its path."""
    from evalgate.adapters.files.project_files import LocalApprovalsFile
    from evalgate.adapters.suites.approvals_file import append_approvals
    from evalgate.models.approvals.approval import FILE

    file = read_approvals(cwd)
    content = append_approvals(file, approvals)
    LocalApprovalsFile(cwd).replace(file.content if file is not None else None, content)
    return FILE


def store_approvals(
    store_url: str,
    cwd: str,
    approvals: Sequence[Approval],
    source_date_epoch: str | None,
    finished: FinishedRun | None = None,
) -> str:
    """Records approvals in a store; returns its name to display. Those from a comment keep their origin.

    Also approves the run they belong to, if the store has it and it has no other failure.
    """
    from evalgate.models.approvals.approval import Provenance, StoredApproval

    with open_store(store_url, cwd, source_date_epoch=source_date_epoch) as store:
        for approval in approvals:
            origin = approval.provenance or Provenance("shell")
            store.approvals.create(StoredApproval("", approval, origin))
        if finished is not None:
            _decide_run(store, finished, approvals, SystemClock(source_date_epoch).now())
        return store.display_url


def _decide_run(store: Store, finished: FinishedRun, approvals: Sequence[Approval], now: datetime) -> None:
    from evalgate.application.approvals.approve_change import decision_on
    from evalgate.application.documents.run_identity import run_identity

    stored = store.approvals.active(now.date())
    shell_approvals = [each.approval for each in stored if each.provenance.source == "shell"]
    decision = decision_on(finished.results, [*shell_approvals, *approvals], now)
    if decision is not None:
        store.runs.decide(run_identity(finished.results, finished.run_id), decision)


def withdraw(store_url: str | None, cwd: str, approval_id: str, source_date_epoch: str | None) -> str:
    """Ends an approval in the store today; returns the store's name. SettingError if there is no such one."""
    if store_url is None:
        raise SettingError("only an approval in a store can be withdrawn: name the store with --store-url")
    with open_store(store_url, cwd, create=False, source_date_epoch=source_date_epoch) as store:
        if not store.approvals.withdraw(approval_id):
            hint = "evalgate approvals --all --json shows the ids"
            raise SettingError(Problem(f"no active approval {approval_id!r} in {store.display_url}", None, hint))
        return store.display_url


def load_listed_approvals(
    cwd: str, store_url: str | None, results: str | None, source_date_epoch: str | None
) -> list[ListedApproval]:
    """The approvals of the file and of the store, if named, each with its status.

    The status depends on a finished run: the named one, or the last one here; without it, only on the date.
    """
    from evalgate.application.approvals.approve_change import list_approvals
    from evalgate.features.store.ports import EVERYTHING

    today = SystemClock(source_date_epoch).now().date()
    file = read_approvals(cwd)
    in_file = build_suite_files(cwd).load_approvals(file) if file is not None else []
    stored: Sequence[StoredApproval] = ()
    if store_url is not None:
        with open_store(store_url, cwd, create=False) as store:
            stored = store.approvals.list(EVERYTHING)
    path = results if results is not None else RESULTS_PATH if build_workspace(cwd).expand(RESULTS_PATH, ".") else None
    finished = build_baseline_files(cwd).load(path).results if path is not None else None
    return list_approvals(in_file, stored, finished, today)
