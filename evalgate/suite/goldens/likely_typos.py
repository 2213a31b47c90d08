"""Finds words of a golden that are allowed, as their lists are open, but look like typos."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from evalgate.models.run.golden import INTENTS, MEMORY_RECALLS, REFUSALS, STANCES, TOOL_USAGES
from evalgate.scoring.golden.rules import parse_due

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.evaluators.core.field_problems import Path
    from evalgate.models.run.golden import Golden

MIN_SIMILARITY = 0.8
_LISTS = {
    "secondary_stances": STANCES,
    "required_memory_recall": MEMORY_RECALLS,
    "required_tool_usage": TOOL_USAGES,
    "required_refusal": REFUSALS,
}


def find_likely_typos(golden: Golden) -> Iterator[tuple[Path, str, str]]:
    """The path of each word that is similar to a known one, with a message and a hint."""
    for name, word, known in (("intent", golden.intent, INTENTS), ("primary_stance", golden.primary_stance, STANCES)):
        if similar := _find_similar(word, known):
            yield (name,), f"`{word}` is not a known {name}", f"did you mean `{similar}`?"
    for name, known in _LISTS.items():
        for index, written in enumerate(getattr(golden, name)):
            word = parse_due(written).word
            if similar := _find_similar(word, known):
                yield (name, index), f"`{word}` is not a known value of `{name}`", f"did you mean `{similar}`?"


def _find_similar(word: str, known: tuple[str, ...]) -> str | None:
    if word in known:
        return None
    return next(iter(get_close_matches(word.casefold(), known, 1, MIN_SIMILARITY)), None)
