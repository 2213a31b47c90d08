"""Where an approval was given: in a file, a comment or a shell, and for which commit."""

from __future__ import annotations

from typing import Literal, NamedTuple

ApprovalOrigin = Literal["file", "comment", "shell"]

APPROVAL_ORIGINS: tuple[ApprovalOrigin, ...] = ("file", "comment", "shell")


class Provenance(NamedTuple):
    """Where an approval was given. `permission` is the person's permission in the repository, from GitHub."""

    source: ApprovalOrigin
    pull_request: int | None = None
    comment_id: int | None = None
    comment_url: str | None = None
    head_commit: str | None = None
    permission: str | None = None
    self_approved: bool = False
