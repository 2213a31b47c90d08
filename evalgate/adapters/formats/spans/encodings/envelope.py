"""Walks an OTLP envelope: resources, their scopes, and the spans or log records of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.fields import FieldError, listing, mapping
from evalgate.adapters.formats.spans import detect as signs

if TYPE_CHECKING:
    from collections.abc import Iterator

SCOPE = ("scope", "instrumentationLibrary", "instrumentation_library")
LOG_SCOPES = ("scopeLogs", "scope_logs", "instrumentationLibraryLogs", "instrumentation_library_logs")
LOG_RECORDS = ("logRecords", "log_records", "logs")


class Scope(NamedTuple):
    """The records of one instrumentation of one resource; `path` is where they are in the document."""

    resource: Any
    resource_path: str
    scope: Any
    records: list[Any]
    path: str
    is_log: bool


def scopes(document: Any, place: str) -> Iterator[Scope]:
    """Yields all scopes of a document; raises FieldError where an object or a list is expected."""
    several = document if isinstance(document, list) else [document]
    for number, one in enumerate(several):
        where = f"{place}[{number}]" if several is document else place
        envelope = signs.envelope_of(one)
        if not isinstance(envelope, dict):
            raise FieldError(where, "is not an object")
        for path, resource in _under(envelope, signs.SPAN_RESOURCES, where):
            yield from _of_resource(resource, path, signs.SPAN_SCOPES, ("spans",), is_log=False)
        for path, resource in _under(envelope, signs.LOG_RESOURCES, where):
            yield from _of_resource(resource, path, LOG_SCOPES, LOG_RECORDS, is_log=True)


def _of_resource(
    resource: dict[str, Any], path: str, keys: tuple[str, ...], inner: tuple[str, ...], *, is_log: bool
) -> Iterator[Scope]:
    for where, scope in _under(resource, keys, path):
        name = next((scope[key] for key in SCOPE if scope.get(key) is not None), None)
        for key in inner:
            if scope.get(key) is not None:
                under = f"{where}.{key}"
                records = listing(scope[key], under)
                yield Scope(resource.get("resource"), f"{path}.resource", name, records, under, is_log)


def _under(value: dict[str, Any], keys: tuple[str, ...], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for key in keys:
        where = f"{path}.{key}" if path else key
        for number, item in enumerate(listing(value.get(key), where)):
            yield f"{where}[{number}]", mapping(item, f"{where}[{number}]")
