"""The repository of runs and approvals; NULL where it is not known."""

from __future__ import annotations

import re

import sqlalchemy
from alembic import op
from sqlalchemy import Column, Integer, Table

from evalgate.features.store.adapters.schema.column_types import Key

revision = "0007"
down_revision = "0006"

_RUN_URL = re.compile(r"https?://[^/]+/([^/]+/[^/]+)/actions/runs/[0-9]+")


def upgrade() -> None:
    """Adds the columns. A run of GitHub names its repository in its URL; approvals of before name none."""
    for table in ("evalgate_runs", "evalgate_run_scenarios", "evalgate_approvals"):
        op.add_column(table, Column("repository", Key))
    op.create_index("evalgate_runs_by_repository", "evalgate_runs", ["repository", "branch", "completed_at"])
    columns = ["scenario", "repository", "branch", "completed_at", "run"]
    op.create_index("evalgate_run_scenarios_by_repository", "evalgate_run_scenarios", columns)
    _fill(op.get_bind())


def _fill(connection: sqlalchemy.Connection) -> None:
    metadata = sqlalchemy.MetaData()
    runs = Table(
        *("evalgate_runs", metadata, Column("number", Integer), Column("repository", Key)),
        Column("url", sqlalchemy.Text),
    )
    rows = Table("evalgate_run_scenarios", metadata, Column("run", Integer), Column("repository", Key))
    urls = connection.execute(sqlalchemy.select(runs.c.number, runs.c.url).where(runs.c.url.is_not(None))).all()
    named = [{"of": number, "name": found[1]} for number, url in urls if (found := _RUN_URL.fullmatch(url))]
    for column in (runs.c.number, rows.c.run) if named else ():
        statement = sqlalchemy.update(column.table).where(column == sqlalchemy.bindparam("of"))
        connection.execute(statement.values(repository=sqlalchemy.bindparam("name")), named)
