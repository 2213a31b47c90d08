"""Goldens, regression suites and feedback as JSON documents, for lists and golden files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.redact import redact_value
from evalgate.reporting.dataset.export_times import moment_text

if TYPE_CHECKING:
    from datetime import datetime

    from evalgate.models.goldens.feedback import Feedback
    from evalgate.models.goldens.regression_suite import RegressionSuite
    from evalgate.models.run.golden import Golden


def golden_document(golden: Golden) -> dict[str, Any]:
    """Builds the entry of a golden in a golden file, redacted."""
    return _clean(
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
            "created_at": _moment(golden.created_at),
            "updated_at": _moment(golden.updated_at),
        }
    )


def suite_document(suite: RegressionSuite) -> dict[str, Any]:
    """Builds the document of a regression suite, redacted."""
    return _clean(
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
            "created_at": _moment(suite.created_at),
            "updated_at": _moment(suite.updated_at),
        }
    )


def feedback_document(said: Feedback) -> dict[str, Any]:
    """Builds the document of a feedback entry, redacted."""
    return _clean(
        {
            "id": said.id,
            "conversation_id": said.conversation_id,
            "message_id": said.message_id,
            "golden_id": said.golden_id,
            "user_id": said.user_id,
            "rating": said.rating,
            "feedback": said.feedback,
            "comment": said.comment,
            "issues": list(said.issues),
            "time": _moment(said.created_at),
        }
    )


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment_text(moment)


def _clean(document: dict[str, Any]) -> dict[str, Any]:
    clean: dict[str, Any] = redact_value(document)
    return clean
