"""Names of the fields of traces and results, which a project must not redact."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints, is_typeddict

from msgspec import Struct

from evalgate.models.results.results import ResultsDoc
from evalgate.models.trace import trace
from evalgate.models.trace.trace_document import trace_schema

EVIDENCE_FIELDS = ("expected_calls",)
"""Fields of evidence that reports compute counts from."""


def list_field_names() -> frozenset[str]:
    """All names, of the public documents and of the internal records."""
    names = set[str](EVIDENCE_FIELDS)
    for kind in vars(trace).values():
        if isinstance(kind, type) and kind.__module__ == trace.__name__:
            names.update(kind.__annotations__)
    _add_properties(trace_schema(), names)
    _add_keys(ResultsDoc, names)
    return frozenset(names)


def _add_properties(schema: Any, names: set[str]) -> None:
    if isinstance(schema, dict):
        names.update(schema.get("properties", ()))
        for each in schema.values():
            _add_properties(each, names)


def _add_keys(kind: Any, names: set[str]) -> None:
    """Adds the keys of a document type and of all types in it."""
    hints = get_type_hints(kind) if is_typeddict(kind) or _is_record(kind) else {}
    names.update(kind.__struct_encode_fields__ if _is_record(kind) else hints)
    for each in hints.values():
        _add_keys(each, names)
    for argument in get_args(kind):
        _add_keys(argument, names)


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)
