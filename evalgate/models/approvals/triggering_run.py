"""The finished run that triggered a publishing workflow, from GitHub's event."""

from __future__ import annotations

from msgspec import Struct


class TriggeringRun(Struct, frozen=True):
    """A run and its commit. Names of branches and owners are untrusted.

    `head_repository_id` is None, and `head_repository` empty, if the fork was deleted.
    """

    id: int
    event: str
    head_repository_id: int | None
    head_repository: str  # owner/name
    head_branch: str
    head_sha: str
    is_same_repository: bool  # the commit is in this repository, not in a fork

    @property
    def head_owner(self) -> str:
        """The owner of the repository that has the commit."""
        return self.head_repository.partition("/")[0]
