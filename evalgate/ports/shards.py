"""Shards of a run: written by one job, read back by the job that merges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol

from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


MAX_SHARDS = 1_000

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Meta(ge=0, le=10**9)]
Pattern = Annotated[str, Meta(max_length=4_096)]


class Shard(NamedTuple):
    """One of `of` shards of a run; `number` counts from 1."""

    number: int
    of: int

    def has_batch(self, suite: int, batch: int) -> bool:
        """Whether this shard judges a batch of a suite."""
        return (suite + batch) % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


class ShardHead(Struct, frozen=True, kw_only=True, rename={"schema_": "schema"}):
    """The heading of a shard.

    Shards of one run agree in all fields but `shard`. `plan` is the fingerprint of the names of files to read,
    `contents` has the digest of each, by path, `baseline` is that of the baseline's results; `batches` are the numbers
    of batches of each suite. `commit` is None if it is not known.
    """

    schema_: Literal["evalgate.shard/3"] = "evalgate.shard/3"
    evalgate_version: Annotated[str, Meta(max_length=50)]
    shard: Annotated[int, Meta(ge=1, le=MAX_SHARDS)]
    of: Annotated[int, Meta(ge=1, le=MAX_SHARDS)]
    config_hash: Digest
    baseline: Digest | None
    plan: Digest
    contents: Annotated[list[tuple[Pattern, Digest]], Meta(max_length=1_000_000)]
    keeps_traces: bool
    traces: Annotated[list[Pattern], Meta(max_length=10_000)] | None
    format: Annotated[str, Meta(max_length=100)] | None
    scenarios: Annotated[list[Pattern], Meta(max_length=10_000)] = []
    batches: Annotated[list[Count], Meta(max_length=100_000)]
    commit: Annotated[str, Meta(max_length=200)] | None = None


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
