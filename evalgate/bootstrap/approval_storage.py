"""Reads and writes a shell's approvals: in the folder's file, or in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.bootstrap.shell_verbs import approvals as file_of
from evalgate.bootstrap.shell_verbs import now
from evalgate.bootstrap.sources import baseline_files, suite_files, workspace
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from evalgate.application.approvals.list_approvals import ListedApproval
    from evalgate.models.approvals.approval import Approval
    from evalgate.models.approvals.stored_approval import StoredApproval
    from evalgate.models.results.results import ResultsDoc
    from evalgate.ports.store import Store

RESULTS = ".evalgate/results.json"


class Finished(NamedTuple):
    """A finished run; `run_id` is the id of its workflow run."""

    results: ResultsDoc
    run_id: str | None = None


def write_approvals(cwd: str, approvals: Sequence[Approval]) -> str:
    """Adds approvals to the file; returns its path."""
    from evalgate.adapters.files.local_approvals import LocalApprovalsFile
    from evalgate.adapters.suites.approvals_writer import with_added
    from evalgate.models.approvals.approval import FILE

    file = file_of(cwd)
    content = with_added(file, approvals)
    LocalApprovalsFile(cwd).replace(file.content if file is not None else None, content)
    return FILE


def store_approvals(
    named: str,
    cwd: str,
    approvals: Sequence[Approval],
    source_date_epoch: str | None,
    finished: Finished | None = None,
) -> str:
    """Records approvals in a store; returns its name to display. Those from a comment keep their origin.

    Also approves the run they belong to, if the store has it and it has no other failure.
    """
    from evalgate.bootstrap.store import open_store
    from evalgate.models.approvals.provenance import Provenance
    from evalgate.models.approvals.stored_approval import StoredApproval

    with open_store(named, cwd, source_date_epoch=source_date_epoch) as store:
        for approval in approvals:
            origin = approval.provenance or Provenance("shell")
            store.approvals.create(StoredApproval("", approval, origin))
        if finished is not None:
            _decide(store, finished, approvals, now(source_date_epoch))
        return store.place


def _decide(store: Store, finished: Finished, given: Sequence[Approval], at: datetime) -> None:
    from evalgate.application.approvals.approve_change import decision_on
    from evalgate.application.history.run_record import run_identity

    found = store.approvals.active(at.date())
    before = [each.approval for each in found if each.provenance.source == "shell"]
    decided = decision_on(finished.results, [*before, *given], at)
    if decided is not None:
        store.runs.decide(run_identity(finished.results, finished.run_id), decided)


def withdraw(named: str | None, cwd: str, approval_id: str, source_date_epoch: str | None) -> str:
    """Ends an approval in the store today; returns the store's name. SettingError if there is no such one."""
    from evalgate.bootstrap.store import open_store

    if named is None:
        raise SettingError("only an approval of a store is withdrawn: name the store with --store-url")
    with open_store(named, cwd, create=False, source_date_epoch=source_date_epoch) as store:
        if not store.approvals.withdraw(approval_id):
            hint = "evalgate approvals --all --json shows the ids"
            raise SettingError(Problem(f"no approval {approval_id!r} holds in {store.place}", None, hint))
        return store.place


def listed_approvals(
    cwd: str, named: str | None, results: str | None, source_date_epoch: str | None
) -> list[ListedApproval]:
    """The approvals of the file and of the store, if named, each with its status.

    The status depends on a finished run: the named one, or the last one here; without it, only on the date.
    """
    from evalgate.application.approvals.list_approvals import list_approvals
    from evalgate.bootstrap.store import open_store
    from evalgate.ports.store import EVERYTHING

    today = now(source_date_epoch).date()
    file = file_of(cwd)
    in_file = suite_files(cwd).approvals(file) if file is not None else []
    stored: Sequence[StoredApproval] = ()
    if named is not None:
        with open_store(named, cwd, create=False) as store:
            stored = store.approvals.list(EVERYTHING)
    path = results or (RESULTS if workspace(cwd).expand(RESULTS, ".") else None)
    finished = baseline_files(cwd).load(path).results if path is not None else None
    return list_approvals(in_file, stored, finished, today)
