"""Client of GitHub's REST API: sends the token, follows redirects, turns statuses into errors."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urljoin, urlsplit

from msgspec.structs import replace

from evalgate.adapters.github.connection import Site, origin
from evalgate.adapters.github.responses import as_text, read_error_message
from evalgate.adapters.github.retries import send_with_retries
from evalgate.adapters.http import BodySink, Http, HttpRequest, HttpResponse, NoAnswer, RequestDeadline
from evalgate.errors import Forbidden, NotFound, Problem, TokenRejected, Unreachable
from evalgate.measures.values.dig import dig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PER_PAGE = 100
PAGES = 10
OK = range(200, 300)
MOVED = (301, 302, 307, 308)
METHOD_PRESERVING = (307, 308)
UNAUTHORIZED, FORBIDDEN, NOT_FOUND, GONE, UNPROCESSABLE = 401, 403, 404, 410, 422
HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
_NEXT = re.compile(r'<([^<>]{1,2000})>\s*;[^,]*\brel="next"')
_BAD_CREDENTIALS = "is what `github-token` names empty or expired?"
_MISSING_PERMISSION = re.compile(r"not accessible|permission|scope|must have", re.IGNORECASE)
"""How GitHub words that a token lacks a permission; other refusals, such as of a locked conversation, differ."""
_NEEDED = re.compile(r"([a-z_]{1,40})=(read|write)")
_FIRST_PART = re.compile(r"/(?:repos/[^/]+|repositories)/[^/]+/([a-z-]+)")
SETTABLE = frozenset({"actions", "checks", "contents", "issues", "pull-requests"})
"""Permissions of the API that a workflow can set, of those that EvalGate uses."""
PERMISSION_OF = {"issues": "pull-requests", "pulls": "pull-requests", "check-runs": "checks", "actions": "actions"}
"""Permission for the paths below a repository's URL, if GitHub names none; `contents` for the others."""


class ResourceExpired(NotFound):
    """The resource has expired (410)."""


class RequestRefused(Unreachable):
    """GitHub rejected the request as invalid (422)."""


class ListTooLong(Unreachable):
    """A list has more pages than are read."""


class Client:
    """The API of one repository. Raises only Forbidden, NotFound and Unreachable, or their subclasses."""

    def __init__(
        self, site: Site, deadline: RequestDeadline | None = None, trace: Callable[[str], None] | None = None
    ) -> None:
        self.site = site
        self.deadline = deadline or RequestDeadline()
        self._http = Http(site.network, self.deadline)
        self._trace = trace
        self._api_origin = origin(site.api_url)

    def get(self, path: str, **query: str | int) -> Any:
        """The JSON at a path below the repository's URL."""
        return self._ask("GET", self._url(path, query))[0]

    def send(self, method: str, path: str, document: Mapping[str, Any], *, repeatable: bool = True) -> Any:
        """Sends a change and returns the parsed response.

        If it is not `repeatable`, as no POST is, it may raise AnswerLost.
        """
        return self._ask(method, self._url(path, {}), document, repeatable=repeatable)[0]

    def delete(self, path: str) -> None:
        """Deletes the resource at a path."""
        self._ask("DELETE", self._url(path, {}))

    def user(self) -> Any:
        """The user the token belongs to; raises Forbidden if it belongs to an app."""
        return self._ask("GET", f"{self.site.api_url}/user")[0]

    def viewer(self) -> str:
        """The login the token belongs to, from the GraphQL API, which also answers apps."""
        url = f"{self.site.api_url.removesuffix('/v3')}/graphql"
        return as_text(dig(self._ask("POST", url, {"query": "{viewer{login}}"})[0], "data", "viewer", "login"))

    def pages(self, path: str, *, pages: int = PAGES, **query: str | int) -> Iterator[Any]:
        """Yields each page's JSON, following GitHub's `Link` headers; ListTooLong for more than `pages`."""
        url = self._url(path, {**query, "per_page": PER_PAGE})
        for _ in range(pages):
            page, answer = self._ask("GET", url)
            yield page
            link = _NEXT.search(answer.headers.get("Link", "")[:8_000])
            if link is None:
                return
            url = link[1]
            if origin(url) != self._api_origin:
                raise Unreachable("GitHub's next page is on another host")
        raise ListTooLong(f"more than {pages * PER_PAGE:,} entries")

    def download(self, path: str, sink: Callable[[], BodySink], limit: int) -> None:
        """Streams the file a path redirects to; `sink` returns a new, empty sink for each attempt."""

        def attempt() -> HttpResponse:
            found = self._send_once(HttpRequest("GET", self._url(path, {}), HEADERS, token=self.site.token))
            if found.status in OK:
                raise NoAnswer("GitHub returned no download URL")
            if found.status not in MOVED:
                return found
            url = self._download_target(found)
            request = HttpRequest("GET", url, sink=sink(), limit=limit, seconds=self.deadline.seconds_left())
            answer = self._send_once(request)
            if answer.status in (FORBIDDEN, NOT_FOUND):  # the signed URL has expired: request another
                raise NoAnswer(f"the download returned status {answer.status}")
            return answer

        answer = send_with_retries(attempt, self.deadline, repeatable=True)
        if answer.status not in OK:
            raise error_from_response(answer, "GET", self._url(path, {}))

    def _ask(
        self, method: str, url: str, document: Mapping[str, Any] | None = None, *, repeatable: bool = True
    ) -> tuple[Any, HttpResponse]:
        body = None if document is None else json.dumps(document).encode()
        headers = HEADERS if body is None else {**HEADERS, "Content-Type": "application/json"}
        parsed: list[Any] = []

        def attempt() -> HttpResponse:
            request = HttpRequest(method, url, headers, body, self.site.token)
            answer = self._send_once(request)
            if answer.status in MOVED:
                answer = self._send_once(replace(request, url=self._same_host_target(method, url, answer)))
            if answer.status in OK:
                parsed[:] = [answer.json()]
            return answer

        answer = send_with_retries(attempt, self.deadline, repeatable=repeatable and method != "POST")
        if answer.status not in OK:
            raise error_from_response(answer, method, url)
        return parsed[0], answer

    def _send_once(self, request: HttpRequest) -> HttpResponse:
        try:
            answer = self._http.send(request)
        except Unreachable as error:
            self._log(f"{request.redacted_line}: {error}")
            raise
        self._log(f"{request.redacted_line}: {answer.status}")
        return answer

    def _log(self, line: str) -> None:
        if self._trace is not None:
            self._trace(line)

    def _url(self, path: str, query: Mapping[str, str | int]) -> str:
        tail = f"?{urlencode(query)}" if query else ""
        return f"{self.site.api_url}/repos/{self.site.repository}{path}{tail}"

    def _same_host_target(self, method: str, url: str, answer: HttpResponse) -> str:
        """The redirect target of a renamed repository: same host only, since the token is sent along."""
        target = _resolve_location(url, answer)
        if origin(target) != self._api_origin or (method != "GET" and answer.status not in METHOD_PRESERVING):
            raise Unreachable("GitHub redirects to a URL where the token must not be sent")
        return target

    def _download_target(self, answer: HttpResponse) -> str:
        """The URL of a download: any host, as no token is sent, but no downgrade from https to http."""
        target = _resolve_location(self.site.api_url, answer)
        parts = urlsplit(target)
        if parts.scheme not in {"https", urlsplit(self.site.api_url).scheme}:
            raise Unreachable("the download URL does not use https")
        if parts.username is not None:
            raise Unreachable("the download URL contains a user name or password")
        return target

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()


