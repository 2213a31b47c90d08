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
    return _redact_document(
        {
            "id": golden.id,
            "conversation_id": golden.conversation_id,
            "title": golden.title,
            "description": golden.description,
            "intent": golden.intent,
            "primary_stance": golden.primary_stance,
            "secondary_stances": list(golden.secondary_stances),
            "required_memory_recall": list(golden.required_memory_recall),
            "required_tool_usage": list(golden.required_tool_usage),
            "required_refusal": list(golden.required_refusal),
            "user_messages": list(golden.user_messages),
            "golden_responses": list(golden.golden_responses),
            "tags": list(golden.tags),
            "creator": golden.creator,
            "version": golden.version,
            "created_at": _format_time(golden.created_at),
            "updated_at": _format_time(golden.updated_at),
        }
    )


def build_suite_document(suite: RegressionSuite) -> dict[str, Any]:
    """Builds the document of a regression suite, redacted."""
    return _redact_document(
        {
            "name": suite.name,
            "description": suite.description,
            "golden_ids": list(suite.golden_ids),
            "golden_tags": list(suite.golden_tags),
            "golden_intents": list(suite.golden_intents),
            "passing_score": suite.passing_score,
            "critical_issue_threshold": suite.critical_issue_threshold,
            "evaluate_identity": suite.evaluate_identity,
            "evaluate_memory": suite.evaluate_memory,
            "evaluate_tools": suite.evaluate_tools,
            "evaluate_tone": suite.evaluate_tone,
            "evaluate_refusal": suite.evaluate_refusal,
            "evaluate_accuracy": suite.evaluate_accuracy,
            "evaluate_completeness": suite.evaluate_completeness,
            "creator": suite.creator,
            "tags": list(suite.tags),
            "created_at": _format_time(suite.created_at),
            "updated_at": _format_time(suite.updated_at),
        }
    )


def build_feedback_document(feedback: Feedback) -> dict[str, Any]:
    """Builds the document of a feedback entry, redacted."""
    return _redact_document(
        {
            "id": feedback.id,
            "conversation_id": feedback.conversation_id,
            "message_id": feedback.message_id,
            "golden_id": feedback.golden_id,
            "user_id": feedback.user_id,
            "rating": feedback.rating,
            "feedback": feedback.feedback,
            "comment": feedback.comment,
            "issues": list(feedback.issues),
            "time": _format_time(feedback.created_at),
        }
    )


def _format_time(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)


def _redact_document(document: dict[str, Any]) -> dict[str, Any]:
    clean: dict[str, Any] = redact_value(document)
    return clean
