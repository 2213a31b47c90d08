"""Opens the store that records a run; a failure to open it does not prevent the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import InvalidInput, SuiteError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.application.history.run_record import Circumstances
    from evalgate.application.history.run_recorder import RunRecorder
    from evalgate.settings.settings import Settings


def memory_of_shell(said: str | None, environ: Mapping[str, str], cwd: str) -> RunRecorder | None:
    """A recorder for the store of flag, environment or project; None if no store is named, or `none`.

    Raises SettingError for an invalid name. An invalid project file is not reported here but by the judge.
    """
    from evalgate.bootstrap.store_choice import named_store

    try:
        named = named_store(said, environ, cwd)
    except SuiteError:
        return None
    if named in (None, "none"):
        return None
    from evalgate.application.history.run_record import Circumstances

    branch = environ.get("GITHUB_REF_NAME")
    history = environ.get("GITHUB_BASE_REF") or branch
    around = Circumstances(branch, environ.get("GITHUB_RUN_ID"), history_branch=history)
    return _opened(named, cwd, environ.get("SOURCE_DATE_EPOCH"), around)


def memory_of_job(settings: Settings) -> RunRecorder:
    """A recorder for the store of the input; a file lies in the runner's temporary folder."""
    from evalgate.application.history.run_record import Circumstances

    job, pull_request = settings.job, settings.event.pull_request
    around = Circumstances(
        settings.stored_branch,
        job.run_id,
        pull_request=pull_request.number if pull_request else None,
        url=job.run_url,
        history_branch=settings.baseline_branch,
        is_approved_by_store=_is_out_of_reach(settings),
    )
    return _opened(settings.inputs.store_url, job.temp, job.source_date_epoch, around)


def _is_out_of_reach(settings: Settings) -> bool:
    """Whether approvals of the store count: code of a pull request could have written into a file."""
    from evalgate.adapters.store.store_url import place_of

    if not settings.approvals_commit:
        return True
    return place_of(settings.inputs.store_url, settings.job.temp).kind == "postgresql"


def _opened(named: str, folder: str, source_date_epoch: str | None, around: Circumstances) -> RunRecorder:
    """A recorder with the opened store. Raises SettingError for an invalid name, and nothing else."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.store.store_url import place_of
    from evalgate.application.history.run_recorder import NOT_STORED, RunRecorder
    from evalgate.bootstrap.store import open_store

    clock = SystemClock(source_date_epoch)
    place_of(named, folder)
    try:
        store = open_store(named, folder, source_date_epoch=source_date_epoch)
    except (InvalidInput, Unreachable) as trouble:
        return RunRecorder(None, clock, around, f"{NOT_STORED}: {trouble}")
    return RunRecorder(store, clock, around)
