"""A stand-in for GitLab's REST API v4 over real HTTP: artifacts of a branch, merge requests, notes; and who may what.

As GitLab describes it: a job's token reads artifacts in Premium and Ultimate only, and nothing else here; artifacts are
those of the newest pipeline of a branch that succeeded; a note has 1 to 1,000,000 characters; only its author edits it.
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

PROJECT_TOKEN, JOB_TOKEN = "glpat-A1b2C3d4E5f6G7h8I9j0", "glcbt-64_secret0job1token2"
READ_ONLY_TOKEN = "glpat-readonly000000000000"
BOT, OTHER = 41, 7
JOB = 'evalgate: [réfund, $(id) & "x"]'
HEAD = "1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c"
MOST_CHARACTERS, LARGEST_PAGE = 1_000_000, 100
ARTIFACT = re.compile(r"/api/v4/projects/(?P<project>\d+)/jobs/artifacts/(?P<ref>[^/]+)/raw/(?P<path>.+)")
MERGE_REQUEST = re.compile(r"/api/v4/projects/5/merge_requests/\d+")
NOTES = re.compile(r"/api/v4/projects/(?P<project>\d+)/merge_requests/(?P<number>\d+)/notes(?:/(?P<note>\d+))?")


class Refused(Exception):
    """A request that GitLab does not carry out: status and body."""

    def __init__(self, status: int, **document: str) -> None:
        super().__init__(document)
        self.status, self.document = status, document


@dataclass
class Pipeline:
    """A finished pipeline of a branch: by job, the files of its artifact, or None after it has expired."""

    branch: str
    status: str
    artifacts: dict[str, dict[str, bytes] | None]


@dataclass
class GitLab:
    """One project, 5, with its merge requests and pipelines, oldest first."""

    tier: str = "premium"
    head: str = HEAD
    failures: int = 0
    """The next requests that a server that is down answers."""
    pipelines: list[Pipeline] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def add_note(self, body: str, author: int) -> dict[str, Any]:
        note = {"id": 100 + len(self.notes), "body": body, "author": {"id": author}, "system": False}
        self.notes.append(note)
        return note

    def find_artifact(self, branch: str, job: str, path: str) -> bytes | None:
        succeeded = [each for each in self.pipelines if (each.branch, each.status) == (branch, "success")]
        return ((succeeded[-1].artifacts.get(job) or {}) if succeeded else {}).get(path)

    def respond(self, method: str, address: str, headers: Any, body: bytes) -> tuple[int, Any]:
        try:
            return self._route(method, urlsplit(address), headers, body)
        except Refused as refused:
            return refused.status, refused.document

    def _route(self, method: str, url: SplitResult, headers: Any, body: bytes) -> tuple[int, Any]:
        if self.failures:
            self.failures -= 1
            raise Refused(502, message="Bad Gateway")
        own, of_job = headers.get("PRIVATE-TOKEN"), headers.get("JOB-TOKEN")
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        found = ARTIFACT.fullmatch(url.path)
        if own not in {PROJECT_TOKEN, READ_ONLY_TOKEN} and not (of_job == JOB_TOKEN and found):
            raise Refused(401, message="401 Unauthorized")
        if found:
            return 200, self._give_artifact(unquote(found["ref"]), unquote(found["path"]), query, of_job)
        if (method, url.path) == ("GET", "/api/v4/user"):
            return 200, {"id": BOT, "username": "project_5_bot"}
        if method == "GET" and MERGE_REQUEST.fullmatch(url.path):
            return 200, {"iid": 3, "state": "opened", "sha": self.head}
        found = NOTES.fullmatch(url.path)
        if found is None or found["project"] != "5":
            raise Refused(404, message="404 Project Not Found")
        return (
            self._list_notes(query) if method == "GET" else self._write_note(method, found["note"], own, headers, body)
        )

    def _give_artifact(self, ref: str, path: str, query: dict[str, str], of_job: str | None) -> bytes:
        if "job" not in query:
            raise Refused(400, error="job is missing")
        if of_job and self.tier == "free":
            raise Refused(404, message="404 Project Not Found")
        content = self.find_artifact(ref, query["job"], path)
        if content is None:
            raise Refused(404, message="404 Not Found")
        return content

    def _list_notes(self, query: dict[str, str]) -> tuple[int, Any]:
        size, page = int(query.get("per_page", 20)), int(query.get("page", 1))
        if size > LARGEST_PAGE:
            raise Refused(400, error="per_page does not have a valid value")
        order = self.notes if query.get("sort") == "asc" else self.notes[::-1]
        return 200, order[(page - 1) * size : page * size]

    def _write_note(self, method: str, number: str | None, own: str, headers: Any, body: bytes) -> tuple[int, Any]:
        if own == READ_ONLY_TOKEN:
            raise Refused(403, error="insufficient_scope", scope="api")
        text = json.loads(body).get("body") if headers.get("Content-Type") == "application/json" else None
        if not text or len(text) > MOST_CHARACTERS:
            raise Refused(400, error="body is missing")
        if (method, number) == ("POST", None):
            return 201, self.add_note(text, BOT)
        [note] = [each for each in self.notes if str(each["id"]) == number] or [{"author": {"id": None}}]
        if method != "PUT" or note["author"]["id"] != BOT:
            raise Refused(403, message="403 Forbidden")
        note["body"] = text
        return 200, note


def serve(gitlab: GitLab) -> ThreadingHTTPServer:
    """Answers for it at a port of this machine until `shutdown`."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, content = gitlab.respond(self.command, self.path, self.headers, body)
            gitlab.requests.append(f"{self.command} {self.path}")
            given = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(given)))
            self.end_headers()
            self.wfile.write(given)

        do_GET = do_POST = do_PUT = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server