def _resolve_location(url: str, answer: HttpResponse) -> str:
    """The redirect's `Location` resolved against `url`; empty if invalid."""
    try:
        return urljoin(url, answer.headers.get("Location", ""))
    except ValueError:
        return ""


def error_from_response(answer: HttpResponse, method: str, url: str) -> Unreachable:
    """The error for a status that is not 2xx, with GitHub's message if the body has one."""
    status, message = answer.status, read_error_message(answer.body)
    quoted = f': "{message}"' if message else ""
    if status == UNAUTHORIZED:
        return TokenRejected(Problem(f"GitHub does not accept the token (401){quoted}", hint=_BAD_CREDENTIALS))
    if status == FORBIDDEN:
        lacks_permission = not message or _MISSING_PERMISSION.search(message)
        place = "that token" if "personal access token" in message else "`permissions:` in the workflow"
        hint = f"add {_permission_lines(answer, method, url)} to {place}" if lacks_permission else None
        return Forbidden(Problem(f"GitHub refuses it (403){quoted}", hint=hint))
    if status == NOT_FOUND:
        return NotFound("not found, or not visible with this token (404)")
    if status == GONE:
        return ResourceExpired("expired (410)")
    if status == UNPROCESSABLE:
        return RequestRefused(f"GitHub rejects the request as invalid (422){quoted}")
    return Unreachable(f"GitHub returned status {status}{quoted}")


def _permission_lines(answer: HttpResponse, method: str, url: str) -> str:
    """What to write below `permissions:` in the workflow, of the alternatives in GitHub's header the first that fits.

    For comments GitHub names two: `pull-requests` is the one that the other requests of a run need too.
    """
    header = answer.headers.get("X-Accepted-GitHub-Permissions", "")[:500]
    alternatives = [
        [(name.replace("_", "-"), level) for name, level in _NEEDED.findall(part)] for part in header.split(";")
    ]
    usable = [each for each in alternatives if each and SETTABLE.issuperset(name for name, _ in each)]
    if not usable:
        found = _FIRST_PART.search(url)
        name = PERMISSION_OF.get(found[1], "contents") if found else "contents"
        usable = [[(name, "read" if method == "GET" else "write")]]
    best = min(usable, key=lambda each: any(name == "issues" for name, _ in each))
    return " and ".join(f"`{name}: {level}`" for name, level in best)
