"""Sends requests to a tracker: retries temporary failures, and words every failure in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import orjson
from msgspec import Struct, field

from evalgate.adapters.http import HttpRequest, NoAnswer
from evalgate.errors import Problem, TrackerRefused, TrackerUnreachable, Unreachable
from evalgate.measures.redaction.redact import redact, remove_exact_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    from evalgate.adapters.http import Http, HttpResponse

Found = TypeVar("Found")
LARGEST_ANSWER = 1_000_000
LARGEST_BODY = 20_000_000
CONNECT_SECONDS = 5.0
TRIES = 3
RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
BAD_KEY = frozenset({401, 403})
NOT_FOUND, FIRST_REDIRECT, FIRST_ERROR = 404, 300, 400
SHOWN = 300
"""Characters of a tracker's own words that are shown."""


class TrackerAccount(Struct, frozen=True):
    """Where a tracker is and how to be let in: `headers` hold the key, `key_variable` and `url_variable` name both."""

    name: str
    base: str
    key_variable: str
    url_variable: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:  # without secrets
        return "TrackerAccount(...)"


class TrackerSender:
    """Sends JSON to one tracker, within the deadline of `http`."""

    def __init__(self, account: TrackerAccount, http: Http) -> None:
        self._account, self._http = account, http

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        allowed: Container[int] = (),
        tries: int = TRIES,
        limit: int = LARGEST_ANSWER,
    ) -> HttpResponse:
        """The answer, of a success or of an `allowed` status; raises TrackerUnreachable or TrackerRefused.

        A request is repeated after a temporary failure; with one of `tries` it need not be the same twice as once.
        """
        content = None if body is None else remove_exact_secrets(orjson.dumps(body))
        headers = {**self._account.headers, "Accept": "application/json"}
        if content is not None:
            headers["Content-Type"] = "application/json"
        request = HttpRequest(
            method,
            self._account.base + path,
            headers,
            content,
            limit=limit,
            connect_seconds=CONNECT_SECONDS,
        )
        answer = self._send_with_retries(request, tries)
        if answer.status < FIRST_REDIRECT or answer.status in allowed:
            return answer
        raise self.describe_refusal(answer)

    def open_another(self, seconds: float) -> TrackerSender:
        """A sender to the same tracker for another thread, with time of its own."""
        return TrackerSender(self._account, self._http.open_another(seconds))

    def seconds_left(self) -> float:
        """The seconds that are left to wait for answers, at least 0."""
        return self._http.deadline.seconds_left()

    def spend(self, seconds: float) -> None:
        """Subtracts what other senders have waited in the meantime."""
        self._http.deadline.spend(seconds)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def read_json(self, answer: HttpResponse) -> Any:
        """The parsed answer; raises TrackerUnreachable if it is not JSON."""
        try:
            return answer.json()
        except Unreachable as error:
            raise self._unreachable(error) from None

    def find_or_create(self, find: Callable[[], Found | None], create: Callable[[], Found]) -> Found:
        """What `find` finds, else what `create` makes with one request that is not repeated.

        After a failure it is looked for before the next attempt: the request may have been carried out.
        """
        failure: TrackerUnreachable | TrackerRefused = TrackerUnreachable(f"{self._account.name} did not answer")
        for attempt in range(TRIES):
            found = find()
            if found is not None:
                return found
            try:
                return create()
            except TrackerUnreachable as error:
                failure = error
            except TrackerRefused as error:  # as a service does whose name another job was faster to take
                failure = error
                break
            if not self._http.deadline.wait(2.0**attempt):
                break
        found = find()
        if found is None:
            raise failure
        return found

    def _send_with_retries(self, request: HttpRequest, tries: int) -> HttpResponse:
        failure = TrackerUnreachable(f"{self._account.name} did not answer")
        for attempt in range(tries):
            pause = float(2**attempt)
            try:
                answer = self._http.send(request)
            except NoAnswer as error:
                failure = self._unreachable(error)
            except Unreachable as error:
                raise self._unreachable(error) from None
            else:
                if answer.status not in RETRIED:
                    return answer
                failure = TrackerUnreachable(f"{self._account.name} returned status {answer.status}")
                header = answer.headers.get("Retry-After", "")
                pause = float(header[:9]) if header.isdecimal() and header.isascii() else pause
            if attempt + 1 < tries and not self._http.deadline.wait(pause):
                break
        raise failure

    def _unreachable(self, error: Unreachable) -> TrackerUnreachable:
        return TrackerUnreachable(f"{self._account.name}: {error.problems[0].message}")

    def describe_refusal(self, answer: HttpResponse) -> TrackerRefused:
        """The error for an answer that is no success, with the first words of it."""
        name, status = self._account.name, answer.status
        if status in BAD_KEY:
            message, hint = f"{name} refused the key (status {status})", f"check {self._account.key_variable}"
        elif status == NOT_FOUND or FIRST_REDIRECT <= status < FIRST_ERROR:
            message, hint = f"{name} is not at this address (status {status})", f"check {self._account.url_variable}"
        else:
            shown = redact(remove_exact_secrets(answer.body[: SHOWN * 10]).decode("utf-8", "replace"))[:SHOWN]
            for secret in self._account.headers.values():  # of `Bearer KEY` the key too
                shown = shown.replace(secret, "[REDACTED]").replace(secret.rpartition(" ")[2], "[REDACTED]")
            message, hint = f"{name} refused the run (status {status}): {' '.join(shown.split())}", None
        return TrackerRefused(Problem(message, None, hint))
