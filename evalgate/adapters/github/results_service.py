"""Calls GitHub's results service, which creates and lists the artifacts of the running workflow."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.github.connection import origin
from evalgate.adapters.github.http import Http, HttpRequest, HttpResponse
from evalgate.adapters.github.retry import send_with_retries
from evalgate.errors import Unreachable
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.github.connection import Site

SERVICE = "/twirp/github.actions.results.api.v1.ArtifactService/"
TRIES = 4
OK, CONFLICT = 200, 409
WORD_BREAK = re.compile(r"_([a-z])")


class Conflict(Unreachable):
    """The run already has an artifact of this name."""


@dataclass(frozen=True, slots=True)
class BackendIds:
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
            found = next(
                scope.split(":") for scope in scopes if re.fullmatch(r"Actions\.Results:[^:]+:[^:]+", scope)
            )
        except (IndexError, KeyError, TypeError, AttributeError, ValueError, binascii.Error, StopIteration):
            raise Unreachable("the job's runtime token is not as expected") from None
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
            raise Conflict("the run already has an artifact of this name")
        if answer.status != OK or not isinstance(parsed[0], dict):
            raise Unreachable(f"the artifact service answered {answer.status}")
        return parsed[0]


def get_either_spelling(document: Mapping[str, Any], name: str) -> Any:
    """A field by its name in `snake_case` or `lowerCamel`: services differ."""
    camel = WORD_BREAK.sub(lambda match: match[1].upper(), name)
    return document.get(name, document.get(camel))
