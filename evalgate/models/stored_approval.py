"""An approval as a store keeps it: what is approved, and where the word came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from evalgate.records import dataclass

if TYPE_CHECKING:
    from datetime import datetime

    from evalgate.models.approval import Approval

ApprovalOrigin = Literal["file", "comment", "shell"]

APPROVAL_ORIGINS: tuple[ApprovalOrigin, ...] = ("file", "comment", "shell")


class Provenance(NamedTuple):
    """Who said it where. `permission` is what the person may do in the repository, as GitHub says."""

    source: ApprovalOrigin
    pull_request: int | None = None
    comment_id: int | None = None
    comment_url: str | None = None
    head_commit: str | None = None
    permission: str | None = None
    self_approved: bool = False


@dataclass(frozen=True, slots=True)
class StoredApproval:
    """One approval; `id` is empty and `recorded_at` None until it is stored."""

    id: str
    approval: Approval
    provenance: Provenance
    recorded_at: datetime | None = None
    withdrawn_at: datetime | None = None
