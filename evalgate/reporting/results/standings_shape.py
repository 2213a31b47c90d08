"""Checks the shape of an `evalgate.standings/1` document, column by column to load fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.models.results.document_names import STANDINGS_SCHEMA
from evalgate.models.run.run import MAX_SCENARIOS
from evalgate.reporting.results import results_fields as fields
from evalgate.reporting.results.results_checks import LARGEST_AMOUNT, Mistake, record, records
from evalgate.reporting.results.results_shape import (
    MAX_SHOWN,
    check_approvals,
    check_moment,
    check_pricing,
    check_summary,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.reporting.results.results_checks import Place
    from evalgate.reporting.results.results_fields import Shape, Types

HEAD: Shape = (
    *fields.needed(fields.TEXT, "created_at"),
    *fields.needed(fields.RECORD, "results", "scenarios", "trials"),
    *fields.needed(fields.LIST, "approvals", "texts", "calls", "suites"),
    *fields.needed(fields.MAYBE_RECORD, "summary"),
    *fields.optional(fields.MAYBE_TEXT, "commit"),
)
IDENTITY: Shape = fields.needed(fields.COUNT, "bytes", "crc32")
SUITE: Shape = (*fields.needed(fields.TEXT, "suite"), *fields.needed(fields.COUNT, "scenarios"))
SCENARIOS: Shape = (
    *fields.needed(fields.LIST, "id", "verdict", "n", "unread"),
    *fields.optional(fields.MAYBE_LIST, "variant", "score"),
)
TRIALS: Shape = (
    *fields.needed(fields.LIST, "trial", "passed", "tool_calls", "path"),
    *fields.optional(fields.MAYBE_LIST, "score", "line", "record", *fields.AMOUNTS[:3]),
    fields.Field("pricing", fields.LIST, "fine"),
)
_NONE = type(None)


def check(document: Any) -> str | None:
    """Returns the first problem of a document, or None; fills in absent optional fields, in place."""
    try:
        _head(document)
        _scenarios(document, ("scenarios",))
        _trials(document, ("trials",))
    except Mistake as mistake:
        return str(mistake)
    return None


def _head(document: Any) -> None:
    if not isinstance(document, dict):
        raise Mistake((), "it is no object")
    schema = document.get("schema")
    if schema != STANDINGS_SCHEMA:
        shown = repr(schema[:MAX_SHOWN]) if isinstance(schema, str) else "nothing"
        raise Mistake((), f"its schema says {shown}")
    record(document, HEAD, ())
    record(document["results"], IDENTITY, ("results",))
    record(document["scenarios"], SCENARIOS, ("scenarios",))
    record(document["trials"], TRIALS, ("trials",))
    check_moment(document, "created_at")
    check_summary(document, ())
    check_approvals(document)
    _column(document, "texts", fields.TEXT, None, ())
    _column(document, "calls", fields.LIST, None, ())
    for place, names in enumerate(document["calls"]):
        if not fields.TEXT.issuperset(map(type, names)):
            raise Mistake(("calls", place), "holds something that is not text")


def _scenarios(document: dict[str, Any], place: Place) -> None:
    columns, count = document["scenarios"], 0
    for suite, at in records(document, "suites", SUITE, ()):
        _within(suite["scenarios"], MAX_SCENARIOS, (*at, "scenarios"))
        count += suite["scenarios"]
    _within(count, MAX_SCENARIOS, ("suites",))
    _column(columns, "id", fields.TEXT, count, place)
    _column(columns, "variant", fields.MAYBE_TEXT, count, place)
    _column(columns, "verdict", fields.COUNT, count, place, len(document["texts"]) - 1)
    _column(columns, "score", fields.MAYBE_NUMBER, count, place, 1)
    _column(columns, "n", fields.COUNT, count, place, len(document["trials"]["trial"]))
    _column(columns, "unread", fields.COUNT, None, place, count - 1)


def _trials(document: dict[str, Any], place: Place) -> None:
    columns, count = document["trials"], sum(document["scenarios"]["n"])
    _column(columns, "trial", fields.COUNT, count, place)
    _column(columns, "passed", fields.FLAG, count, place)
    _column(columns, "score", fields.MAYBE_NUMBER, count, place, 1)
    _column(columns, "cost_usd", fields.MAYBE_NUMBER, count, place, LARGEST_AMOUNT)
    _column(columns, "latency_seconds", fields.MAYBE_NUMBER, count, place, LARGEST_AMOUNT)
    _column(columns, "total_tokens", fields.MAYBE_COUNT, count, place, LARGEST_AMOUNT)
    _column(columns, "tool_calls", fields.COUNT, count, place, len(document["calls"]) - 1)
    _column(columns, "path", fields.COUNT, count, place, len(document["texts"]) - 1)
    for name in ("line", "record"):
        _column(columns, name, fields.MAYBE_COUNT, count, place)
    if "pricing" in columns:
        _column(columns, "pricing", fields.MAYBE_RECORD, count, place)
        for at, pricing in enumerate(columns["pricing"]):
            if pricing is not None:
                check_pricing(pricing, (*place, "pricing", at))


def _column(
    parent: dict[str, Any],
    name: str,
    types: Types,
    count: int | None,
    place: Place,
    most: float | None = None,
) -> None:
    """Checks a list of `count` values of these types, from 0 to `most`; null means all null."""
    values: Sequence[Any] | None = parent[name]
    if values is None:
        return
    if count is not None and len(values) != count:
        raise Mistake((*place, name), f"has {len(values):,} entries and not {count:,}")
    kinds = list(map(type, values))
    is_uniform = bool(kinds) and kinds.count(kinds[0]) == len(kinds)  # faster than checking each value
    if not types.issuperset(kinds[:1] if is_uniform else kinds):
        raise Mistake((*place, name), "holds a value of another kind")
    if most is None:
        return
    known = values if is_uniform and kinds[0] is not _NONE else [each for each in values if each is not None]
    if known and not 0 <= min(known) <= max(known) <= most:
        raise Mistake((*place, name), f"holds a value that is not between 0 and {most:g}")


def _within(count: int, most: int, place: Place) -> None:
    if not 0 <= count <= most:
        raise Mistake(place, f"is not between 0 and {most:,}")
