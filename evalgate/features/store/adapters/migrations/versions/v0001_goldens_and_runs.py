"""Tables of goldens and regression suites; of runs with their suites and scenarios."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Creates the first tables."""
    _goldens()
    _golden_tags()
    _regression_suites()
    _regression_suite_goldens()
    _runs()
    _run_results()
    _run_suites()
    _scenarios()
    _run_scenarios()


def _goldens() -> None:
    op.create_table(
        "evalgate_goldens",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("conversation_id", TEXT),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("description", TEXT, nullable=False),
        sa.Column("intent", TEXT, nullable=False),
        sa.Column("primary_stance", TEXT, nullable=False),
        sa.Column("secondary_stances", sa.JSON(), nullable=False),
        sa.Column("required_memory_recall", sa.JSON(), nullable=False),
        sa.Column("required_tool_usage", sa.JSON(), nullable=False),
        sa.Column("required_refusal", sa.JSON(), nullable=False),
        sa.Column("user_messages", sa.JSON(), nullable=False),
        sa.Column("golden_responses", sa.JSON(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("creator", TEXT),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("version >= 1", name="golden_version_is_1_or_more"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("evalgate_goldens_by_creator", "evalgate_goldens", ["creator"])
    op.create_index("evalgate_goldens_by_intent", "evalgate_goldens", ["intent"])
    op.create_index("evalgate_goldens_by_stance", "evalgate_goldens", ["primary_stance"])


def _golden_tags() -> None:
    op.create_table(
        "evalgate_golden_tags",
        sa.Column("golden_id", TEXT, nullable=False),
        sa.Column("tag", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["golden_id"], ["evalgate_goldens.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("golden_id", "tag"),
    )
    op.create_index("evalgate_golden_tags_by_tag", "evalgate_golden_tags", ["tag"])


def _regression_suites() -> None:
    op.create_table(
        "evalgate_regression_suites",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("description", TEXT, nullable=False),
        sa.Column("golden_tags", sa.JSON(), nullable=False),
        sa.Column("golden_intents", sa.JSON(), nullable=False),
        sa.Column("passing_score", sa.Double(), nullable=False),
        sa.Column("critical_issue_threshold", sa.BigInteger(), nullable=False),
        sa.Column("evaluate_identity", sa.Boolean(), nullable=False),
        sa.Column("evaluate_memory", sa.Boolean(), nullable=False),
        sa.Column("evaluate_tools", sa.Boolean(), nullable=False),
        sa.Column("evaluate_tone", sa.Boolean(), nullable=False),
        sa.Column("evaluate_refusal", sa.Boolean(), nullable=False),
        sa.Column("evaluate_accuracy", sa.Boolean(), nullable=False),
        sa.Column("evaluate_completeness", sa.Boolean(), nullable=False),
        sa.Column("creator", TEXT),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("critical_issue_threshold >= 0", name="suite_critical_issue_threshold_is_0_or_more"),
        sa.CheckConstraint("passing_score >= 0 AND passing_score <= 1", name="suite_passing_score_is_0_to_1"),
        sa.PrimaryKeyConstraint("name"),
    )


def _regression_suite_goldens() -> None:
    op.create_table(
        "evalgate_regression_suite_goldens",
        sa.Column("suite", TEXT, nullable=False),
        sa.Column("golden_id", TEXT, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["golden_id"], ["evalgate_goldens.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["suite"], ["evalgate_regression_suites.name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("suite", "golden_id"),
    )
    op.create_index("evalgate_regression_suite_goldens_by_golden", "evalgate_regression_suite_goldens", ["golden_id"])


def _runs() -> None:
    op.create_table(
        "evalgate_runs",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("suites", sa.JSON(), nullable=False),
        sa.Column("verdict", TEXT, nullable=False),
        sa.Column("exit_code", sa.BigInteger(), nullable=False),
        sa.Column("report_only", sa.Boolean(), nullable=False),
        sa.Column("branch", TEXT),
        sa.Column("commit_id", TEXT),
        sa.Column("pull_request", sa.BigInteger()),
        sa.Column("url", TEXT),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("evaluated", sa.BigInteger(), nullable=False),
        sa.Column("passed", sa.BigInteger(), nullable=False),
        sa.Column("failed", sa.BigInteger(), nullable=False),
        sa.Column("avg_score", sa.Double()),
        sa.Column("regressions", sa.BigInteger(), nullable=False),
        sa.Column("improvements", sa.BigInteger(), nullable=False),
        sa.Column("degradations", sa.BigInteger(), nullable=False),
        sa.Column("score", sa.Double()),
        sa.Column("pass_rate", sa.Double()),
        sa.Column("cost_usd", sa.Double()),
        sa.Column("total_tokens", sa.BigInteger()),
        sa.Column("latency_p50_s", sa.Double()),
        sa.Column("latency_p95_s", sa.Double()),
        sa.Column("issues", sa.JSON(), nullable=False),
        sa.Column("approval_status", TEXT, nullable=False),
        sa.Column("approved_by", TEXT),
        sa.Column("approval_comment", TEXT, nullable=False),
        sa.Column("approval_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint(
            "approval_status IN ('pending', 'approved', 'rejected')", name="run_approval_status_is_known"
        ),
        sa.CheckConstraint("verdict IN ('pass', 'fail', 'cannot_judge', 'invalid')", name="run_verdict_is_known"),
        sa.CheckConstraint("avg_score >= 0 AND avg_score <= 1", name="run_avg_score_is_0_to_1"),
        sa.CheckConstraint("pass_rate >= 0 AND pass_rate <= 1", name="run_pass_rate_is_0_to_1"),
        sa.CheckConstraint("score >= 0 AND score <= 1", name="run_score_is_0_to_1"),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
    )
    op.create_index("evalgate_runs_by_branch", "evalgate_runs", ["branch", "completed_at"])
    op.create_index("evalgate_runs_by_time", "evalgate_runs", ["completed_at", "number"])


def _run_results() -> None:
    op.create_table(
        "evalgate_run_results",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("results", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["evalgate_runs.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run"),
    )


def _run_suites() -> None:
    op.create_table(
        "evalgate_run_suites",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("verdict", TEXT, nullable=False),
        sa.Column("score", sa.Double()),
        sa.Column("pass_rate", sa.Double()),
        sa.Column("cost_usd", sa.Double()),
        sa.Column("total_tokens", sa.BigInteger()),
        sa.Column("latency_p50_s", sa.Double()),
        sa.Column("latency_p95_s", sa.Double()),
        sa.Column("dimensions", sa.JSON(), nullable=False),
        sa.Column("branch", TEXT),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("verdict IN ('pass', 'fail', 'cannot_judge', 'invalid')", name="run_suite_verdict_is_known"),
        sa.CheckConstraint("pass_rate >= 0 AND pass_rate <= 1", name="run_suite_pass_rate_is_0_to_1"),
        sa.CheckConstraint("score >= 0 AND score <= 1", name="run_suite_score_is_0_to_1"),
        sa.ForeignKeyConstraint(["run"], ["evalgate_runs.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "name"),
    )
    op.create_index("evalgate_run_suites_by_branch", "evalgate_run_suites", ["name", "branch", "completed_at", "run"])
    op.create_index("evalgate_run_suites_by_name", "evalgate_run_suites", ["name", "completed_at", "run"])


def _scenarios() -> None:
    op.create_table(
        "evalgate_scenarios",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("suite", TEXT, nullable=False),
        sa.Column("scenario_id", TEXT, nullable=False),
        sa.Column("variant", TEXT),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("digest"),
    )
    op.create_index("evalgate_scenarios_by_suite", "evalgate_scenarios", ["suite"])


def _run_scenarios() -> None:
    op.create_table(
        "evalgate_run_scenarios",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("scenario", sa.Integer(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("verdict", TEXT, nullable=False),
        sa.Column("score", sa.Double()),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("passed", sa.BigInteger(), nullable=False),
        sa.Column("pass_rate", sa.Double()),
        sa.Column("dimensions", sa.JSON(), nullable=False),
        sa.Column("cost_usd", sa.Double()),
        sa.Column("latency_s", sa.Double()),
        sa.Column("tokens", sa.Double()),
        sa.Column("change", TEXT),
        sa.Column("trace_sha256", TEXT),
        sa.Column("branch", TEXT),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "change IN ('unchanged', 'improved', 'regressed', 'broken', 'fixed', 'new', 'removed', 'inconclusive')",
            name="run_scenario_change_is_known",
        ),
        sa.CheckConstraint(
            "verdict IN ('PASS', 'PARTIAL', 'FAIL', 'HARD_FAIL', 'ERROR', 'MISSING', 'NOT_EVALUABLE')",
            name="run_scenario_verdict_is_known",
        ),
        sa.CheckConstraint("pass_rate >= 0 AND pass_rate <= 1", name="run_scenario_pass_rate_is_0_to_1"),
        sa.CheckConstraint("score >= 0 AND score <= 1", name="run_scenario_score_is_0_to_1"),
        sa.ForeignKeyConstraint(["run"], ["evalgate_runs.number"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["scenario"],
            ["evalgate_scenarios.number"],
        ),
        sa.PrimaryKeyConstraint("run", "scenario"),
    )
    op.create_index(
        "evalgate_run_scenarios_by_branch",
        "evalgate_run_scenarios",
        ["scenario", "branch", "completed_at", "run"],
    )
    op.create_index("evalgate_run_scenarios_by_time", "evalgate_run_scenarios", ["scenario", "completed_at", "run"])
    op.create_index("evalgate_run_scenarios_by_trace", "evalgate_run_scenarios", ["trace_sha256"])
