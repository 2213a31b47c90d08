"""The current tables. The migrations create them step by step; a test checks that both agree.

All names begin with `evalgate_`: other programs may use the same PostgreSQL database.
"""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, CheckConstraint, Column, ForeignKey, Index, Table

from evalgate.adapters.store.schema.column_types import (
    METADATA,
    Amount,
    CleanText,
    Day,
    EnumText,
    Integer64,
    Key,
    Score,
    UtcDateTime,
    require_one_of,
    require_scores,
)
from evalgate.adapters.store.schema.run_tables import RUNS
from evalgate.models.approvals.approval import APPROVAL_ORIGINS
from evalgate.models.goldens import MAX_RATING, MIN_RATING, SENTIMENTS
from evalgate.models.run.golden import DIMENSIONS, LEVELS, REGRESSION_STATUSES

GOLDENS = Table(
    "evalgate_goldens",
    METADATA,
    Column("id", Key, primary_key=True),
    Column("conversation_id", Key),
    Column("title", CleanText, nullable=False),
    Column("description", CleanText, nullable=False),
    Column("intent", Key, nullable=False),
    Column("primary_stance", Key, nullable=False),
    Column("secondary_stances", JSON, nullable=False),
    Column("required_memory_recall", JSON, nullable=False),
    Column("required_tool_usage", JSON, nullable=False),
    Column("required_refusal", JSON, nullable=False),
    Column("user_messages", JSON, nullable=False),
    Column("golden_responses", JSON, nullable=False),
    Column("tags", JSON, nullable=False),
    Column("creator", Key),
    Column("version", Integer64, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    CheckConstraint("version >= 1", name="golden_version_is_1_or_more"),
    Index("evalgate_goldens_by_intent", "intent"),
    Index("evalgate_goldens_by_stance", "primary_stance"),
    Index("evalgate_goldens_by_creator", "creator"),
)

GOLDEN_TAGS = Table(
    "evalgate_golden_tags",
    METADATA,
    Column("golden_id", Key, ForeignKey(GOLDENS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("tag", Key, primary_key=True),
    Index("evalgate_golden_tags_by_tag", "tag"),
)

SUITES = Table(
    "evalgate_regression_suites",
    METADATA,
    Column("name", Key, primary_key=True),
    Column("description", CleanText, nullable=False),
    Column("golden_tags", JSON, nullable=False),
    Column("golden_intents", JSON, nullable=False),
    Column("passing_score", Score, nullable=False),
    Column("critical_issue_threshold", Integer64, nullable=False),
    Column("evaluate_identity", Boolean, nullable=False),
    Column("evaluate_memory", Boolean, nullable=False),
    Column("evaluate_tools", Boolean, nullable=False),
    Column("evaluate_tone", Boolean, nullable=False),
    Column("evaluate_refusal", Boolean, nullable=False),
    Column("evaluate_accuracy", Boolean, nullable=False),
    Column("evaluate_completeness", Boolean, nullable=False),
    Column("creator", Key),
    Column("tags", JSON, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    *require_scores("suite", ["passing_score"]),
    CheckConstraint("critical_issue_threshold >= 0", name="suite_critical_issue_threshold_is_0_or_more"),
)

SUITE_GOLDENS = Table(
    "evalgate_regression_suite_goldens",
    METADATA,
    Column("suite", Key, ForeignKey(SUITES.c.name, ondelete="CASCADE"), primary_key=True),
    Column("golden_id", Key, ForeignKey(GOLDENS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("position", Integer64, nullable=False),
    Index("evalgate_regression_suite_goldens_by_golden", "golden_id"),
)

EVALUATIONS = Table(
    "evalgate_evaluations",
    METADATA,
    Column("id", Key, primary_key=True),
    Column("golden_id", Key, ForeignKey(GOLDENS.c.id, ondelete="CASCADE"), nullable=False),
    Column("golden_version", Integer64, nullable=False),
    Column("run_id", Key, ForeignKey(RUNS.c.id, ondelete="CASCADE")),
    Column("suite", Key, nullable=False),
    Column("trial", Integer64, nullable=False),
    Column("trace_id", CleanText),
    Column("trace_sha256", Key),
    Column("overall_score", Score),
    Column("level", EnumText(*LEVELS)),
    *(Column(name, Score) for name in DIMENSIONS),
    Column("total_turns", Integer64, nullable=False),
    Column("avg_latency_ms", Amount),
    Column("total_tokens", Integer64),
    Column("total_cost", Amount),
    Column("issue_count", Integer64, nullable=False),
    Column("critical_issue_count", Integer64, nullable=False),
    Column("pass_rate", Score),
    Column("turns", JSON, nullable=False),
    Column("issues", JSON, nullable=False),
    Column("regression_status", EnumText(*REGRESSION_STATUSES)),
    Column("previous_score", Score),
    Column("evaluated_by", CleanText, nullable=False),
    Column("evaluated_at", UtcDateTime, nullable=False),
    Column("conversation_id", CleanText),
    require_one_of("level", LEVELS, "evaluation_level_is_known"),
    require_one_of("regression_status", REGRESSION_STATUSES, "evaluation_regression_status_is_known"),
    *require_scores("evaluation", ["overall_score", *DIMENSIONS, "pass_rate", "previous_score"]),
    Index("evalgate_evaluations_by_golden", "golden_id", "evaluated_at"),
    Index("evalgate_evaluations_by_status", "regression_status", "evaluated_at"),
    Index("evalgate_evaluations_by_suite", "suite", "evaluated_at"),
    Index("evalgate_evaluations_by_time", "evaluated_at"),
    Index("evalgate_evaluations_by_run", "run_id"),
    Index("evalgate_evaluations_by_trace", "trace_sha256"),
)

FEEDBACK = Table(
    "evalgate_feedback",
    METADATA,
    Column("id", Key, primary_key=True),
    Column("conversation_id", Key, nullable=False),
    Column("rating", Integer64, nullable=False),
    Column("feedback", EnumText(*SENTIMENTS), nullable=False),
    Column("comment", CleanText, nullable=False),
    Column("issues", JSON, nullable=False),
    Column("user_id", CleanText),
    Column("message_id", CleanText),
    Column("golden_id", Key, ForeignKey(GOLDENS.c.id, ondelete="SET NULL")),
    Column("created_at", UtcDateTime, nullable=False),
    CheckConstraint(f"rating BETWEEN {MIN_RATING} AND {MAX_RATING}", name="feedback_rating_is_1_to_5"),
    require_one_of("feedback", SENTIMENTS, "feedback_is_positive_negative_or_neutral"),
    Index("evalgate_feedback_by_conversation", "conversation_id"),
    Index("evalgate_feedback_by_golden", "golden_id"),
)

APPROVALS = Table(
    "evalgate_approvals",
    METADATA,
    Column("id", Key, primary_key=True),
    Column("suite", Key, nullable=False),
    Column("scenario", CleanText, nullable=False),
    Column("variant", CleanText),
    Column("assertion", CleanText),
    Column("change", CleanText),
    Column("least_score", Score),
    Column("reason", CleanText, nullable=False),
    Column("who", CleanText, nullable=False),
    Column("until", Day, nullable=False),
    Column("traces", JSON, nullable=False),
    Column("checks", JSON(none_as_null=True)),
    Column("source", EnumText(*APPROVAL_ORIGINS), nullable=False),
    Column("pull_request", Integer64),
    Column("comment_id", Integer64),
    Column("comment_url", CleanText),
    Column("head_commit", Key),
    Column("permission", CleanText),
    Column("self_approved", Boolean, nullable=False),
    Column("recorded_at", UtcDateTime, nullable=False),
    Column("withdrawn_at", UtcDateTime),
    require_one_of("source", APPROVAL_ORIGINS, "approval_source_is_known"),
    *require_scores("approval", ["least_score"]),
    Index("evalgate_approvals_by_until", "until"),
    Index("evalgate_approvals_by_suite", "suite"),
)
