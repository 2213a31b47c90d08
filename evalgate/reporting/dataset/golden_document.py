"""Goldens, regression suites and feedback as JSON documents, for lists and golden files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.redact import redact_value
from evalgate.reporting.dataset.export_times import format_time

if TYPE_CHECKING:
    from datetime import datetime

    from evalgate.models.goldens.feedback import Feedback
    from evalgate.models.goldens.regression_suite import RegressionSuite
    from evalgate.models.run.golden import Golden


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
