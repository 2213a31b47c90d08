"""Sends HTTP requests with a strict deadline and a bounded body, following no redirect."""

from __future__ import annotations

import json
import time
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from msgspec import Struct, field

from evalgate.errors import Unreachable
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import requests


LARGEST_ANSWER = 10_000_000
ONE_REQUEST_SECONDS = 15.0
POLL_S = 0.2
SILENCE_SECONDS = 10.0
CHUNK = 65_536
LONGEST_CHAIN = 10
NO_CONTENT = 204
PROXY_LOGIN = 407
REFUSED_TUNNEL = f"Tunnel connection failed: {PROXY_LOGIN}"
"""How Python words that a proxy refuses to connect."""
WHOLE_RUN_SECONDS = 60.0
"""Time that one run may spend waiting for GitHub, at most half of it before the verdict."""


class Network(Struct, frozen=True):
    """Proxies by scheme, hosts reached without one, and a file of trusted certificates."""

    proxies: Mapping[str, str] = field(default_factory=dict)
    no_proxy: str = ""
    ca_bundle: str = ""

    def __repr__(self) -> str:  # without secrets
        return "Network(...)"

    def name_proxy(self, url: str) -> str:
        """The host of the proxy for a URL."""
        return urlsplit(self.proxies.get(urlsplit(url).scheme, "")).hostname or ""


def find_bundle_fault(path: str) -> str:
    """Why no certificate of this file can be trusted; empty if some can, for a folder, and without a path."""
    named = f"the file {path} of REQUESTS_CA_BUNDLE"
    try:
        is_fit = not path or Path(path).is_dir() or b"-----BEGIN " in Path(path).read_bytes()
    except FileNotFoundError:
        return f"{named} is not visible to this step"
    except (OSError, ValueError):
        return f"{named} can't be read"
    return "" if is_fit else f"{named} holds no certificate in PEM form"


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

    def renew(self, seconds: float) -> RequestDeadline:
        """A deadline with the same clock; what it spends is not spent here."""
        return RequestDeadline(seconds, clock=self._clock, sleep=self._sleep, pace=self.pace)

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


class NoAnswer(Unreachable):
    """No usable answer came; the request may or may not have been carried out."""


class NetworkRefused(Unreachable):
    """A proxy, or certificates, that the machine has to be set up for: asking again does not help."""


class AnswerTooSlow(NoAnswer):
    """The answer did not come in time; the request may still be carried out."""


class AnswerTooLarge(Unreachable):
    """The body is larger than the limit."""


class BodySink(Protocol):
    """Takes a body that is not held in memory."""

    def write(self, data: bytes, /) -> object:
        """Takes the next piece."""


class HttpRequest(Struct, frozen=True):
    """A request. `limit` bounds the answer's body in bytes; a `sink` takes the body if the status is 200."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    token: str = ""
    limit: int = LARGEST_ANSWER
    seconds: float = ONE_REQUEST_SECONDS
    connect_seconds: float = SILENCE_SECONDS
    sink: BodySink | None = None

    def __repr__(self) -> str:  # without secrets
        return "HttpRequest(...)"

    @property
    def redacted_line(self) -> str:
        """Method and URL without the parts that may hold credentials: query, user name and password."""
        parts = urlsplit(self.url)
        return f"{self.method} {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


class HttpResponse(Struct, frozen=True):
    """A response. `headers` are case-insensitive."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    def json(self) -> Any:
        """The parsed body, None for status 204. Raises NoAnswer if it is not JSON."""
        if self.status == NO_CONTENT:
            return None
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise NoAnswer("the response is not JSON") from None


class Http:
    """Sends requests. The first one imports the library and connects."""

    def __init__(self, network: Network, deadline: RequestDeadline) -> None:
        self._network = network
        self._session: requests.Session | None = None
        self.deadline = deadline

    def send(self, request: HttpRequest) -> HttpResponse:
        """The response, of any status. Raises NoAnswer, or Unreachable if time or size run out.

        A thread does the work and is abandoned at the deadline: the library's timeouts don't stop a server
        that sends a byte now and then.
        """
        allowed = min(request.seconds, self.deadline.seconds_left())
        if allowed <= 0:
            raise Unreachable("the time limit for requests is used up")
        pace = self.deadline.pace
        silence = min(SILENCE_SECONDS, allowed) * pace
        call = _Call(
            self._open_session(),
            request,
            self._network,
            {**self._options(request.url), "timeout": (min(request.connect_seconds * pace, silence), silence)},
        )
        started = self.deadline.clock()
        worker = Thread(target=call.run, daemon=True)
        worker.start()
        _wait_for(worker, allowed * pace)
        self.deadline.spend(self.deadline.clock() - started)
        if worker.is_alive():
            call.abandoned = True
            self._session = None
            raise AnswerTooSlow(f"no complete response within {allowed:.0f} s")
        if call.failure is not None:
            raise call.failure
        return call.answer

    def open_another(self, seconds: float) -> Http:
        """A client for another thread, with connections and a deadline of its own."""
        return Http(self._network, self.deadline.renew(seconds))

    def _open_session(self) -> requests.Session:
        if self._session is None:
            import requests

            self._session = requests.Session()
            self._session.trust_env = False  # no .netrc, and only the given proxy and CA bundle
            # Otherwise the library reads the body of a redirect, of any size, to find its target.
            self._session.get_redirect_target = _no_redirect_target  # type: ignore[assignment, method-assign]
            self._session.headers.clear()
            self._session.headers["User-Agent"] = f"evalgate/{__version__}"
            self._session.headers["Accept-Encoding"] = "identity"
        return self._session

    def _options(self, url: str) -> dict[str, Any]:
        from requests.utils import should_bypass_proxies

        network = self._network
        direct = not network.proxies or should_bypass_proxies(url, no_proxy=network.no_proxy)
        trusted = network.ca_bundle if network.ca_bundle and not find_bundle_fault(network.ca_bundle) else True
        return {"proxies": {} if direct else dict(network.proxies), "verify": trusted}

    def close(self) -> None:
        """Closes the connections."""
        if self._session is not None:
            self._session.close()
            self._session = None


