"""Finds answers that show a serialised object where the golden answer is prose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.text.response_quality import serialised_object
from evalgate.measures.values.json_values import shorten
from evalgate.models.run.evaluation import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.scoring.golden.turns import TurnPair


def serialised_answers(beside: Sequence[TurnPair]) -> Iterator[Issue]:
    """One issue for each such answer."""
    for at, each in enumerate(beside):
        answer = each.actual.response if each.actual is not None else None
        found = serialised_object(answer) if answer else None
        if answer and found and not (each.response and serialised_object(each.response)):
            message = f"the answer shows {found}, where prose is expected"
            yield Issue("completeness", "error", message, shorten(answer, 200), at)
