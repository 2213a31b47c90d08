"""The store's tables and column types, and what cleans values before they are stored.

Entry points: `tables`, `column_types`, `values`.
"""