def _wait_for(worker: Thread, seconds: float) -> None:
    """Waits in short steps, so that this thread handles signals that the system gave to the other one."""
    until = monotonic() + seconds
    while worker.is_alive() and (left := until - monotonic()) > 0:
        worker.join(min(left, POLL_S))


class _Call:
    def __init__(
        self, session: requests.Session, request: HttpRequest, network: Network, route: dict[str, Any]
    ) -> None:
        self._session, self._request, self._network, self._route = session, request, network, route
        self.answer = HttpResponse(0, {})
        self.failure: Exception | None = None
        self.abandoned = False

    def run(self) -> None:
        import requests

        try:
            self.answer = self._exchange()
        except requests.ReadTimeout:
            self.failure = AnswerTooSlow("no response (timed out)")
        except (requests.RequestException, OSError, ValueError) as error:  # ValueError: an invalid URL
            refusal = self._describe_refusal(error)
            self.failure = NetworkRefused(refusal) if refusal else NoAnswer(f"no response ({_describe_error(error)})")
        except Exception as error:  # noqa: BLE001 - raised again in the waiting thread
            self.failure = error

    def _describe_refusal(self, error: Exception) -> str:
        """What of this machine's network has to be set up differently; empty for another error."""
        if REFUSED_TUNNEL in str(error):
            return self._describe_proxy()
        if not _is_certificate_error(error):
            return ""
        fault = find_bundle_fault(self._network.ca_bundle) or "REQUESTS_CA_BUNDLE names a file of those to trust"
        return f"no response (the certificate is not trusted: {fault})"

    def _describe_proxy(self) -> str:
        host = self._network.name_proxy(self._request.url)
        return f"the proxy {host} refused user and password ({PROXY_LOGIN})"

    def _exchange(self) -> HttpResponse:
        request = self._request
        with self._session.request(
            request.method,
            request.url,
            headers=dict(request.headers),
            data=request.body,
            auth=_bearer(request.token),
            stream=True,
            allow_redirects=False,
            **self._route,
        ) as response:
            if response.status_code == PROXY_LOGIN:
                raise NetworkRefused(self._describe_proxy())
            return HttpResponse(response.status_code, response.headers, self._read_body(response))

    def _read_body(self, response: requests.Response) -> bytes:
        request, body, size = self._request, bytearray(), 0
        into_sink = request.sink is not None and response.status_code == 200  # noqa: PLR2004
        for chunk in response.iter_content(CHUNK):
            size += len(chunk)
            if size > request.limit:
                raise AnswerTooLarge(f"the response is larger than {request.limit:,} bytes")
            if self.abandoned:
                break
            if into_sink and request.sink is not None:
                request.sink.write(chunk)
            else:
                body += chunk
        return bytes(body)


def _no_redirect_target(_: requests.Response) -> None:
    """Hides redirects from the library: the client follows them itself."""


def _bearer(token: str) -> Any:
    """Authorization in a form that no .netrc in the job's home folder can replace."""
    from requests.auth import AuthBase

    class Bearer(AuthBase):
        def __call__(self, prepared: requests.PreparedRequest) -> requests.PreparedRequest:
            if token:
                prepared.headers["Authorization"] = f"Bearer {token}"
            return prepared

    return Bearer()


def _is_certificate_error(error: BaseException | None) -> bool:
    """Whether the server's certificate is not trusted: nothing was sent, and a retry would not help."""
    import ssl

    for _ in range(LONGEST_CHAIN):
        if error is None or isinstance(error, ssl.SSLCertVerificationError):
            break
        error = error.__cause__ or error.__context__
    return isinstance(error, ssl.SSLCertVerificationError)


def _describe_error(error: Exception) -> str:
    """Describes the error in fixed words: the library's text may hold a URL with credentials in its query."""
    import requests

    kinds = (
        (requests.exceptions.ProxyError, "the proxy failed"),
        (requests.exceptions.SSLError, "the encrypted connection failed"),
        (requests.Timeout, "timed out"),
        (requests.exceptions.ChunkedEncodingError, "the connection was interrupted"),
        (requests.ConnectionError, "the connection failed"),
    )
    return next((words for kind, words in kinds if isinstance(error, kind)), "the request failed")
