"""Untrusted JSON Schemas (2020-12): nothing is fetched, and no pattern in them can hang the gate."""

from __future__ import annotations

from typing import Any

MAX_BACKTRACKING = 1_000_000


class SchemaError(ValueError):
    """The value is not a JSON Schema."""


class Schema:
    """One compiled schema."""

    __slots__ = ("_validator",)

    def __init__(self, schema: Any) -> None:
        import jsonschema_rs  # imported only if a run has schemas

        try:
            self._validator = jsonschema_rs.Draft202012Validator(
                schema, offline=True, pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=MAX_BACKTRACKING)
            )
        except Exception as error:  # noqa: BLE001  (panics of the library are not ValueError)
            path = "/".join(map(str, getattr(error, "instance_path", []) or []))
            raise SchemaError(f"this is not a JSON Schema (draft 2020-12){f', see {path}' if path else ''}") from None

    def first_difference(self, value: Any) -> str | None:
        """Returns where the value first violates the schema, as path and keyword; None if it fits."""
        for error in self._validator.iter_errors(value):
            path = "/".join(map(str, error.instance_path)) or "the value"
            keyword = str(error.schema_path[-1]) if error.schema_path else "schema"
            return f"{path} fails `{keyword}`"
        return None
