"""Compares two texts by words, long texts by sentences: parts kept, removed and added."""

from __future__ import annotations

import re
from itertools import groupby

from evalgate.measures.sequences.list_difference import MOST_CELLS, common_ends, difference
from evalgate.models.comparison.trajectory import TextPart

_WORDS = re.compile(r"\s+|[^\s]+")
LEAST_KEPT = 0.3
"""Share of the longer text that must be kept; with less, one text replaces the other."""
FEW_WORDS = 2
_SENTENCES = re.compile(r"[^.!?\n]*(?:[.!?\n]+\s*|$)")


def text_difference(before: str, now: str) -> list[TextPart]:
    """Returns parts in order; without `gone` parts they are `current`, without `come` parts `baseline`.

    Texts with little in common are reported as replaced: many small parts would be hard to read.
    """
    old, new = _WORDS.findall(before), _WORDS.findall(now)
    ends = sum(common_ends(old, new))
    if (len(old) - ends) * (len(new) - ends) > MOST_CELLS:
        old, new = _sentences(before), _sentences(now)
    steps = difference(old, new)
    parts = [
        TextPart(kind, "".join(step.name for step in run))
        for kind, run in groupby(steps, key=lambda step: step.kind)
    ]
    joined = _joined(parts)
    kept = sum(len(part.text) for part in joined if part.kind == "kept")
    return joined if kept >= LEAST_KEPT * max(len(before), len(now)) else _flushed(before, now)


def _sentences(text: str) -> list[str]:
    return [found for found in _SENTENCES.findall(text) if found]


def _joined(parts: list[TextPart]) -> list[TextPart]:
    """Merges changes with at most two words between them: `a b` -> `c d`, not word by word."""
    joined: list[TextPart] = []
    gone = come = ""
    for index, (kind, text) in enumerate(parts):
        is_between = bool(gone and come) and index + 1 < len(parts)
        if kind == "gone":
            gone += text
        elif kind == "come":
            come += text
        elif is_between and len(text.split()) <= FEW_WORDS:
            gone, come = gone + text, come + text
        else:
            joined += _flushed(gone, come)
            gone = come = ""
            joined.append(TextPart("kept", text))
    return [*joined, *_flushed(gone, come)]


def _flushed(gone: str, come: str) -> list[TextPart]:
    return [part for part in (TextPart("gone", gone), TextPart("come", come)) if part.text]
