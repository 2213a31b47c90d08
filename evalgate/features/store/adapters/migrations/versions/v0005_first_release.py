"""All tables, as they are before the first release; its number is that of the stores which exist already.

From the first release on these tables are frozen: a change of them is a migration of its own, and this one then states
the tables it creates itself. A column that a later migration adds is left out here.
"""

from __future__ import annotations

import sqlalchemy
from alembic import op

from evalgate.features.store.adapters.schema.tables import RUNS

revision = "0005"
down_revision = None

LATER = {
    "evalgate_approvals": ("covers", "repository"),
    "evalgate_runs": ("repository",),
    **dict.fromkeys(("evalgate_run_scenarios", "evalgate_goldens"), ("repository",)),
    **dict.fromkeys(("evalgate_regression_suites", "evalgate_feedback"), ("repository",)),
}


def upgrade() -> None:
    """Creates the tables and their indexes."""
    metadata = sqlalchemy.MetaData()
    for table in RUNS.metadata.sorted_tables:
        table.to_metadata(metadata)
    for name, columns in LATER.items():
        table = metadata.tables[name]
        for column in columns:
            table.c[column].system = True  # so that the statement that creates the table omits it
        table.indexes -= {each for each in table.indexes if {*columns} & {*each.columns.keys()}}
    metadata.create_all(op.get_bind(), checkfirst=False)
