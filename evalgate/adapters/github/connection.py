"""Where GitHub is, who we are there, and how much time we give it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WHOLE_RUN_SECONDS = 60.0
"""What one run may spend waiting for GitHub, at most half of it before the verdict."""


@dataclass(frozen=True, slots=True)
class Network:
    """Proxies by scheme, hosts reached without one, and a file of trusted certificates."""

    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)
    no_proxy: str = ""
    ca_bundle: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """One repository on one GitHub; tokens stay out of its repr."""

    api_url: str
    server_url: str
    repository: str
    repository_id: int
    token: str = field(default="", repr=False)
    results_url: str = ""
    runtime_token: str = field(default="", repr=False)
    network: Network = field(default_factory=Network)


class RequestDeadline:
    """Seconds that may be spent waiting; work of our own between requests costs nothing.

    `pace` is how many real seconds one of these lasts: a trial run lets time pass faster.
    """

    def __init__(
        self,
        seconds: float = WHOLE_RUN_SECONDS,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        pace: float = 1.0,
        whole: RequestDeadline | None = None,
    ) -> None:
        self._left = seconds
        self._clock = clock
        self._sleep = sleep
        self._whole = whole
        self.pace = pace

    def half(self) -> RequestDeadline:
        """A budget of half of what is left; what is spent of it is spent of this one too."""
        return RequestDeadline(
            self.left() / 2, clock=self._clock, sleep=self._sleep, pace=self.pace, whole=self
        )

    def left(self) -> float:
        """Seconds that are left, never below 0."""
        left = self._left if self._whole is None else min(self._left, self._whole.left())
        return max(0.0, left)

    def spend(self, seconds: float) -> None:
        """Takes off what a request took."""
        self._left -= seconds
        if self._whole is not None:
            self._whole.spend(seconds)

    def clock(self) -> float:
        """Seconds since some moment."""
        return self._clock() / self.pace

    def wait(self, seconds: float) -> bool:
        """Sleeps if the budget allows it; False, at once, where it does not."""
        if seconds >= self.left():
            return False
        self._sleep(seconds * self.pace)
        self.spend(seconds)
        return True


def origin(url: str) -> str:
    """Scheme, host and port of an address: the part that decides who gets a token. Empty of what is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
    except ValueError:
        return ""
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}"
