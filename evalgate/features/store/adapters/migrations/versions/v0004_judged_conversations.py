"""The conversation of an evaluation's trace, which feedback may name."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Adds `conversation_id` to evaluations."""
    op.add_column("evalgate_evaluations", sa.Column("conversation_id", TEXT))
