"""Approvals with the digests of the checks that they cover; NULL in those of earlier versions."""

from __future__ import annotations

import sqlalchemy
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Adds the column."""
    op.add_column("evalgate_approvals", sqlalchemy.Column("covers", sqlalchemy.JSON()))
