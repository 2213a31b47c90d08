"""Reads and writes a shell's approvals: in the folder's file, or in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.bootstrap.shell_verbs import current_time
from evalgate.bootstrap.shell_verbs import read_approvals as file_of
from evalgate.bootstrap.sources import build_baseline_files, build_suite_files, build_workspace
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from evalgate.application.approvals.approve_change import ListedApproval
    from evalgate.models.approvals.approval import Approval, StoredApproval
    from evalgate.models.results.results import ResultsDoc
    from evalgate.ports.store import Store

RESULTS = ".evalgate/results.json"


class FinishedRun(NamedTuple):
    """A finished run; `run_id` is the id of its workflow run."""

    results: ResultsDoc
    run_id: str | None = None


def write_approvals(cwd: str, approvals: Sequence[Approval]) -> str:
    """Adds approvals to the file; returns its path."""
    from evalgate.adapters.files.local_approvals import LocalApprovalsFile
    from evalgate.adapters.suites.approvals_writer import append_approvals
    from evalgate.models.approvals.approval import FILE

    file = file_of(cwd)
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
    from evalgate.bootstrap.store import open_store
    from evalgate.models.approvals.approval import Provenance, StoredApproval

    with open_store(store_url, cwd, source_date_epoch=source_date_epoch) as store:
        for approval in approvals:
            origin = approval.provenance or Provenance("shell")
            store.approvals.create(StoredApproval("", approval, origin))
        if finished is not None:
            _decide_run(store, finished, approvals, current_time(source_date_epoch))
        return store.display_url


def _decide_run(store: Store, finished: FinishedRun, approvals: Sequence[Approval], now: datetime) -> None:
    from evalgate.application.approvals.approve_change import decision_on
    from evalgate.application.history.run_record import run_identity

    stored = store.approvals.active(now.date())
    shell_approvals = [each.approval for each in stored if each.provenance.source == "shell"]
    decision = decision_on(finished.results, [*shell_approvals, *approvals], now)
    if decision is not None:
        store.runs.decide(run_identity(finished.results, finished.run_id), decision)


def withdraw(store_url: str | None, cwd: str, approval_id: str, source_date_epoch: str | None) -> str:
    """Ends an approval in the store today; returns the store's name. SettingError if there is no such one."""
    from evalgate.bootstrap.store import open_store

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
    from evalgate.bootstrap.store import open_store
    from evalgate.ports.store import EVERYTHING

    today = current_time(source_date_epoch).date()
    file = file_of(cwd)
    in_file = build_suite_files(cwd).load_approvals(file) if file is not None else []
    stored: Sequence[StoredApproval] = ()
    if store_url is not None:
        with open_store(store_url, cwd, create=False) as store:
            stored = store.approvals.list(EVERYTHING)
    path = results if results is not None else RESULTS if build_workspace(cwd).expand(RESULTS, ".") else None
    finished = build_baseline_files(cwd).load(path).results if path is not None else None
    return list_approvals(in_file, stored, finished, today)
