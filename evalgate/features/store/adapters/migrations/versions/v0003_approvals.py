"""The table of approvals with their provenance; the quarantine flag of scenarios."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Adds approvals, and the `quarantined` flag to the scenarios of runs."""
    op.add_column(
        "evalgate_run_scenarios",
        sa.Column("quarantined", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    _approvals()


def _approvals() -> None:
    op.create_table(
        "evalgate_approvals",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("suite", TEXT, nullable=False),
        sa.Column("scenario", TEXT, nullable=False),
        sa.Column("variant", TEXT),
        sa.Column("assertion", TEXT),
        sa.Column("change", TEXT),
        sa.Column("least_score", sa.Double()),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("who", TEXT, nullable=False),
        sa.Column("until", sa.Date(), nullable=False),
        sa.Column("traces", sa.JSON(), nullable=False),
        sa.Column("checks", sa.JSON(none_as_null=True)),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("pull_request", sa.BigInteger()),
        sa.Column("comment_id", sa.BigInteger()),
        sa.Column("comment_url", TEXT),
        sa.Column("head_commit", TEXT),
        sa.Column("permission", TEXT),
        sa.Column("self_approved", sa.Boolean(), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("source IN ('file', 'comment', 'shell')", name="approval_source_is_known"),
        sa.CheckConstraint("least_score >= 0 AND least_score <= 1", name="approval_least_score_is_0_to_1"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("evalgate_approvals_by_suite", "evalgate_approvals", ["suite"])
    op.create_index("evalgate_approvals_by_until", "evalgate_approvals", ["until"])
