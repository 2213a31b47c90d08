"""Small builders for the records of a store: every field that is not named has a plain, valid value."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from alembic import command
from alembic.config import Config

from evalgate.features.store.adapters import store as sql_store
from evalgate.models.goldens import ExportedEvaluation, Feedback, GoldenSummary
from evalgate.models.run.golden import (
    DIMENSIONS,
    EvaluationStatistics,
    Golden,
    GoldenEvaluation,
    Issue,
    TurnResult,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

NOW = datetime(2025, 12, 31, 22, 40, 49, tzinfo=UTC)


def make_golden(id_: str = "refund", **fields: Any) -> Golden:
    """A golden of one turn."""
    plain: dict[str, Any] = {
        "title": "A refund in time",
        "conversation_id": f"talk-{id_}",
        "intent": "task_execution",
        "primary_stance": "helpful",
        "user_messages": ("I want my money back.",),
        "golden_responses": ("It is on its way.",),
        "tags": ("money",),
        "creator": "ada",
    }
    return Golden(id_, **{**plain, **fields})


def make_turn(**fields: Any) -> TurnResult:
    """A turn that went as it should, its tool called once."""
    plain: dict[str, Any] = {
        "user_message": "I want my money back.",
        "actual_response": "It is on its way!",
        "golden_response": "It is on its way.",
        "scores": {**dict.fromkeys(DIMENSIONS), "tool_success_rate": 1.0, "response_completeness": 0.9},
        "latency_ms": 1200.0,
        "tokens": 340,
        "cost": 0.0125,
        "tools_invoked": ("refund",),
        "tool_results": ({"paid": True},),
        "evidence": ("refund was called",),
    }
    return TurnResult(**{**plain, **fields})


def make_evaluation(
    id_: str = "e1",
    golden_id: str = "refund",
    *,
    score: float | None = 0.88,
    turns: Sequence[TurnResult] | None = None,
    at: datetime = NOW,
    **fields: Any,
) -> GoldenEvaluation:
    """A conversation that passed."""
    results = (make_turn(),) if turns is None else tuple(turns)
    plain: dict[str, Any] = {
        "golden_version": 1,
        "suite": "support",
        "level": None if score is None else "good",
        "dimensions": {**dict.fromkeys(DIMENSIONS), "tool_success_rate": 1.0, "response_completeness": 0.9},
        "statistics": EvaluationStatistics(len(results), 1200.0, 340, 0.0125, 0, 0, 1.0),
        "evaluated_by": "evalgate 0.1.0",
        "regression_status": None if score is None else "pass",
        "trace_id": "t1",
        "trace_sha256": "0" * 64,
    }
    plain |= {"overall_score": score, "turns": results, "evaluated_at": at}
    return GoldenEvaluation(id=id_, golden_id=golden_id, **{**plain, **fields})


def make_feedback(id_: str = "f1", conversation_id: str = "talk-refund", **fields: Any) -> Feedback:
    """Positive feedback."""
    plain: dict[str, Any] = {
        "rating": 5,
        "feedback": "positive",
        "comment": "quick",
        "created_at": NOW - timedelta(days=1),
    }
    return Feedback(id_, conversation_id, **{**plain, **fields})


def make_exported(evaluation: GoldenEvaluation | None = None, *feedback: Feedback, **about: Any) -> ExportedEvaluation:
    """An evaluation as it is exported."""
    plain: dict[str, Any] = {
        "title": "A refund in time",
        "intent": "task_execution",
        "stance": "helpful",
        "conversation_id": "talk-refund",
    }
    return ExportedEvaluation(evaluation or make_evaluation(), GoldenSummary(**{**plain, **about}), feedback)


def make_issue(message: str = "no apology", **fields: Any) -> Issue:
    """A minor issue."""
    plain: dict[str, Any] = {"category": "tone", "severity": "warning"}
    return Issue(message=message, **{**plain, **fields})


def migrate(connection: Connection, number: str) -> None:
    """Creates or upgrades the tables to those of one version."""
    config = Config()
    config.set_main_option("script_location", str(sql_store.MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, number)
