"""The finished run that a publishing workflow was started by, as GitHub's own event tells it."""

from __future__ import annotations

from evalgate.records import dataclass


@dataclass(frozen=True, slots=True)
class TriggeringRun:
    """Who made the run and at which commit. Names of branches and owners are a stranger's choice.

    `head_repository_id` is None, and `head_repository` empty, where the fork was deleted meanwhile.
    """

    id: int
    event: str
    head_repository_id: int | None
    head_repository: str  # owner/name
    head_branch: str
    head_sha: str
    is_ours: bool  # the commit lies in this very repository

    @property
    def head_owner(self) -> str:
        """Whose repository the commit lies in."""
        return self.head_repository.partition("/")[0]
