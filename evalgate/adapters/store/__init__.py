"""The SQL store, in a SQLite file or in PostgreSQL, with one schema. Entry point: `store.SqlStore`."""
