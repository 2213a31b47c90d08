"""Opens the store that records a run; a failure to open it does not prevent the verdict."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from evalgate.errors import InvalidInput, SuiteError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.application.history.run_record import RunContext
    from evalgate.application.history.run_recorder import RunRecorder
    from evalgate.settings.settings import Settings


def open_shell_recorder(flag: str | None, environ: Mapping[str, str], cwd: str) -> RunRecorder | None:
    """A recorder for the store of flag, environment or project; None if no store is named, or `none`.

    Raises SettingError for an invalid name. An invalid project file is not reported here but by the judge.
    """
    from evalgate.bootstrap.store import find_store_url

    try:
        store_url = find_store_url(flag, environ, cwd)
    except SuiteError:
        return None
    if store_url in (None, "none"):
        return None
    from evalgate.application.history.run_record import RunContext

    _, branch = find_commit_and_branch(None, environ, cwd)
    history = environ.get("GITHUB_BASE_REF") or environ.get("GITHUB_REF_NAME")
    context = RunContext(branch, environ.get("GITHUB_RUN_ID"), history_branch=history)
    return _open(store_url, cwd, environ.get("SOURCE_DATE_EPOCH"), context)


def find_commit_and_branch(flag: str | None, environ: Mapping[str, str], cwd: str) -> tuple[str | None, str | None]:
    """The commit that a shell judges and its branch: of the flag, of the runner's variables, of the git repository."""
    from evalgate.adapters.files.git_head import read_git_head

    head = read_git_head(cwd)
    if flag:
        flag = flag.encode("utf-8", "replace").decode()  # no document can hold bytes that are no text
    return flag or environ.get("GITHUB_SHA") or head.commit, environ.get("GITHUB_REF_NAME") or head.branch


def open_job_recorder(settings: Settings) -> RunRecorder:
    """A recorder for the store of the input; a file lies in the runner's temporary folder."""
    from evalgate.application.history.run_record import RunContext

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
    from evalgate.adapters.store.store_url import parse_store_url

    if not settings.approvals_commit:
        return True
    return parse_store_url(settings.inputs.store_url, settings.job.temp).kind == "postgresql"


def _open(store_url: str, folder: str, source_date_epoch: str | None, context: RunContext) -> RunRecorder:
    """A recorder with the opened store. Raises SettingError for an invalid name, and nothing else."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.store.store_url import parse_store_url
    from evalgate.application.history.run_recorder import NOT_STORED, RunRecorder
    from evalgate.bootstrap.store import open_store

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
