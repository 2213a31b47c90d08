"""A project on GitLab: the requests of its REST API v4 that a job needs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from evalgate.adapters.github.responses import as_int, as_text, objects, read_error_message
from evalgate.adapters.http import HttpRequest
from evalgate.errors import Unreachable
from evalgate.measures.values.dig import dig

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.http import Http, HttpResponse

PAGE, MOST_PAGES = 100, 50
LARGEST_BASELINE = 64 * 1024 * 1024
SECONDS = 60.0
OK, CREATED, NOT_FOUND = 200, 201, 404
REFUSED = frozenset({401, 403})
REDIRECTS = frozenset({301, 302, 303, 307, 308})


class GitLabProject:
    """The project `number` at `api`; `token` is the header with it, which is sent to no other address."""

    def __init__(self, api: str, number: str, token: Mapping[str, str], http: Http) -> None:
        self._token, self._http = token, http
        self._project = f"{api}/projects/{quote(number, safe='')}"
        self._user = f"{api}/user"

    def fetch_artifact(self, branch: str, job: str, path: str) -> bytes | None:
        """A file of a job's artifacts in the branch's newest successful pipeline; None if GitLab has none."""
        query = f"{quote(branch, safe='')}/raw/{quote(path)}?{urlencode({'job': job})}"
        answer = self._send("GET", f"{self._project}/jobs/artifacts/{query}", limit=LARGEST_BASELINE)
        if answer.status in REDIRECTS:  # to its storage, which needs no token
            place = answer.headers.get("Location", "")
            answer = self._http.send(HttpRequest("GET", place, limit=LARGEST_BASELINE, seconds=SECONDS))
        return None if answer.status == NOT_FOUND else _require(answer, OK).body

    def write_note(self, merge_request: str, marker: str, body: str) -> bool:
        """Writes the note whose first line is the marker, or its new text; returns whether it is a new one."""
        notes = f"{self._project}/merge_requests/{quote(merge_request, safe='')}/notes"
        found = self._find_note(notes, marker)
        content = {"body": f"{marker}\n{body}"}
        if found is None:
            _require(self._send("POST", notes, content), CREATED)
        else:
            _require(self._send("PUT", f"{notes}/{found}", content), OK)
        return found is None

    def _find_note(self, notes: str, marker: str) -> int | None:
        """The oldest note with the marker that the token's own user wrote: others may have copied it."""
        me = as_int(dig(_require(self._send("GET", self._user), OK).json(), "id"))
        for page in range(1, MOST_PAGES + 1):
            query = urlencode({"per_page": PAGE, "page": page, "sort": "asc", "order_by": "created_at"})
            entries = objects(_require(self._send("GET", f"{notes}?{query}"), OK).json())
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
        headers = {**self._token, "Accept": "*/*"}
        body = None
        if content is not None:
            headers["Content-Type"], body = "application/json", json.dumps(content).encode()
        return self._http.send(HttpRequest(method, url, headers, body, limit=limit, seconds=SECONDS))


def _require(answer: HttpResponse, status: int) -> HttpResponse:
    """The answer; raises Unreachable with what GitLab says if it has another status."""
    if answer.status == status:
        return answer
    said = read_error_message(answer.body)
    verb = "refused the token" if answer.status in REFUSED else "answered"
    raise Unreachable(f"GitLab {verb} with status {answer.status}{f': {said}' if said else ''}")
