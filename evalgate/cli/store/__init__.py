"""The verbs for the store.

Entry points: `history`, `feedback`, `export`, `import_`, `store_flags.open_store`.
"""
