"""Ragas' data sets and results. Entry points: `RAGAS`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, words

INPUT = "user_input"
TURN_TYPES = ("human", "ai", "tool")
SAMPLE_KEYS = words("""
    response reference retrieved_contexts reference_contexts reference_tool_calls reference_topics multi_responses
    rubrics
""")


def is_sample(value: Any) -> bool:
    """True for a sample: a text with an answer or a reference, or a list of messages."""
    found = value.get(INPUT) if isinstance(value, dict) else None
    if isinstance(found, list):
        return bool(found) and isinstance(found[0], dict) and found[0].get("type") in TURN_TYPES
    return isinstance(found, str) and not SAMPLE_KEYS.isdisjoint(value)


def list_samples(value: Any) -> list[Any] | None:
    """The samples of a document: rows, the columns of a data frame, or a data set with scores next to it."""
    if isinstance(value, list):
        return value if value and is_sample(value[0]) else None
    if not isinstance(value, dict):
        return None
    if isinstance(value.get(INPUT), dict):
        columns = {name: column for name, column in value.items() if isinstance(column, dict)}
        return list_samples([{name: columns[name].get(row) for name in columns} for row in columns[INPUT]])
    rows, scores = value.get("dataset", value.get("samples")), value.get("scores")
    if not isinstance(rows, list) or not rows or not is_sample(rows[0]):
        return None
    if isinstance(scores, list) and len(scores) == len(rows):
        return [{"scores": score, **row} for row, score in zip(rows, scores, strict=True) if isinstance(row, dict)]
    return rows


def _claims_ragas(value: Any) -> bool:
    return is_sample(value) or list_samples(value) is not None


RAGAS = Format(
    name="ragas",
    needs="`user_input` with a `response` or a `reference`, or `user_input` with messages of type human, ai and tool",
    claims=_claims_ragas,
    module="ragas.reader",
)
