"""Posts a check run: creates it with the first annotations, then adds more, none twice; its text lists the rest."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.github.client import RequestRefused
from evalgate.adapters.github.responses import as_int, as_text, objects
from evalgate.adapters.github.retries import AnswerLost, StillPending
from evalgate.errors import Unreachable
from evalgate.measures.values.dig import dig
from evalgate.reporting.text.escaping import escape_span, to_one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.adapters.github.client import Client
    from evalgate.models.github import Annotation, CheckRun

BATCH = 50
"""Annotations that GitHub accepts in one request."""
MAX_ANNOTATIONS = 100
"""Annotations of a check run; the others are listed in its text."""
LARGEST_TEXT = 65_535
"""Bytes of the text: GitHub counts bytes, although it documents characters."""
MORE = "- more are in results.json\n"
LONGEST_TITLE = 200
LONGEST_MESSAGE = 4_000
TRIES = 2
_ABOVE_16_BITS = re.compile("[\U00010000-\U0010ffff]")
"""Characters that GitHub rejects in annotations, with the whole request."""
LEVELS = {"error": "failure", "warning": "warning", "notice": "notice"}


class CheckRuns:
    """Check runs of one repository; implements `ports.CheckRuns`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def post(self, check: CheckRun) -> str:
        """Posts the check run, `completed` from the first request on; raises Forbidden or Unreachable.

        If GitHub rejects the annotations, they are listed in the text instead; returns its reason, else empty.
        """
        annotations, rest = _split_annotations(check.annotations)
        output = {"title": _encode_text(check.title, LONGEST_TITLE), "summary": check.summary}
        if rest:
            output["text"] = _list_annotations(rest)
        try:
            number = self._create(check, {**output, "annotations": annotations[:BATCH]})
        except RequestRefused as refusal:
            if not annotations:
                raise
            self._create(check, {**output, "text": _list_annotations(check.annotations)})
            return str(refusal)
        return self._add_batches(number, check, output, annotations)

    def _add_batches(
        self, number: int, check: CheckRun, output: Mapping[str, Any], annotations: Sequence[Mapping[str, Any]]
    ) -> str:
        """Adds the annotations after the first batch; returns why GitHub rejects one, else empty."""
        for start in range(BATCH, len(annotations), BATCH):
            batch = annotations[start : start + BATCH]
            try:
                self._add_batch(number, {**output, "annotations": batch}, start + len(batch))
            except RequestRefused as refusal:
                text = _list_annotations(check.annotations)
                self._client.send("PATCH", f"/check-runs/{number}", {"output": {**output, "text": text}})
                return str(refusal)
        return ""

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


def _split_annotations(annotations: Sequence[Annotation]) -> tuple[list[dict[str, Any]], list[Annotation]]:
    """The annotations for the API, and those for the text: none unless there are more than a check run takes."""
    encoded: list[dict[str, Any]] = []
    rest, are_too_many = [], False
    for annotation in annotations:
        document = _encode_annotation(annotation)
        if document is not None and len(encoded) < MAX_ANNOTATIONS:
            encoded.append(document)
            continue
        rest.append(annotation)
        are_too_many |= document is not None
    return encoded, rest if are_too_many else []


def _list_annotations(annotations: Sequence[Annotation]) -> str:
    """Lists annotations as Markdown that fits into the text; if some do not, the last line refers to the results."""
    lines: list[str] = []
    free = LARGEST_TEXT - len(MORE)
    for annotation in annotations:
        place = ":".join(str(part) for part in (annotation.file, annotation.line) if part)
        texts = [each for each in (annotation.title, annotation.message, place) if each]
        line = f"- {annotation.level}: {', '.join(map(escape_span, texts))}\n"
        free -= len(line.encode(errors="replace"))
        if free < 0:
            return "".join([*lines, MORE])
        lines.append(line)
    return "".join(lines)


def _encode_annotation(annotation: Annotation) -> dict[str, Any] | None:
    """The annotation for the API; None without file and line, as the summary covers those of a whole run."""
    path, line = annotation.file, annotation.line
    if not path or not path.isprintable() or path.startswith(("/", "../")) or not line or _ABOVE_16_BITS.search(path):
        return None
    column = annotation.column
    return {
        "path": path,
        "start_line": line,
        "end_line": line,
        **({"start_column": column, "end_column": column} if column else {}),
        "annotation_level": LEVELS.get(annotation.level, "notice"),
        "title": _encode_text(annotation.title, LONGEST_TITLE),
        "message": _encode_text(annotation.message, LONGEST_MESSAGE) or "no reason was recorded",
    }


def _encode_text(text: str, limit: int) -> str:
    """The text on one line of at most `limit` characters, with the code point for each above U+FFFF."""
    line = to_one_line(text, limit)
    escaped = _ABOVE_16_BITS.sub(lambda found: f"\\U{ord(found[0]):08x}", line)
    return line if escaped == line else to_one_line(escaped, limit)


def _parse_id(answer: Any) -> int:
    number = as_int(dig(answer, "id"))
    if number is None:
        raise Unreachable("unexpected response from GitHub to the check run")
    return number
