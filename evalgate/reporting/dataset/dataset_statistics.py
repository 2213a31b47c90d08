"""Statistics of a set of goldens: number of each kind, turns and creators."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.run.golden import Golden


def compute_dataset_statistics(goldens: Sequence[Golden]) -> dict[str, Any]:
    """Counts goldens by attribute, most frequent first; once under each of their tags and requirements."""
    turns = [len(golden.user_messages) for golden in goldens]
    return {
        "goldens": len(goldens),
        "turns": sum(turns),
        "turns_per_golden": round(sum(turns) / len(turns), 3) if turns else None,
        "longest": max(turns, default=None),
        "by_intent": _count_words(golden.intent for golden in goldens),
        "by_stance": _count_words(golden.primary_stance for golden in goldens),
        "by_creator": _count_words(golden.creator for golden in goldens if golden.creator),
        "by_tag": _count_words(tag for golden in goldens for tag in golden.tags),
        "by_memory_recall": _count_words(
            word for golden in goldens for word in golden.required_memory_recall
        ),
        "by_tool_usage": _count_words(word for golden in goldens for word in golden.required_tool_usage),
        "by_refusal": _count_words(word for golden in goldens for word in golden.required_refusal),
    }


def _count_words(words: Iterable[str]) -> dict[str, int]:
    counts = Counter(words)
    return {word: counts[word] for word in sorted(counts, key=lambda word: (-counts[word], word))}
