"""Runs migrations on the connection, and in the transaction, of the code that opened the store."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], version_table="evalgate_version")
with context.begin_transaction():
    context.run_migrations()
