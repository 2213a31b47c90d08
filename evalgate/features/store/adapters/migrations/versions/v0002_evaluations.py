"""Tables of evaluations of goldens and of feedback."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Adds evaluations and feedback."""
    _evaluations()
    _feedback()


def _evaluations() -> None:
    op.create_table(
        "evalgate_evaluations",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("golden_id", TEXT, nullable=False),
        sa.Column("golden_version", sa.BigInteger(), nullable=False),
        sa.Column("run_id", TEXT),
        sa.Column("suite", TEXT, nullable=False),
        sa.Column("trial", sa.BigInteger(), nullable=False),
        sa.Column("trace_id", TEXT),
        sa.Column("trace_sha256", TEXT),
        sa.Column("overall_score", sa.Double()),
        sa.Column("level", TEXT),
        sa.Column("identity_correctness", sa.Double()),
        sa.Column("memory_precision", sa.Double()),
        sa.Column("memory_recall", sa.Double()),
        sa.Column("tool_success_rate", sa.Double()),
        sa.Column("tone_adherence", sa.Double()),
        sa.Column("refusal_correctness", sa.Double()),
        sa.Column("factual_accuracy", sa.Double()),
        sa.Column("response_completeness", sa.Double()),
        sa.Column("total_turns", sa.BigInteger(), nullable=False),
        sa.Column("avg_latency_ms", sa.Double()),
        sa.Column("total_tokens", sa.BigInteger()),
        sa.Column("total_cost", sa.Double()),
        sa.Column("issue_count", sa.BigInteger(), nullable=False),
        sa.Column("critical_issue_count", sa.BigInteger(), nullable=False),
        sa.Column("pass_rate", sa.Double()),
        sa.Column("turns", sa.JSON(), nullable=False),
        sa.Column("issues", sa.JSON(), nullable=False),
        sa.Column("regression_status", TEXT),
        sa.Column("previous_score", sa.Double()),
        sa.Column("evaluated_by", TEXT, nullable=False),
        sa.Column("evaluated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "level IN ('excellent', 'good', 'fair', 'poor', 'failing')", name="evaluation_level_is_known"
        ),
        sa.CheckConstraint(
            "regression_status IN ('pass', 'fail', 'improvement', 'degradation')",
            name="evaluation_regression_status_is_known",
        ),
        sa.CheckConstraint(
            "factual_accuracy >= 0 AND factual_accuracy <= 1", name="evaluation_factual_accuracy_is_0_to_1"
        ),
        sa.CheckConstraint(
            "identity_correctness >= 0 AND identity_correctness <= 1",
            name="evaluation_identity_correctness_is_0_to_1",
        ),
        sa.CheckConstraint(
            "memory_precision >= 0 AND memory_precision <= 1", name="evaluation_memory_precision_is_0_to_1"
        ),
        sa.CheckConstraint("memory_recall >= 0 AND memory_recall <= 1", name="evaluation_memory_recall_is_0_to_1"),
        sa.CheckConstraint("overall_score >= 0 AND overall_score <= 1", name="evaluation_overall_score_is_0_to_1"),
        sa.CheckConstraint("pass_rate >= 0 AND pass_rate <= 1", name="evaluation_pass_rate_is_0_to_1"),
        sa.CheckConstraint("previous_score >= 0 AND previous_score <= 1", name="evaluation_previous_score_is_0_to_1"),
        sa.CheckConstraint(
            "refusal_correctness >= 0 AND refusal_correctness <= 1",
            name="evaluation_refusal_correctness_is_0_to_1",
        ),
        sa.CheckConstraint(
            "response_completeness >= 0 AND response_completeness <= 1",
            name="evaluation_response_completeness_is_0_to_1",
        ),
        sa.CheckConstraint("tone_adherence >= 0 AND tone_adherence <= 1", name="evaluation_tone_adherence_is_0_to_1"),
        sa.CheckConstraint(
            "tool_success_rate >= 0 AND tool_success_rate <= 1", name="evaluation_tool_success_rate_is_0_to_1"
        ),
        sa.ForeignKeyConstraint(["golden_id"], ["evalgate_goldens.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["run_id"], ["evalgate_runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("evalgate_evaluations_by_golden", "evalgate_evaluations", ["golden_id", "evaluated_at"])
    op.create_index("evalgate_evaluations_by_run", "evalgate_evaluations", ["run_id"])
    op.create_index("evalgate_evaluations_by_status", "evalgate_evaluations", ["regression_status", "evaluated_at"])
    op.create_index("evalgate_evaluations_by_suite", "evalgate_evaluations", ["suite", "evaluated_at"])
    op.create_index("evalgate_evaluations_by_time", "evalgate_evaluations", ["evaluated_at"])
    op.create_index("evalgate_evaluations_by_trace", "evalgate_evaluations", ["trace_sha256"])


def _feedback() -> None:
    op.create_table(
        "evalgate_feedback",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("conversation_id", TEXT, nullable=False),
        sa.Column("rating", sa.BigInteger(), nullable=False),
        sa.Column("feedback", TEXT, nullable=False),
        sa.Column("comment", TEXT, nullable=False),
        sa.Column("issues", sa.JSON(), nullable=False),
        sa.Column("user_id", TEXT),
        sa.Column("message_id", TEXT),
        sa.Column("golden_id", TEXT),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "feedback IN ('positive', 'negative', 'neutral')", name="feedback_is_positive_negative_or_neutral"
        ),
        sa.CheckConstraint("rating BETWEEN 1 AND 5", name="feedback_rating_is_1_to_5"),
        sa.ForeignKeyConstraint(["golden_id"], ["evalgate_goldens.id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("evalgate_feedback_by_conversation", "evalgate_feedback", ["conversation_id"])
    op.create_index("evalgate_feedback_by_golden", "evalgate_feedback", ["golden_id"])
