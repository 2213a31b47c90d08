"""A shard of a run, and the heading by which shards are merged."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

SCHEMA: Literal["evalgate.shard/2"] = "evalgate.shard/2"
MAX_SHARDS = 1_000

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=10**9)]
Pattern = Annotated[str, Field(max_length=4_096)]


class Shard(NamedTuple):
    """One of `of` shards of a run; `number` counts from 1."""

    number: int
    of: int

    def has_batch(self, suite: int, batch: int) -> bool:
        """Whether this shard judges a batch of a suite."""
        return (suite + batch) % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


class ShardHead(BaseModel):
    """The heading of a shard.

    Shards of one run agree in all fields but `shard`. `plan` is the fingerprint of the files to read,
    `baseline` that of the baseline's results; `batches` are the numbers of batches of each suite.
    """

    model_config = ConfigDict(strict=True, frozen=True)

    schema_: Annotated[Literal["evalgate.shard/2"], Field(alias="schema")] = SCHEMA
    evalgate_version: Annotated[str, Field(max_length=50)]
    shard: Annotated[int, Field(ge=1, le=MAX_SHARDS)]
    of: Annotated[int, Field(ge=1, le=MAX_SHARDS)]
    config_hash: Digest
    baseline: Digest | None
    plan: Digest
    keeps_traces: bool
    traces: Annotated[list[Pattern], Field(max_length=10_000)] | None
    format: Annotated[str, Field(max_length=100)] | None
    batches: Annotated[list[Count], Field(max_length=100_000)]
