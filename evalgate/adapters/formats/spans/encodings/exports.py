"""Reads how platforms wrap their spans: Phoenix's pages and data frames, MLflow's traces.

Phoenix: arize-phoenix-client 3.5.0 (`GET /v1/projects/<project>/spans`, `get_spans_dataframe`). MLflow: 3.18.0
(`Trace.to_dict`, `search_traces`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.spans.detect import CONTEXT_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COLUMN = "attributes."
NESTED = ("llm", "openinference", "input", "output", "tool", "session", "agent", "tag", "user")
"""The first parts of the names of attributes that Phoenix keeps as nested objects."""
KEPT_OBJECTS = ("metadata", "llm.invocation_parameters", "tool.parameters")
METADATA_KEYS = ("trace_metadata", "request_metadata", "tags")
KNOWN_PREFIXES = ("mlflow.trace.", "evalgate.")
MORE_PAGES = "the last page has a `next_cursor`: fetch the pages after it, and keep all of them in one file"


def span_from_row(row: dict[str, Any]) -> dict[str, Any]:
    """The span of a line of a data frame; empty columns are left out."""
    span: dict[str, Any] = {"context": {name: row[column] for column, name in CONTEXT_COLUMNS.items()}}
    attributes: dict[str, Any] = {}
    for column, value in row.items():
        if column.startswith(COLUMN) and value is not None:
            attributes[column.removeprefix(COLUMN)] = value
        elif column not in CONTEXT_COLUMNS and value is not None:
            span[column] = value
    return {**span, "attributes": flatten(attributes)}


def flatten(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes with one name for each value, as OpenInference records them: `llm.output_messages.0.message.role`."""
    if not any(value.__class__ is dict or value.__class__ is list for value in attributes.values()):
        return attributes
    return {
        key: each
        for name, value in attributes.items()
        for key, each in (_flatten(name, value) if name.partition(".")[0] in NESTED else [(name, value)])
    }


def _flatten(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if value.__class__ is dict and value and name not in KEPT_OBJECTS:
        for key, each in value.items():
            yield from _flatten(f"{name}.{key}", each)
    elif value.__class__ is list and any(each.__class__ is dict for each in value):
        for number, each in enumerate(value):
            yield from _flatten(f"{name}.{number}", each)
    elif value is not None:
        yield name, value


def find_trace_facts(document: Any) -> dict[str, Any]:
    """What MLflow records about a whole trace (tokens, cost) and its tags for EvalGate, by key."""
    if document.__class__ is not dict:
        return {}
    info = document.get("info")
    places = [info if info.__class__ is dict else document]
    found = [place[key] for place in places for key in METADATA_KEYS if place.get(key).__class__ is dict]
    return {key: value for one in found for key, value in one.items() if key.startswith(KNOWN_PREFIXES)}


def has_more_pages(documents: Sequence[Any]) -> bool:
    """True if there are pages of Phoenix, and none of them is the last one."""
    pages = [page for one in documents for page in (one if one.__class__ is list else [one]) if _is_page(page)]
    return bool(pages) and all(page["next_cursor"] for page in pages)


def _is_page(value: Any) -> bool:
    return value.__class__ is dict and value.get("data").__class__ is list and "next_cursor" in value
