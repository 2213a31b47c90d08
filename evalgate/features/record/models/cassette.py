"""A cassette, `evalgate.exchange/1`: the recorded exchanges of one trial."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from evalgate.features.record.models.exchange import TrialId

CacheMode = Literal["off", "read", "auto", "write"]
MAX_BYTES = 20_000_000
WARN_BYTES = 1_000_000
MAX_EXCHANGES = 10_000


class CassetteHeader(Struct, kw_only=True):
    """The first line: the trial, and what the cassette was recorded by. `created` is RFC 3339."""

    suite: str | None = None
    scenario: str | None = None
    variant: str | None = None
    trial: int
    created: str
    evalgate: str
    rules_version: int
    agent_hash: str | None = None
    prompts_sha256: str | None = None
    commit: str | None = None
    synthetic: bool | None = None

    @property
    def trial_id(self) -> TrialId:
        """The trial that it is of."""
        return TrialId(self.suite, self.scenario, self.variant, self.trial)


class RecordedExchange(Struct):
    """One exchange as a line holds it: `request` is canonical, `key` its hash, `n` counts equal requests from 1.

    `response` has `status`, `headers` with `content-type` only, and one of `json`, `text`, `base64` or `events`; `text`
    beside `json` where the value, written with sorted keys, has other bytes than were recorded.
    """

    key: str
    n: int
    provider: str
    method: str
    path: str
    request: Any
    response: dict[str, Any]
    recorded_at: str
    duration_ms: float

    @property
    def canonical(self) -> dict[str, Any]:
        """The canonical request, of which `key` is the hash."""
        return {"provider": self.provider, "method": self.method, "path": self.path, "body": self.request}


class ReplayNote(Struct, frozen=True):
    """What the last replay of a cassette used: how often each key; `misses` are requests that it lacks."""

    used: dict[str, int]
    misses: int = 0


class Cassette(Struct):
    """A header and its exchanges in order."""

    header: CassetteHeader
    exchanges: list[RecordedExchange] = field(default_factory=list)
