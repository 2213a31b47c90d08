"""Compares two texts by words, long texts by sentences: parts kept, removed and added."""

from __future__ import annotations

import re
from itertools import groupby

from evalgate.measures.sequences.list_difference import MOST_CELLS, common_ends, diff_lists
from evalgate.models.comparison.trajectory import TextPart

_WORDS = re.compile(r"\s+|[^\s]+")
MIN_KEPT = 0.3
"""Share of the longer text that must be kept; with less, one text replaces the other."""
FEW_WORDS = 2
_SENTENCES = re.compile(r"[^.!?\n]*(?:[.!?\n]+\s*|$)")


def diff_texts(baseline: str, current: str) -> list[TextPart]:
    """Returns parts in order; without `gone` parts they are `current`, without `come` parts `baseline`.

    Texts with little in common are reported as replaced: many small parts would be hard to read.
    """
    left, right = _WORDS.findall(baseline), _WORDS.findall(current)
    ends = sum(common_ends(left, right))
    if (len(left) - ends) * (len(right) - ends) > MOST_CELLS:
        left, right = _split_sentences(baseline), _split_sentences(current)
    steps = diff_lists(left, right)
    parts = [
        TextPart(kind, "".join(step.name for step in run)) for kind, run in groupby(steps, key=lambda step: step.kind)
    ]
    merged = _merge_changes(parts)
    kept = sum(len(part.text) for part in merged if part.kind == "kept")
    return merged if kept >= MIN_KEPT * max(len(baseline), len(current)) else _replace(baseline, current)


def _split_sentences(text: str) -> list[str]:
    return [found for found in _SENTENCES.findall(text) if found]


def _merge_changes(parts: list[TextPart]) -> list[TextPart]:
    """Merges changes with at most two words between them: `a b` -> `c d`, not word by word."""
    merged: list[TextPart] = []
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
            merged += _replace(gone, come)
            gone = come = ""
            merged.append(TextPart("kept", text))
    return [*merged, *_replace(gone, come)]


def _replace(gone: str, come: str) -> list[TextPart]:
    return [part for part in (TextPart("gone", gone), TextPart("come", come)) if part.text]
