"""Goldens, regression suites and feedback as JSON; the encoding of all exports."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.redact import redact_value

if TYPE_CHECKING:
    from evalgate.models.goldens import Feedback, RegressionSuite
    from evalgate.models.run.golden import Golden


_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
_DELETE_ESCAPE = ("\x7f", "\\u007f")  # the only control character that JSON leaves raw


def encode_json(value: Any) -> str:
    """Encodes a value without blanks."""
    return _encode(value).replace(*_DELETE_ESCAPE)


def encode_json_line(value: Any) -> bytes:
    """Encodes a value as one line."""
    return f"{encode_json(value)}\n".encode("ascii")


def encode_json_page(value: Any) -> bytes:
    """Encodes a value over several indented lines."""
    return f"{json.dumps(value, indent=2, allow_nan=False)}\n".replace(*_DELETE_ESCAPE).encode("ascii")


def format_time(moment: datetime) -> str:
    """Formats a time as `2025-12-31T22:40:49Z`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def format_file_time(moment: datetime) -> str:
    """Formats a time as `2025-12-31T22-40-49` for file names, which may not hold a colon."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H-%M-%S")


def build_golden_document(golden: Golden) -> dict[str, Any]:
    """Builds the entry of a golden in a golden file, redacted."""
    return _build_document(golden, "id", "conversation_id")


def build_suite_document(suite: RegressionSuite) -> dict[str, Any]:
    """Builds the document of a regression suite, redacted."""
    return _build_document(suite)


def build_feedback_document(feedback: Feedback) -> dict[str, Any]:
    """Builds the document of a feedback entry, redacted."""
    document = _build_document(feedback, "id", "conversation_id", "message_id", "golden_id", "user_id")
    return {"time" if name == "created_at" else name: value for name, value in document.items()}


def _build_document(record: Golden | RegressionSuite | Feedback, *first: str) -> dict[str, Any]:
    """Builds a document with all fields of a record, in their order but for the first ones."""
    names = dict.fromkeys((*first, *record.__struct_fields__))
    document: dict[str, Any] = redact_value({name: _to_plain(getattr(record, name)) for name in names})
    return document


def _to_plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return format_time(value)
    return list(value) if isinstance(value, tuple) else value
