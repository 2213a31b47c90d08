"""Reads values of GitHub's responses; an unexpected type becomes None or empty."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from msgspec import Struct

from evalgate.measures.values.dig import dig
from evalgate.reporting.text.escaping import to_one_line

SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
ADDRESS = re.compile(r"https?://[!-~]{1,2000}")
LARGEST_ERROR = 100_000
"""Bytes of an error's body that are read for its message."""
LONGEST_MESSAGE = 300
MAX_DETAILS = 3


def as_int(value: Any) -> int | None:
    """The value if it is an integer (not a boolean)."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_text(value: Any) -> str:
    """The value if it is text, otherwise empty."""
    return value if isinstance(value, str) else ""


def as_url(value: Any) -> str:
    """The value if it is an http(s) URL, otherwise empty."""
    return value if isinstance(value, str) and ADDRESS.fullmatch(value) else ""


def as_sha(value: Any) -> str | None:
    """The value if it is a commit id."""
    return value if isinstance(value, str) and SHA.fullmatch(value) else None


def objects(page: Any, key: str | None = None) -> list[dict[str, Any]]:
    """The objects of a list, which is the page or its `key`."""
    entries = dig(page, key) if key else page
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def read_error_message(body: bytes) -> str:
    """The message in an error's body, and its first details, redacted and on one line; empty without one."""
    try:
        document = json.loads(body) if len(body) <= LARGEST_ERROR else None
    except (ValueError, RecursionError):
        return ""
    entries = dig(document, "errors")
    details = map(_describe_detail, entries[:MAX_DETAILS]) if isinstance(entries, list) else ()
    parts = [as_text(dig(document, "message")) or as_text(dig(document, "msg")), *details]
    return to_one_line("; ".join(" ".join(part.split()) for part in parts if part.strip()), LONGEST_MESSAGE)


def _describe_detail(detail: Any) -> str:
    """A detail of an error: its text, or the field that is wrong and how."""
    text = as_text(detail) or as_text(dig(detail, "message"))
    return text or " ".join(filter(None, (as_text(dig(detail, name)) for name in ("resource", "field", "code"))))


class Artifact(Struct, frozen=True):
    """An artifact as the API lists it, with the run that made it."""

    id: int
    name: str
    size: int
    expired: bool
    digest: str | None
    created_at: datetime | None
    run_id: int | None
    repository_id: int | None
    head_repository_id: int | None
    head_branch: str
    head_sha: str | None

    @classmethod
    def from_entry(cls, entry: dict[str, Any]) -> Artifact | None:
        """The artifact, None without a valid id."""
        number = as_int(entry.get("id"))
        if number is None or number < 1:
            return None
        digest = entry.get("digest")
        return cls(
            id=number,
            name=as_text(entry.get("name")),
            size=as_int(entry.get("size_in_bytes")) or 0,
            expired=entry.get("expired") is not False,
            digest=digest if isinstance(digest, str) else None,
            created_at=as_time(entry.get("created_at")),
            run_id=as_int(dig(entry, "workflow_run", "id")),
            repository_id=as_int(dig(entry, "workflow_run", "repository_id")),
            head_repository_id=as_int(dig(entry, "workflow_run", "head_repository_id")),
            head_branch=as_text(dig(entry, "workflow_run", "head_branch")),
            head_sha=as_sha(dig(entry, "workflow_run", "head_sha")),
        )


def as_time(value: Any) -> datetime | None:
    """The value if it is an ISO time with a zone."""
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else None
