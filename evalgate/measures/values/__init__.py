"""JSON values: equality, differences, schemas, rendering.

Entry points: `json_values`, `json_difference`, `json_schemas.Schema`.
"""
