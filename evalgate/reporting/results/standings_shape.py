"""Checks the shape of an `evalgate.standings/1` document, column by column to load fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.models.results.document_names import STANDINGS_SCHEMA
from evalgate.models.run.run import MAX_SCENARIOS
from evalgate.reporting.results import results_fields as fields
from evalgate.reporting.results.results_checks import MAX_AMOUNT, ShapeError, check_record, check_records
from evalgate.reporting.results.results_shape import (
    MAX_SCHEMA_SHOWN,
    check_approvals,
    check_pricing,
    check_summary,
    check_time,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.reporting.results.results_checks import FieldPath
    from evalgate.reporting.results.results_fields import Shape, Types

HEAD: Shape = (
    *fields.required_fields(fields.TEXT, "created_at"),
    *fields.required_fields(fields.RECORD, "results", "scenarios", "trials"),
    *fields.required_fields(fields.LIST, "approvals", "texts", "calls", "suites"),
    *fields.required_fields(fields.MAYBE_RECORD, "summary"),
    *fields.optional_fields(fields.MAYBE_TEXT, "commit"),
    fields.Field("agents", fields.LIST, "fine"),
)
IDENTITY: Shape = fields.required_fields(fields.COUNT, "bytes", "crc32")
SUITE: Shape = (*fields.required_fields(fields.TEXT, "suite"), *fields.required_fields(fields.COUNT, "scenarios"))
SCENARIOS: Shape = (
    *fields.required_fields(fields.LIST, "id", "verdict", "n", "unread"),
    *fields.optional_fields(fields.MAYBE_LIST, "variant", "score"),
    fields.Field("unmeasured", fields.LIST, "fine"),
)
TRIALS: Shape = (
    *fields.required_fields(fields.LIST, "trial", "passed", "tool_calls", "path"),
    *fields.optional_fields(fields.MAYBE_LIST, "score", "line", "record", *fields.AMOUNTS[:3]),
    fields.Field("pricing", fields.LIST, "fine"),
    fields.Field("agent", fields.LIST, "fine"),
)
_NONE = type(None)


def check_standings(document: Any) -> str | None:
    """Returns the first problem of a document, or None; fills in absent optional fields, in place."""
    try:
        _head(document)
        _scenarios(document, ("scenarios",))
        _trials(document, ("trials",))
    except ShapeError as error:
        return str(error)
    return None


def _head(document: Any) -> None:
    if not isinstance(document, dict):
        raise ShapeError((), "it is not an object")
    schema = document.get("schema")
    if schema != STANDINGS_SCHEMA:
        shown = repr(schema[:MAX_SCHEMA_SHOWN]) if isinstance(schema, str) else "missing"
        raise ShapeError((), f"its schema is {shown}")
    check_record(document, HEAD, ())
    check_record(document["results"], IDENTITY, ("results",))
    check_record(document["scenarios"], SCENARIOS, ("scenarios",))
    check_record(document["trials"], TRIALS, ("trials",))
    check_time(document, "created_at")
    check_summary(document, ())
    check_approvals(document)
    _column(document, "texts", fields.TEXT, None, ())
    _column(document, "calls", fields.LIST, None, ())
    for place, names in enumerate(document["calls"]):
        if not fields.TEXT.issuperset(map(type, names)):
            raise ShapeError(("calls", place), "holds something that is not text")


def _agents(document: dict[str, Any], count: int) -> None:
    """Checks what trials record of the agent, which only newer documents hold."""
    agents = document.setdefault("agents", [])
    _column(document, "agents", fields.LIST, None, ())
    for place, parts in enumerate(agents):
        if len(parts) != len(fields.AGENT_PARTS) or not fields.MAYBE_TEXT.issuperset(map(type, parts)):
            raise ShapeError(("agents", place), f"is not a list of {len(fields.AGENT_PARTS)} texts or nulls")
    if "agent" in document["trials"]:
        _column(document["trials"], "agent", fields.COUNT, count, ("trials",), len(agents) - 1)


def _scenarios(document: dict[str, Any], place: FieldPath) -> None:
    columns, count = document["scenarios"], 0
    for suite, at in check_records(document, "suites", SUITE, ()):
        _require_count(suite["scenarios"], MAX_SCENARIOS, (*at, "scenarios"))
        count += suite["scenarios"]
    _require_count(count, MAX_SCENARIOS, ("suites",))
    _column(columns, "id", fields.TEXT, count, place)
    _column(columns, "variant", fields.MAYBE_TEXT, count, place)
    _column(columns, "verdict", fields.COUNT, count, place, len(document["texts"]) - 1)
    _column(columns, "score", fields.MAYBE_NUMBER, count, place, 1)
    _column(columns, "n", fields.COUNT, count, place, len(document["trials"]["trial"]))
    for name in ("unread", "unmeasured"):
        if name in columns:
            _column(columns, name, fields.COUNT, None, place, count - 1)


def _trials(document: dict[str, Any], place: FieldPath) -> None:
    columns, count = document["trials"], sum(document["scenarios"]["n"])
    _column(columns, "trial", fields.COUNT, count, place)
    _column(columns, "passed", fields.FLAG, count, place)
    _column(columns, "score", fields.MAYBE_NUMBER, count, place, 1)
    _column(columns, "cost_usd", fields.MAYBE_NUMBER, count, place, MAX_AMOUNT)
    _column(columns, "latency_seconds", fields.MAYBE_NUMBER, count, place, MAX_AMOUNT)
    _column(columns, "total_tokens", fields.MAYBE_COUNT, count, place, MAX_AMOUNT)
    _column(columns, "tool_calls", fields.COUNT, count, place, len(document["calls"]) - 1)
    _column(columns, "path", fields.COUNT, count, place, len(document["texts"]) - 1)
    for name in ("line", "record"):
        _column(columns, name, fields.MAYBE_COUNT, count, place)
    _agents(document, count)
    if "pricing" in columns:
        _column(columns, "pricing", fields.MAYBE_RECORD, count, place)
        for at, pricing in enumerate(columns["pricing"]):
            if pricing is not None:
                check_pricing(pricing, (*place, "pricing", at))


def _column(
    parent: dict[str, Any], name: str, types: Types, count: int | None, place: FieldPath, most: float | None = None
) -> None:
    """Checks a list of `count` values of these types, from 0 to `most`; null means all null."""
    values: Sequence[Any] | None = parent[name]
    if values is None:
        return
    if count is not None and len(values) != count:
        raise ShapeError((*place, name), f"has {len(values):,} entries, expected {count:,}")
    kinds = list(map(type, values))
    is_uniform = bool(kinds) and kinds.count(kinds[0]) == len(kinds)  # faster than checking each value
    if not types.issuperset(kinds[:1] if is_uniform else kinds):
        raise ShapeError((*place, name), "holds a value of the wrong type")
    if most is None:
        return
    known = values if is_uniform and kinds[0] is not _NONE else [each for each in values if each is not None]
    if known and not 0 <= min(known) <= max(known) <= most:
        raise ShapeError((*place, name), f"holds a value that is not between 0 and {most:g}")


def _require_count(count: int, most: int, place: FieldPath) -> None:
    if not 0 <= count <= most:
        raise ShapeError(place, f"is not between 0 and {most:,}")
