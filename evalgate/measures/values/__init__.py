"""JSON values: equality, schemas, rendering.

Entry points: `json_values`, `outputs`, `compact.Compactor`.
"""
