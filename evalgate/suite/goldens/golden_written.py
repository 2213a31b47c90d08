"""Encodes a golden as an entry of a suite, for the store, baselines and exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.models.run.golden import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.goldens import RegressionSuite
    from evalgate.models.run.golden import Golden
    from evalgate.suite.diagnostics import Document


class GoldenDocuments(Struct):
    """The documents that the entries of a suite's `goldens` name, by the number of the entry.

    `thresholds` are the critical issues allowed by the regression suites that goldens came from.
    """

    documents: dict[int, Sequence[Document]] = field(default_factory=dict)
    thresholds: list[int] = field(default_factory=list)


def encode_golden(golden: Golden, suite: RegressionSuite | None = None) -> dict[str, Any]:
    """The fields that are not empty, and the passing score and switches of a regression suite, if given.

    >>> from evalgate.models.run.golden import Golden
    >>> encode_golden(Golden("greeting", user_messages=("hi",)))
    {'id': 'greeting', 'intent': 'other', 'primary_stance': 'helpful', 'user_messages': ['hi'], 'version': 1}
    """
    fields: dict[str, Any] = {
        "id": golden.id,
        "conversation_id": golden.conversation_id,
        "title": golden.title,
        "description": golden.description,
        "intent": golden.intent,
        "primary_stance": golden.primary_stance,
        "secondary_stances": list(golden.secondary_stances),
        "required_memory_recall": list(golden.required_memory_recall),
        "required_tool_usage": list(golden.required_tool_usage),
        "required_refusal": list(golden.required_refusal),
        "user_messages": list(golden.user_messages),
        "golden_responses": list(golden.golden_responses),
        "tags": list(golden.tags),
        "creator": golden.creator,
        "version": golden.version,
        "created_at": golden.created_at and golden.created_at.isoformat(),
        "updated_at": golden.updated_at and golden.updated_at.isoformat(),
    }
    encoded = {name: value for name, value in fields.items() if value not in (None, "", [])}
    if suite is not None:
        encoded["passing_score"] = suite.passing_score
        encoded |= {f"evaluate_{each}": False for each in CATEGORIES if not getattr(suite, f"evaluate_{each}")}
    return encoded
