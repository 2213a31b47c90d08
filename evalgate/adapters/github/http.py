"""Sends HTTP requests with a strict deadline and a bounded body, following no redirect, and retries them."""

from __future__ import annotations

import json
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

    from evalgate.adapters.github.connection import Network, RequestDeadline


LARGEST_ANSWER = 10_000_000
ONE_REQUEST_SECONDS = 15.0
POLL_S = 0.2
SILENCE_SECONDS = 10.0
CHUNK = 65_536
LONGEST_CHAIN = 10
NO_CONTENT = 204


class NoAnswer(Unreachable):
    """No usable answer came; the request may or may not have been carried out."""


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
            raise Unreachable("the time limit for GitHub requests is used up")
        pace = self.deadline.pace
        silence = min(SILENCE_SECONDS, allowed) * pace
        call = _Call(self._open_session(), request, {**self._options(request.url), "timeout": silence})
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
        return {"proxies": {} if direct else dict(network.proxies), "verify": network.ca_bundle or True}

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
    def __init__(self, session: requests.Session, request: HttpRequest, route: dict[str, Any]) -> None:
        self._session, self._request, self._route = session, request, route
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
            message = f"no response ({_describe_error(error)})"
            self.failure = Unreachable(message) if _is_certificate_error(error) else NoAnswer(message)
        except Exception as error:  # noqa: BLE001 - raised again in the waiting thread
            self.failure = error

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
        (requests.exceptions.SSLError, "the certificate is not trusted"),
        (requests.Timeout, "timed out"),
        (requests.exceptions.ChunkedEncodingError, "the connection was interrupted"),
        (requests.ConnectionError, "the connection failed"),
    )
    return next((words for kind, words in kinds if isinstance(error, kind)), "the request failed")


TRIES = 3
LONGEST_WAIT = 30.0
TOO_MANY = 429
FORBIDDEN = 403
SERVER_ERROR = 500


class AnswerLost(Unreachable):
    """A change was sent and no answer came: it may have happened, so check before retrying."""


class StillPending(AnswerLost):
    """As AnswerLost, but the change may still happen: even after a check a retry could do it twice."""


def send_with_retries(
    send: Callable[[], HttpResponse], deadline: RequestDeadline, *, repeatable: bool, tries: int = TRIES
) -> HttpResponse:
    """Sends until the answer is not a temporary failure; the caller handles other error statuses.

    Raises Unreachable after `tries` attempts, or at once if the server asks for a longer wait than allowed.
    A request that is not `repeatable` is retried only if the answer shows that nothing was done.
    """
    error: Unreachable = Unreachable("no response")
    for attempt in range(tries):
        try:
            answer = send()
            pause = retry_delay(answer, attempt)
            if pause is None:
                return answer
            error = _error_from_answer(answer)
            lost = answer.status >= SERVER_ERROR
        except NoAnswer as failure:
            error, pause, lost = failure, float(2**attempt), True
        if lost and not repeatable:
            error_class = StillPending if isinstance(error, AnswerTooSlow) else AnswerLost
            raise error_class(*error.problems) from None
        if pause > LONGEST_WAIT or (attempt + 1 < tries and not deadline.wait(pause)):
            break
    raise error


def retry_delay(answer: HttpResponse, attempt: int) -> float | None:
    """Seconds to wait before a retry; None if a retry would not help."""
    header = answer.headers.get("Retry-After", "")
    if answer.status >= SERVER_ERROR:
        return float(header) if header.isdecimal() and len(header) < len("1000000") else float(2**attempt)
    if not is_rate_limited(answer):
        return None
    if header.isdecimal():
        return float(header[:9])
    if answer.headers.get("X-RateLimit-Remaining") == "0":
        return _seconds_until_reset(answer)
    return LONGEST_WAIT * 2  # GitHub asks for at least a minute if it names no time


def is_rate_limited(answer: HttpResponse) -> bool:
    """Whether this is one of GitHub's two rate limits and not a missing permission."""
    if answer.status == TOO_MANY:
        return True
    return answer.status == FORBIDDEN and (
        "Retry-After" in answer.headers
        or answer.headers.get("X-RateLimit-Remaining") == "0"
        or b"rate limit" in answer.body[:2_000].lower()
    )


def _seconds_until_reset(answer: HttpResponse) -> float:
    """Seconds until the rate limit resets, by the server's clock."""
    from email.utils import parsedate_to_datetime

    try:
        now = parsedate_to_datetime(answer.headers.get("Date", "")).timestamp()
        return max(1.0, float(answer.headers.get("X-RateLimit-Reset", "")[:12]) - now)
    except ValueError:
        return LONGEST_WAIT * 2


def _error_from_answer(answer: HttpResponse) -> Unreachable:
    if answer.status >= SERVER_ERROR:
        return Unreachable(f"GitHub returned status {answer.status}")
    return Unreachable("GitHub's rate limit is reached")
