"""Whether cassettes still match the agent: its files, its prompts as of the last replay, its suite, their age."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from datetime import timedelta

    from evalgate.features.record.models.cassette import Cassette, ReplayNote

FRESH, PROMPT_CHANGED, AGENT_CHANGED, OLD, UNUSED = (
    "fresh",
    "prompt changed",
    "agent changed",
    "older than max_age",
    "unused",
)


class SuiteFacts(Struct, frozen=True):
    """What the suite of a cassette says now; `is_listed`: it has the scenario, variant and trial."""

    is_listed: bool = True
    agent_hash: str | None = None
    longest_age: timedelta | None = None


class CassetteStatus(Struct, frozen=True):
    """A cassette's status; `states` is not empty."""

    path: str
    states: list[str]
    exchanges: int
    unused: int
    recorded_at: str


def find_status(
    path: str, cassette: Cassette, note: ReplayNote | None, facts: SuiteFacts, now: datetime
) -> CassetteStatus:
    """The status of one cassette."""
    unused = count_unused(cassette, note)
    oldest = min((each.recorded_at for each in cassette.exchanges), default=cassette.header.created)
    states = [
        *([PROMPT_CHANGED] if note is not None and note.misses else []),
        *([AGENT_CHANGED] if facts.agent_hash not in (None, cassette.header.agent_hash) else []),
        *([OLD] if facts.longest_age is not None and _age(oldest, now) > facts.longest_age else []),
        *([UNUSED] if unused or not facts.is_listed else []),
    ]
    return CassetteStatus(path, states or [FRESH], len(cassette.exchanges), unused, oldest)


def count_unused(cassette: Cassette, note: ReplayNote | None) -> int:
    """How many exchanges the last replay did not use; 0 if there was none, or it ended at a request that is missing."""
    if note is None or note.misses:
        return 0
    return sum(exchange.n > note.used.get(exchange.key, 0) for exchange in cassette.exchanges)


def drop_unused(cassette: Cassette, note: ReplayNote | None) -> Cassette:
    """The cassette without them."""
    if note is None:
        return cassette
    kept = [each for each in cassette.exchanges if each.n <= note.used.get(each.key, 0)]
    return type(cassette)(cassette.header, kept)


def _age(recorded_at: str, now: datetime) -> timedelta:
    return now - datetime.fromisoformat(recorded_at).astimezone(UTC)
