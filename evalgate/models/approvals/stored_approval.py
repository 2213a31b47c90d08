"""An approval in a store, with its provenance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.approvals.provenance import APPROVAL_ORIGINS as APPROVAL_ORIGINS  # noqa: PLC0414  re-exported
from evalgate.models.approvals.provenance import ApprovalOrigin as ApprovalOrigin  # noqa: PLC0414  re-exported
from evalgate.models.approvals.provenance import Provenance as Provenance  # noqa: PLC0414, TC001  re-exported
from evalgate.records import dataclass

if TYPE_CHECKING:
    from datetime import datetime

    from evalgate.models.approvals.approval import Approval


@dataclass(frozen=True, slots=True)
class StoredApproval:
    """One approval; `id` is empty and `recorded_at` None until it is stored."""

    id: str
    approval: Approval
    provenance: Provenance
    recorded_at: datetime | None = None
    withdrawn_at: datetime | None = None
