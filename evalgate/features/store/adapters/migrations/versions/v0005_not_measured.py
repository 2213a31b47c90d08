"""How many trials of runs, suites and scenarios were not measured."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

TABLES = ("evalgate_runs", "evalgate_run_suites", "evalgate_run_scenarios")


def upgrade() -> None:
    """Adds `not_measured`, 0 in rows that are stored already."""
    for table in TABLES:
        op.add_column(table, sa.Column("not_measured", sa.BigInteger(), nullable=False, server_default="0"))
