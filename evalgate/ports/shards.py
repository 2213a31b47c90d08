"""Shards of a run: written by one job, read back by the job that merges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.shards.shard import ShardHead


class ShardDraft(Protocol):
    """A shard that is being written."""

    def add(self, batch: bytes, trace_lines: Sequence[bytes]) -> None:
        """Adds one batch: its findings as a line of JSON, and its traces for a baseline."""

    def finish(self, head: ShardHead) -> None:
        """Writes the whole shard."""

    def close(self) -> None:
        """Discards an unfinished shard."""


class OpenShard(Protocol):
    """A shard that is read back. Its content is untrusted."""

    @property
    def path(self) -> str:
        """Path of the shard."""

    @property
    def head(self) -> ShardHead:
        """Its header."""

    def read_batches(self) -> Iterator[bytes]:
        """Its batches, one line of JSON each; raises SettingError for a damaged one."""

    def read_traces(self) -> Iterator[bytes]:
        """The traces it keeps for a baseline; raises SettingError for a damaged one."""
