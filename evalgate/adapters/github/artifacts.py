"""Uploads a zip file as an artifact of the running workflow."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from msgspec import Struct

from evalgate.adapters.github.connection import Site, origin
from evalgate.adapters.github.responses import read_error_message
from evalgate.adapters.github.retries import AnswerLost, send_with_retries
from evalgate.adapters.http import Http, HttpRequest, HttpResponse, NoAnswer, RequestDeadline
from evalgate.errors import ArtifactExists, Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime


BLOCK = 8 * 1024 * 1024
CREATED = 201
VERSION = 7
"""The version of the protocol that has a media type."""
STORAGE_VERSION = "2025-11-05"


class Artifacts:
    """Implements `ArtifactStore`. The service is undocumented, so every failure raises Unreachable."""

    def __init__(self, site: Site, deadline: RequestDeadline | None = None, attempt: int = 1) -> None:
        self._site, self._attempt = site, attempt
        self._http = Http(site.network, deadline or RequestDeadline())

    def upload(self, name: str, path: str, expires_at: datetime | None = None) -> int:
        """Uploads the file unchanged under `name`; returns the artifact's id.

        GitHub deletes it at `expires_at`, without one after the days that the repository is set to.
        """
        self._require_service()
        service = ResultsService(self._site, self._http)
        try:
            target = self._create(service, name, expires_at)
            size, digest = self._store(target, Path(path))
            return self._finalize(service, name, size, digest)
        except Conflict:
            if self._attempt > 1:
                text = f"an earlier attempt of this run left the artifact {name!r}, which stays"
                raise ArtifactExists(text) from None
            remedy = "give each gate its own `baseline-artifact` and `comment-key`"
            raise ArtifactExists(f"this run already has an artifact called {name!r}: {remedy}") from None

    def _require_service(self) -> None:
        host = urlsplit(self._site.server_url).hostname or ""
        if host != "github.com" and not host.endswith((".ghe.com", ".localhost")):
            raise Unreachable("GitHub Enterprise Server does not support uploads from container actions")
        if not self._site.results_url or not self._site.runtime_token:
            raise Unreachable("the job has no access to the artifact service")

    def _create(self, service: ResultsService, name: str, expires_at: datetime | None) -> str:
        document = {"name": name, "version": VERSION, "mime_type": "application/zip"}
        if expires_at is not None:
            document["expires_at"] = f"{expires_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.000Z"
        try:
            answer = service.call("CreateArtifact", document, repeatable=False)
        except AnswerLost:
            answer = self._create_again(service, document)
        url = get_either_spelling(answer, "signed_upload_url")
        schemes = {"https", urlsplit(self._site.results_url).scheme}
        if not isinstance(url, str) or urlsplit(url).scheme not in schemes:
            raise Unreachable("the artifact service returned no valid upload URL")
        return url

    def _create_again(self, service: ResultsService, document: Mapping[str, Any]) -> dict[str, Any]:
        """Retries; a conflict means that the lost request succeeded: its artifact is deleted first."""
        try:
            return service.call("CreateArtifact", document)
        except Conflict:
            service.call("DeleteArtifact", {"name": document["name"]})
            return service.call("CreateArtifact", document)

    def _store(self, url: str, path: Path) -> tuple[int, str]:
        """Uploads the blocks, then their list; returns size and digest."""
        size, digest, ids = 0, hashlib.sha256(), []
        for number, block in enumerate(_blocks(path)):
            ids.append(base64.b64encode(b"%08d" % number).decode())
            self._send_put(f"{url}&comp=block&blockid={quote(ids[-1], safe='')}", block, {})
            digest.update(block)
            size += len(block)
        block_list = "".join(f"<Latest>{block_id}</Latest>" for block_id in ids)
        document = f'<?xml version="1.0" encoding="utf-8"?><BlockList>{block_list}</BlockList>'
        headers = {"Content-Type": "text/plain; charset=UTF-8", "x-ms-blob-content-type": "application/zip"}
        self._send_put(f"{url}&comp=blocklist", document.encode(), headers)
        return size, f"sha256:{digest.hexdigest()}"

    def _send_put(self, url: str, body: bytes, headers: Mapping[str, str]) -> None:
        def attempt() -> HttpResponse:
            seconds = self._http.deadline.seconds_left()
            all_headers = {"x-ms-version": STORAGE_VERSION, **headers}
            answer = self._http.send(HttpRequest("PUT", url, all_headers, body, seconds=seconds))
            if answer.status in range(200, 300) and answer.status != CREATED:
                raise NoAnswer("the artifact storage did not confirm the upload")
            return answer

        answer = send_with_retries(attempt, self._http.deadline, repeatable=True)
        if answer.status != CREATED:
            raise Unreachable(f"the artifact storage returned status {answer.status}")

    def _finalize(self, service: ResultsService, name: str, size: int, digest: str) -> int:
        document = {"name": name, "size": str(size), "hash": digest}
        try:
            answer = service.call("FinalizeArtifact", document, repeatable=False)
        except AnswerLost:
            artifact_id = _find_id(service, name)
            if artifact_id is not None:
                return artifact_id
            answer = service.call("FinalizeArtifact", document)
        return _parse_id(get_either_spelling(answer, "artifact_id"))


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def _find_id(service: ResultsService, name: str) -> int | None:
    """The id of the newest artifact of that name in this run, None if there is no such artifact."""
    values = service.call("ListArtifacts", {"name_filter": name}).get("artifacts")
    entries = [entry for entry in values if isinstance(entry, dict)] if isinstance(values, list) else []
    ids = [_parse_id(get_either_spelling(entry, "database_id")) for entry in entries]
    return max(ids, default=None)


def _parse_id(value: Any) -> int:
    if isinstance(value, str) and value.isdecimal() and len(value) < len("1" * 20):
        return int(value)
    if isinstance(value, int):
        return value
    raise Unreachable("the artifact service returned no artifact id")


SERVICE = "/twirp/github.actions.results.api.v1.ArtifactService/"
TRIES = 4
OK, CONFLICT = 200, 409
WORD_BREAK = re.compile(r"_([a-z])")


class Conflict(Unreachable):
    """The run already has an artifact of this name."""


class BackendIds(Struct, frozen=True):
    """The run and job that the runtime token belongs to."""

    run: str
    job: str

    @classmethod
    def from_token(cls, token: str) -> BackendIds:
        """The ids in the token's claims; the service verifies its signature."""
        try:
            claims = token.split(".")[1]
            document = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
            scopes = document["scp"].split(" ")
            found = next(scope.split(":") for scope in scopes if re.fullmatch(r"Actions\.Results:[^:]+:[^:]+", scope))
        except (IndexError, KeyError, TypeError, AttributeError, ValueError, binascii.Error, StopIteration):
            raise Unreachable("the job's runtime token has an unexpected format") from None
        return cls(found[1], found[2])


