"""Approvals of a shell: in the file of the working directory, and in a store if one is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.shell_tools import read_approvals
from evalgate.bootstrap.sources import build_baseline_files, build_suite_files, build_workspace
from evalgate.models.results.document_names import RESULTS_PATH

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from evalgate.application.approvals.approve_change import ListedApproval
    from evalgate.models.approvals.approval import Approval
    from evalgate.ports.store import ApprovalStore


def write_approvals(cwd: str, approvals: Sequence[Approval]) -> str:
    """Adds approvals to the file; returns its path."""
    from evalgate.adapters.files.project_files import LocalApprovalsFile
    from evalgate.adapters.suites.approvals_file import append_approvals
    from evalgate.models.approvals.approval import FILE

    file = read_approvals(cwd)
    content = append_approvals(file, approvals)
    LocalApprovalsFile(cwd).replace(file.content if file is not None else None, content)
    return FILE


def load_listed_approvals(
    cwd: str, store: ApprovalStore | None, results: str | None, today: date
) -> list[ListedApproval]:
    """The approvals of the file and of the store, if there is one, each with its status.

    The status depends on a finished run: the named one, or the last one here; without it, only on the date.
    """
    from evalgate.application.approvals.approve_change import list_approvals

    file = read_approvals(cwd)
    in_file = build_suite_files(cwd).load_approvals(file) if file is not None else []
    stored = store.list() if store is not None else ()
    path = results if results is not None else RESULTS_PATH if build_workspace(cwd).expand(RESULTS_PATH, ".") else None
    finished = build_baseline_files(cwd).load(path).results if path is not None else None
    return list_approvals(in_file, stored, finished, today)
