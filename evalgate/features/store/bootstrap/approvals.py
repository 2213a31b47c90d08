"""Approvals in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.clock import SystemClock
from evalgate.bootstrap.named_store import NONE, find_store_url
from evalgate.errors import Problem, SettingError
from evalgate.features.store.bootstrap.store import open_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from evalgate.features.store.ports import Store
    from evalgate.models.approvals.approval import Approval, StoredApproval
    from evalgate.models.results.results import ResultsDoc


class StoreApprovals:
    """The approvals of the store at a URL or path; implements `ApprovalStore`."""

    def __init__(self, store_url: str, cwd: str, source_date_epoch: str | None) -> None:
        self._url, self._cwd, self._epoch = store_url, cwd, source_date_epoch

    def record(self, approvals: Sequence[Approval], results: ResultsDoc | None, run_id: str | None) -> str:
        """Adds approvals, and approves their run if it has no other failure; returns the store's name."""
        from evalgate.models.approvals.approval import Provenance, StoredApproval

        with open_store(self._url, self._cwd, source_date_epoch=self._epoch) as store:
            for approval in approvals:
                origin = approval.provenance or Provenance("shell")
                store.approvals.create(StoredApproval("", approval, origin))
            if results is not None:
                _decide_run(store, results, run_id, approvals, SystemClock(self._epoch).now())
            return store.display_url

    def withdraw(self, approval_id: str) -> str:
        """Ends an approval today; returns the store's name. SettingError if there is no such one."""
        with open_store(self._url, self._cwd, create=False, source_date_epoch=self._epoch) as store:
            if not store.approvals.withdraw(approval_id):
                hint = "evalgate approvals --all --json shows the ids"
                raise SettingError(Problem(f"no active approval {approval_id!r} in {store.display_url}", None, hint))
            return store.display_url

    def list(self) -> Sequence[StoredApproval]:
        """All approvals; the store must exist."""
        from evalgate.features.store.ports import EVERYTHING

        with open_store(self._url, self._cwd, create=False) as store:
            return store.approvals.list(EVERYTHING)


def find_shell_approvals(flag: str | None, environ: Mapping[str, str], cwd: str) -> StoreApprovals | None:
    """Those of the store that flag, environment or project name; None if they name none."""
    store_url = find_store_url(flag, environ, cwd)
    return None if store_url in (None, NONE) else StoreApprovals(store_url, cwd, environ.get("SOURCE_DATE_EPOCH"))


def _decide_run(
    store: Store, results: ResultsDoc, run_id: str | None, approvals: Sequence[Approval], now: datetime
) -> None:
    from evalgate.application.approvals.approve_change import decision_on
    from evalgate.application.documents.run_identity import run_identity

    stored = store.approvals.active(now.date())
    shell_approvals = [each.approval for each in stored if each.provenance.source == "shell"]
    decision = decision_on(results, [*shell_approvals, *approvals], now)
    if decision is not None:
        store.runs.decide(run_identity(results, run_id), decision)
