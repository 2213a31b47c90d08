"""Approvals in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.clock import SystemClock
from evalgate.bootstrap.named_store import NONE, find_store_url
from evalgate.errors import Problem, SettingError
from evalgate.features.store.bootstrap.store import find_repository, open_store, require_repository

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.features.store.ports import Store
    from evalgate.models.approvals.approval import Approval, StoredApproval
    from evalgate.models.results.results import ResultsDoc


class StoreApprovals:
    """The approvals of the store at a URL or path; implements `ApprovalStore`."""

    def __init__(self, store_url: str, cwd: str, source_date_epoch: str | None, repository: str | None = None) -> None:
        self._url, self._cwd, self._epoch, self._repository = store_url, cwd, source_date_epoch, repository

    def record(self, approvals: Sequence[Approval], results: ResultsDoc | None, run_id: str | None) -> str:
        """Adds approvals, and approves their run if it has no other failure; returns the store's name."""
        from evalgate.models.approvals.approval import Provenance, StoredApproval

        with open_store(self._url, self._cwd, source_date_epoch=self._epoch) as store:
            require_repository(store, self._repository)
            for approval in approvals:
                origin = (approval.provenance or Provenance("shell"))._replace(repository=self._repository)
                store.approvals.create(StoredApproval("", approval, origin))
            if results is not None:
                self._decide_run(store, results, run_id, approvals)
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
        from evalgate.features.store.application.history.run_recorder import list_own
        from evalgate.features.store.ports import EVERYTHING

        with open_store(self._url, self._cwd, create=False) as store:
            require_repository(store, self._repository)
            return list_own(store.approvals.list(EVERYTHING), store, self._repository)

    def _decide_run(self, store: Store, results: ResultsDoc, run_id: str | None, approvals: Sequence[Approval]) -> None:
        from evalgate.application.approvals.approve_change import decision_on
        from evalgate.application.documents.run_identity import run_identity
        from evalgate.features.store.application.history.run_recorder import list_own, list_shell_approvals

        now = SystemClock(self._epoch).now()
        given = list_own(list_shell_approvals(store, now.date()), store, self._repository)
        decision = decision_on(results, [*(each.approval for each in given), *approvals], now)
        if decision is not None:
            store.runs.decide(run_identity(results, run_id), decision)


def find_shell_approvals(flag: str | None, environ: Mapping[str, str], cwd: str) -> StoreApprovals | None:
    """Those of the store that flag, environment or project name; None if they name none."""
    store_url = find_store_url(flag, environ, cwd)
    if store_url in (None, NONE):
        return None
    return StoreApprovals(store_url, cwd, environ.get("SOURCE_DATE_EPOCH"), find_repository(environ))
