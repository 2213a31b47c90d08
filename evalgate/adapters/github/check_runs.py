"""Posts a check run: creates it with the first annotations, then adds the rest, none twice."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from evalgate.adapters.github.http import AnswerLost, StillPending
from evalgate.adapters.github.responses import as_int, as_text, objects
from evalgate.errors import Unreachable
from evalgate.measures.values.dig import dig
from evalgate.reporting.text.escaping import to_one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.github.client import Client
    from evalgate.models.github import Annotation, CheckRun

BATCH = 50
"""Annotations that GitHub accepts in one request."""
LONGEST_TITLE = 200
LONGEST_MESSAGE = 4_000
TRIES = 2
LEVELS = {"error": "failure", "warning": "warning", "notice": "notice"}


class CheckRuns:
    """Check runs of one repository; implements `ports.CheckRuns`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def post(self, check: CheckRun) -> None:
        """Posts the check run, `completed` from the first request on; raises Forbidden or Unreachable."""
        annotations = [annotation for annotation in map(_encode_annotation, check.annotations) if annotation]
        output = {"title": to_one_line(check.title, LONGEST_TITLE), "summary": check.summary}
        number = self._create(check, {**output, "annotations": annotations[:BATCH]})
        for start in range(BATCH, len(annotations), BATCH):
            batch = annotations[start : start + BATCH]
            self._add_batch(number, {**output, "annotations": batch}, start + len(batch))

    def _create(self, check: CheckRun, output: Mapping[str, Any]) -> int:
        document = {
            "name": check.name,
            "head_sha": check.commit,
            "status": "completed",
            "conclusion": check.conclusion,
            "external_id": f"evalgate-{os.urandom(16).hex()}",
            "output": output,
            **({"details_url": check.details_url} if check.details_url else {}),
        }
        for attempt in range(TRIES):
            try:
                return _parse_id(self._client.send("POST", "/check-runs", document))
            except AnswerLost as lost:
                created_id = self._find_created(document)
                if created_id is not None:
                    return created_id
                if attempt + 1 == TRIES or isinstance(lost, StillPending):
                    raise
        raise AssertionError

    def _find_created(self, document: Mapping[str, Any]) -> int | None:
        """The id of the check run if it was created although the answer was lost."""
        name = str(document["name"])
        for page in self._client.pages(f"/commits/{document['head_sha']}/check-runs", check_name=name):
            for entry in objects(page, "check_runs"):
                if as_text(entry.get("external_id")) == document["external_id"]:
                    return _parse_id(entry)
        return None

    def _add_batch(self, number: int, output: Mapping[str, Any], total: int) -> None:
        """Adds a batch. GitHub appends annotations, so after a lost answer a retry first counts them."""
        path = f"/check-runs/{number}"
        for attempt in range(TRIES):
            try:
                self._client.send("PATCH", path, {"output": output}, repeatable=False)
            except AnswerLost:
                count = as_int(dig(self._client.get(path), "output", "annotations_count"))
                if count is None or count < total:
                    if attempt + 1 == TRIES:
                        raise
                    continue
            return


def _encode_annotation(annotation: Annotation) -> dict[str, Any] | None:
    """The annotation for the API; None without file and line, as the summary covers those of a whole run."""
    path, line = annotation.file, annotation.line
    if not path or not path.isprintable() or path.startswith(("/", "../")) or not line:
        return None
    column = annotation.column
    return {
        "path": path,
        "start_line": line,
        "end_line": line,
        **({"start_column": column, "end_column": column} if column else {}),
        "annotation_level": LEVELS.get(annotation.level, "notice"),
        "title": to_one_line(annotation.title, LONGEST_TITLE),
        "message": to_one_line(annotation.message, LONGEST_MESSAGE) or "no reason was recorded",
    }


def _parse_id(answer: Any) -> int:
    number = as_int(dig(answer, "id"))
    if number is None:
        raise Unreachable("unexpected response from GitHub to the check run")
    return number
