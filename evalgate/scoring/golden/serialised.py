"""Finds answers that show a serialised object where the golden answer is prose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.text.response_quality import serialised_object
from evalgate.measures.values.json_values import shorten
from evalgate.models.run.evaluation import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.scoring.golden.turns import TurnPair


def find_serialised_answers(turn_pairs: Sequence[TurnPair]) -> Iterator[Issue]:
    """One issue for each such answer."""
    for index, pair in enumerate(turn_pairs):
        answer = pair.actual.response if pair.actual is not None else None
        found = serialised_object(answer) if answer else None
        if answer and found and not (pair.response and serialised_object(pair.response)):
            message = f"the answer shows {found}, where prose is expected"
            yield Issue("completeness", "error", message, shorten(answer, 200), index)
