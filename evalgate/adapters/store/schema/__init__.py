"""The store's tables, column types and schema version.

Entry points: `tables`, `run_tables`, `schema_version.bring_up_to_date`.
"""
