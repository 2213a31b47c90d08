"""Where shards of a run are left and found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.shards.shard import ShardHead


class ShardDraft(Protocol):
    """A shard that is being written."""

    def add(self, found: bytes, lines: Sequence[bytes]) -> None:
        """One batch: what was found in it, as a line of JSON, and its traces for a baseline."""

    def finish(self, head: ShardHead) -> None:
        """Writes the shard whole."""

    def close(self) -> None:
        """Drops what was not finished."""


class OpenShard(Protocol):
    """A shard that is read back. Its content may be a stranger's."""

    @property
    def path(self) -> str:
        """Where it lies."""

    @property
    def head(self) -> ShardHead:
        """Its heading."""

    def found(self) -> Iterator[bytes]:
        """What was found in its batches, a line each; raises SettingError for a damaged one."""

    def lines(self) -> Iterator[bytes]:
        """The traces that it keeps for a baseline; raises SettingError for a damaged one."""