class ResultsService:
    """Calls the service. Its field names come in one of two spellings; both are read."""

    def __init__(self, site: Site, http: Http) -> None:
        self._token = site.runtime_token
        self._origin = origin(site.results_url)
        self._ids = BackendIds.from_token(site.runtime_token)
        self._http = http

    def call(self, method: str, document: Mapping[str, Any], *, repeatable: bool = True) -> dict[str, Any]:
        """Calls a method, retrying temporary failures; raises Conflict, AnswerLost or Unreachable."""
        ids = {"workflow_run_backend_id": self._ids.run, "workflow_job_run_backend_id": self._ids.job}
        request = HttpRequest(
            "POST",
            f"{self._origin}{SERVICE}{method}",
            {"Content-Type": "application/json"},
            json.dumps({**ids, **document}).encode(),
            token=self._token,
        )
        parsed: list[Any] = []

        def attempt() -> HttpResponse:
            answer = self._http.send(request)
            if answer.status == OK:
                parsed[:] = [answer.json()]
            return answer

        answer = send_with_retries(attempt, self._http.deadline, repeatable=repeatable, tries=TRIES)
        if answer.status == CONFLICT:
            raise Conflict("the run already has an artifact with this name")
        if answer.status != OK or not isinstance(parsed[0], dict):
            message = read_error_message(answer.body)
            quoted = f': "{message}"' if message else ""
            raise Unreachable(f"the artifact service returned status {answer.status}{quoted}")
        return parsed[0]


def get_either_spelling(document: Mapping[str, Any], name: str) -> Any:
    """A field by its name in `snake_case` or `lowerCamel`: services differ."""
    camel = WORD_BREAK.sub(lambda match: match[1].upper(), name)
    return document.get(name, document.get(camel))
