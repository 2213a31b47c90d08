"""Literals that every answer passes on from the request or from a tool's result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.features.learn.application.inference.checks import InferredCheck
from evalgate.gate.trajectory.behaviour import find_literals
from evalgate.measures.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace.trace import Trace

FEW, MAX_LITERALS, LONGEST = 2, 5, 60
_OF_TIME = re.compile(r"(?:19|20)\d\d|\d{4}-\d\d-\d\d|\d\d?:\d\d(?::\d\d)?")
"""A year, a day, a time: another one tomorrow, unless the request names it."""


def find_answer_literals(trials: Sequence[Trace]) -> Iterator[InferredCheck]:
    """Yields a check of each literal that all answers of several trials have, with a source in each trial."""
    if len(trials) < FEW:
        return
    common = set.intersection(*(find_literals(trace.response["content"] or "") for trace in trials))
    clean = (each for each in sorted(common) if len(each) <= LONGEST and redact(each) == each)
    found = [each for each in clean if all(_has_source(each, trace) for trace in trials)]
    longest = [each for each in found if not any(each in other for other in found if other != each)]
    for literal in longest[:MAX_LITERALS]:
        check = InferredCheck({"type": "output_contains", "value": literal}, f"in all {len(trials)} answers")
        yield check


def _has_source(literal: str, trace: Trace) -> bool:
    texts = [message["content"] or "" for message in trace.messages if message["role"] == "user"]
    if _OF_TIME.fullmatch(literal) is None:
        texts += [call["result_text"] or "" for call in trace.agent_calls]
    whole = re.compile(rf"(?<!\w){re.escape(literal)}(?!\w)")
    return any(whole.search(text) for text in texts)
