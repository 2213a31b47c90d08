"""All tables, as they are before the first release; its number is that of the stores which exist already.

From the first release on these tables are frozen: a change of them is a migration of its own, and this one then states
the tables it creates itself.
"""

from __future__ import annotations

from alembic import op

from evalgate.features.store.adapters.schema.tables import RUNS

revision = "0005"
down_revision = None


def upgrade() -> None:
    """Creates the tables and their indexes."""
    RUNS.metadata.create_all(op.get_bind(), checkfirst=False)
