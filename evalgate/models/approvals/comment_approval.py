"""An approval from a comment whose author is authorised; what it approves is looked up later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from datetime import date

    from evalgate.models.approvals.provenance import Provenance


@dataclass(frozen=True, slots=True)
class CommentApproval:
    """One `/evalgate approve`. `scenario` is None for all that failed; `until` is the last valid day.

    `report` is the results document that the person saw; it contains what failed, and how badly.
    """

    scenario: str | None
    until: date
    reason: str
    who: str
    provenance: Provenance
    report: bytes = field(repr=False)

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"the approval by {self.who} in comment {self.provenance.comment_id}"
