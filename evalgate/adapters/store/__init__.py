"""The store in SQL: SQLite in a file, or PostgreSQL; one schema, and one use of it, for both."""
