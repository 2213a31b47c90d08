"""The SQL store, in a SQLite file or in PostgreSQL, with one schema.

Entry points: `store.SqlStore`, `store_url.parse_store_url`, `store.bring_up_to_date`.
"""
