"""Walks an OTLP envelope: resources, their scopes, and the spans or log records of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.fields import FieldError, listing, mapping
from evalgate.adapters.formats.spans import detect as signs

if TYPE_CHECKING:
    from collections.abc import Iterator

SCOPE_KEYS = ("scope", "instrumentationLibrary", "instrumentation_library")
LOG_SCOPES = ("scopeLogs", "scope_logs", "instrumentationLibraryLogs", "instrumentation_library_logs")
LOG_RECORDS = ("logRecords", "log_records", "logs")


class ScopeRecords(NamedTuple):
    """The records of one instrumentation of one resource; `path` is where they are in the document."""

    resource: Any
    resource_path: str
    scope: Any
    records: list[Any]
    path: str
    is_log: bool


def iter_scopes(document: Any, place: str) -> Iterator[ScopeRecords]:
    """Yields all scopes of a document; raises FieldError where an object or a list is expected."""
    envelopes = document if isinstance(document, list) else [document]
    for number, one in enumerate(envelopes):
        where = f"{place}[{number}]" if envelopes is document else place
        envelope = signs.find_envelope(one)
        if not isinstance(envelope, dict):
            raise FieldError(where, "is not an object")
        for path, resource in _objects(envelope, signs.SPAN_RESOURCES, where):
            yield from _resource_scopes(resource, path, signs.SPAN_SCOPES, ("spans",), is_log=False)
        for path, resource in _objects(envelope, signs.LOG_RESOURCES, where):
            yield from _resource_scopes(resource, path, LOG_SCOPES, LOG_RECORDS, is_log=True)


def _resource_scopes(
    resource: dict[str, Any], path: str, keys: tuple[str, ...], inner: tuple[str, ...], *, is_log: bool
) -> Iterator[ScopeRecords]:
    for where, scope in _objects(resource, keys, path):
        name = next((scope[key] for key in SCOPE_KEYS if scope.get(key) is not None), None)
        for key in inner:
            if scope.get(key) is not None:
                records_path = f"{where}.{key}"
                records = listing(scope[key], records_path)
                yield ScopeRecords(
                    resource.get("resource"), f"{path}.resource", name, records, records_path, is_log
                )


def _objects(value: dict[str, Any], keys: tuple[str, ...], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for key in keys:
        where = f"{path}.{key}" if path else key
        for number, item in enumerate(listing(value.get(key), where)):
            yield f"{where}[{number}]", mapping(item, f"{where}[{number}]")
