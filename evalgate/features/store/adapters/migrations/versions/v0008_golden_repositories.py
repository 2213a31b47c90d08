"""The repository of goldens, regression suites and feedback; NULL in those of before, which are of all repositories."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from evalgate.features.store.adapters.schema.column_types import Key

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Adds the columns."""
    for table in ("evalgate_goldens", "evalgate_regression_suites", "evalgate_feedback"):
        op.add_column(table, Column("repository", Key))
