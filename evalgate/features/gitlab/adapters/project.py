"""A project on GitLab: the requests of its REST API v4 that a job needs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

from evalgate.adapters.github.responses import as_int, as_sha, as_text, objects, read_error_message
from evalgate.adapters.github.retries import send_with_retries
from evalgate.adapters.http import HttpRequest
from evalgate.errors import Problem, Unreachable
from evalgate.measures.values.dig import dig

if TYPE_CHECKING:
    from evalgate.adapters.http import Http, HttpResponse

PAGE, MOST_PAGES = 100, 50
LARGEST_BASELINE = 64 * 1024 * 1024
SECONDS = 60.0
OK, CREATED, NOT_FOUND = 200, 201, 404
REFUSED = frozenset({401, 403})
REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Token(NamedTuple):
    """A token, the header that GitLab takes it in, how messages call it, and what to do if it is refused."""

    secret: str
    header: str
    name: str
    hint: str


class GitLabProject:
    """The project `number` at `api`; the token is sent to no other address."""

    def __init__(self, api: str, number: str, token: Token, http: Http) -> None:
        self._token, self._http = token, http
        self._project = f"{api}/projects/{quote(number, safe='')}"
        self._user = f"{api}/user"

    def fetch_artifact(self, branch: str, job: str, path: str) -> bytes | None:
        """A file of a job's artifacts in the branch's newest successful pipeline; None if GitLab has none."""
        query = f"{quote(branch, safe='')}/raw/{quote(path)}?{urlencode({'job': job})}"
        answer = self._send("GET", f"{self._project}/jobs/artifacts/{query}", limit=LARGEST_BASELINE)
        if answer.status in REDIRECTS:  # to its storage, which needs no token
            place = answer.headers.get("Location", "")
            answer = self._try(HttpRequest("GET", place, limit=LARGEST_BASELINE, seconds=SECONDS))
        return None if answer.status == NOT_FOUND else self._require(answer, OK).body

    def find_head(self, merge_request: str) -> str | None:
        """The newest commit of the merge request's source branch; None if GitLab names none."""
        return as_sha(dig(self._require(self._send("GET", self._locate(merge_request)), OK).json(), "sha"))

    def write_note(self, merge_request: str, marker: str, body: str) -> bool:
        """Writes the note whose first line is the marker, or its new text; returns whether it is a new one."""
        notes = f"{self._locate(merge_request)}/notes"
        found = self._find_note(notes, marker)
        content = {"body": f"{marker}\n{body}"}
        if found is None:
            self._require(self._send("POST", notes, content), CREATED)
        else:
            self._require(self._send("PUT", f"{notes}/{found}", content), OK)
        return found is None

    def _locate(self, merge_request: str) -> str:
        return f"{self._project}/merge_requests/{quote(merge_request, safe='')}"

    def _find_note(self, notes: str, marker: str) -> int | None:
        """The oldest note with the marker that the token's own user wrote: others may have copied it."""
        me = as_int(dig(self._require(self._send("GET", self._user), OK).json(), "id"))
        for page in range(1, MOST_PAGES + 1):
            query = urlencode({"per_page": PAGE, "page": page, "sort": "asc", "order_by": "created_at"})
            entries = objects(self._require(self._send("GET", f"{notes}?{query}"), OK).json())
            for entry in entries:
                is_marked = as_text(entry.get("body")).partition("\n")[0].rstrip() == marker
                if is_marked and me is not None and as_int(dig(entry, "author", "id")) == me:
                    return as_int(entry.get("id"))
            if len(entries) < PAGE:
                break
        return None

    def _send(
        self, method: str, url: str, content: dict[str, Any] | None = None, limit: int = 10_000_000
    ) -> HttpResponse:
        headers = {self._token.header: self._token.secret, "Accept": "*/*"}
        body = None
        if content is not None:
            headers["Content-Type"], body = "application/json", json.dumps(content).encode()
        return self._try(HttpRequest(method, url, headers, body, limit=limit, seconds=SECONDS))

    def _try(self, request: HttpRequest) -> HttpResponse:
        """Sends it up to three times while the server fails; what may have been written is not sent again."""
        return send_with_retries(
            lambda: self._http.send(request),
            self._http.deadline,
            repeatable=request.method != "POST",
            build_error=self._build_error,
        )

    def _require(self, answer: HttpResponse, status: int) -> HttpResponse:
        """The answer; raises Unreachable with what GitLab says if it has another status."""
        if answer.status == status:
            return answer
        raise self._build_error(answer)

    def _build_error(self, answer: HttpResponse) -> Unreachable:
        said = read_error_message(answer.body)
        is_refused = answer.status in REFUSED
        verb = f"refused {self._token.name}" if is_refused else "answered"
        message = f"GitLab {verb} with status {answer.status}{f': {said}' if said else ''}"
        return Unreachable(Problem(message, None, self._token.hint if is_refused else None))
