"""Where an approval came from: who stands behind it, and at which commit."""

from __future__ import annotations

from typing import Literal, NamedTuple

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
