"""Names of the fields of traces and results, which a project must not redact."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints, is_typeddict

from evalgate.models.results.results import ResultsDoc
from evalgate.models.trace import trace
from evalgate.models.trace.trace_schema import trace_schema

READ_AGAIN = ("expected_calls",)
"""Fields of evidence that reports compute counts from."""


def own_names() -> frozenset[str]:
    """All names, of the public documents and of the internal records."""
    known = set[str](READ_AGAIN)
    for kind in vars(trace).values():
        if isinstance(kind, type) and kind.__module__ == trace.__name__:
            known.update(kind.__annotations__)
    _add_properties(trace_schema(), known)
    _add_keys(ResultsDoc, known)
    return frozenset(known)


def _add_properties(schema: Any, known: set[str]) -> None:
    if isinstance(schema, dict):
        known.update(schema.get("properties", ()))
        for each in schema.values():
            _add_properties(each, known)


def _add_keys(kind: Any, known: set[str]) -> None:
    """Adds the keys of a TypedDict and of all types in it."""
    for name, each in get_type_hints(kind).items() if is_typeddict(kind) else ():
        known.add(name)
        _add_keys(each, known)
    for argument in get_args(kind):
        _add_keys(argument, known)
