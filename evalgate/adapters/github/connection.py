"""Connection settings for GitHub: servers, tokens, proxies, and the time that requests may take."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WHOLE_RUN_SECONDS = 60.0
"""Time that one run may spend waiting for GitHub, at most half of it before the verdict."""


class Network(Struct, frozen=True):
    """Proxies by scheme, hosts reached without one, and a file of trusted certificates."""

    proxies: Mapping[str, str] = field(default_factory=dict)
    no_proxy: str = ""
    ca_bundle: str = ""

    def __repr__(self) -> str:  # without secrets
        return "Network(...)"


class Site(Struct, frozen=True):
    """A repository on a GitHub server; its repr shows no tokens."""

    api_url: str
    server_url: str
    repository: str
    repository_id: int
    token: str = ""
    results_url: str = ""
    runtime_token: str = ""
    network: Network = field(default_factory=Network)

    def __repr__(self) -> str:  # without secrets
        return "Site(...)"


class RequestDeadline:
    """A budget of seconds to wait for answers; time between requests is not counted.

    `pace` is the real duration of one budgeted second: tests let time pass faster.
    """

    def __init__(
        self,
        seconds: float = WHOLE_RUN_SECONDS,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        pace: float = 1.0,
        parent: RequestDeadline | None = None,
    ) -> None:
        self._left = seconds
        self._clock = clock
        self._sleep = sleep
        self._parent = parent
        self.pace = pace

    def take_half(self) -> RequestDeadline:
        """A deadline with half of the remaining time; what it spends is spent here too."""
        return RequestDeadline(
            self.seconds_left() / 2, clock=self._clock, sleep=self._sleep, pace=self.pace, parent=self
        )

    def seconds_left(self) -> float:
        """The remaining seconds, at least 0."""
        seconds = self._left if self._parent is None else min(self._left, self._parent.seconds_left())
        return max(0.0, seconds)

    def spend(self, seconds: float) -> None:
        """Subtracts the duration of a request."""
        self._left -= seconds
        if self._parent is not None:
            self._parent.spend(seconds)

    def clock(self) -> float:
        """Seconds since an arbitrary time."""
        return self._clock() / self.pace

    def wait(self, seconds: float) -> bool:
        """Sleeps if enough time remains; otherwise returns False at once."""
        if seconds >= self.seconds_left():
            return False
        self._sleep(seconds * self.pace)
        self.spend(seconds)
        return True


def origin(url: str) -> str:
    """Scheme, host and port of a URL, which decide who gets a token. Empty for an invalid URL."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
    except ValueError:
        return ""
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}"
