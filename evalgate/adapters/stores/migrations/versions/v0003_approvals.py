"""Approvals with their provenance; scenarios in quarantine."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Adds approvals, and a mark to the scenarios of runs."""
    op.add_column(
        "evalgate_run_scenarios",
        sa.Column("quarantined", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    _approvals()


def _approvals() -> None:
    op.create_table(
        "evalgate_approvals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("suite", sa.Text(), nullable=False),
        sa.Column("scenario", sa.Text(), nullable=False),
        sa.Column("variant", sa.Text()),
        sa.Column("assertion", sa.Text()),
        sa.Column("change", sa.Text()),
        sa.Column("least_score", sa.Double()),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("until", sa.Date(), nullable=False),
        sa.Column("traces", sa.JSON(), nullable=False),
        sa.Column("checks", sa.JSON(none_as_null=True)),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("pull_request", sa.BigInteger()),
        sa.Column("comment_id", sa.BigInteger()),
        sa.Column("comment_url", sa.Text()),
        sa.Column("head_commit", sa.Text()),
        sa.Column("permission", sa.Text()),
        sa.Column("self_approved", sa.Boolean(), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("source IN ('file', 'comment', 'shell')", name="approval_source_is_known"),
        sa.CheckConstraint("least_score >= 0 AND least_score <= 1", name="approval_least_score_is_0_to_1"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("evalgate_approvals_by_suite", "evalgate_approvals", ["suite"])
    op.create_index("evalgate_approvals_by_until", "evalgate_approvals", ["until"])
