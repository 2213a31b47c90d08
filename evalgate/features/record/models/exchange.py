"""One request of an agent to a model provider, with its answer. Times are seconds since 1970, durations ms."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, NamedTuple

from msgspec import Struct, field

EVENT_STREAM = "text/event-stream"
JSON = "application/json"
NO_ANSWER = 502
"""The status that an agent gets if the provider could not be reached."""
GOT_NO_ANSWER = "evalgate record gets no answer of the model provider: "
"""What the text of that answer begins with; why follows."""
FIRST_ERROR = 400
"""The least status of an answer that is an error."""


MAX_TRIAL = 1_000_000


class TrialId(NamedTuple):
    """The trial that a recording belongs to; `scenario` is None if nothing names one."""

    suite: str | None = None
    scenario: str | None = None
    variant: str | None = None
    trial: int = 0

    def __str__(self) -> str:
        name = self.scenario or "unattributed"
        return f"{name}{f'@{self.variant}' if self.variant else ''} (trial {self.trial})"


class ProviderRequest(Struct, frozen=True):
    """A request as the agent made it; `path` follows the provider's base URL, `query` holds only what is kept."""

    provider: str
    method: str
    path: str
    content_type: str
    body: bytes
    query: tuple[tuple[str, str], ...] = ()


class ProviderAnswer(Struct):
    """An answer: of one chunk, or of one chunk an event of a stream, each with the milliseconds until it came.

    `is_broken`: the connection ended before the answer was complete.
    """

    status: int
    content_type: str
    chunks: list[tuple[float, bytes]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    is_broken: bool = False

    @property
    def is_stream(self) -> bool:
        """Whether it is a stream of server-sent events."""
        return self.content_type.partition(";")[0].strip().lower() == EVENT_STREAM

    @property
    def body(self) -> bytes:
        """All chunks together."""
        return b"".join(chunk for _, chunk in self.chunks)


class Exchange(Struct):
    """A request and its answer; a replayed one has the times at which it was recorded."""

    request: ProviderRequest
    answer: ProviderAnswer
    started_at: float
    duration_ms: float
    is_replayed: bool = False
    arrived_at: float = 0.0
    """When the agent made the request; differs from `started_at` in a replay."""


CostKind = Literal["metered", "list_price", "unknown"]


class CallCost(NamedTuple):
    """What one call cost in US dollars: as the provider says, by its tokens and a list of prices, or unknown.

    `reason` is why it is unknown.
    """

    kind: CostKind
    usd: float = 0.0
    reason: str = ""


class FailedCall(NamedTuple):
    """A model call that failed, and the text that says why. `is_broken`: its answer did not come whole, or at all."""

    provider: str
    status: int
    message: str
    is_broken: bool

    @property
    def has_no_answer(self) -> bool:
        """Whether the provider could not be reached."""
        return self.is_broken and self.status == NO_ANSWER


def format_time(seconds: float) -> str:
    """RFC 3339 in UTC, with milliseconds.

    >>> format_time(0.5)
    '1970-01-01T00:00:00.500Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
