"""Lists every approval with its ruling."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.gate.decision.approvals import rule_by_date

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from evalgate.models.approvals.approval import Approval, ApprovalRuling, StoredApproval
    from evalgate.models.results.results import ResultsDoc


class ListedApproval(NamedTuple):
    """The ruling on one approval; `id` is its id in the store, None if it comes from the file."""

    ruling: ApprovalRuling
    id: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has expired."""
        return self.ruling.status == "expired"


def list_approvals(
    in_file: Sequence[Approval], stored: Sequence[StoredApproval], finished: ResultsDoc | None, today: date
) -> list[ListedApproval]:
    """Those of the file, then those of the store, oldest first.

    With a finished run, they are ruled on by its results, otherwise by date alone. Approvals in comments are
    always ruled on by date, since they count for one commit of a pull request.
    """
    own = [each for each in stored if each.withdrawn_at is None and each.provenance.source != "comment"]
    counting = [*in_file, *(each.approval for each in own)]
    rulings = _rulings(counting, finished, today)
    by_id = {each.id: ruling for each, ruling in zip(own, rulings[len(in_file) :], strict=True)}
    return [
        *(ListedApproval(ruling) for ruling in rulings[: len(in_file)]),
        *(ListedApproval(by_id.get(each.id) or _rule_separately(each, today), each.id) for each in stored),
    ]


def _rulings(approvals: Sequence[Approval], finished: ResultsDoc | None, today: date) -> Sequence[ApprovalRuling]:
    if finished is None:
        return rule_by_date(approvals, today)
    from evalgate.application.approvals.approve_change import rulings_on

    return rulings_on(finished, approvals, today)


def _rule_separately(stored: StoredApproval, today: date) -> ApprovalRuling:
    """The ruling on an approval that was withdrawn or counts elsewhere."""
    (ruling,) = rule_by_date([stored.approval], today)
    if stored.withdrawn_at is None:
        return ruling
    return ruling._replace(status="expired", message=f"withdrawn on {stored.withdrawn_at.date().isoformat()}")
