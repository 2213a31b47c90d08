"""`memory_precision` and `memory_recall`: compares retrieved memories with those that are due.

Recall is the share of due entries that were remembered, precision the share of retrieved memories that were
due. A kind of memory (episodic, semantic, ...) can be judged only if the trace records kinds; any other
entry is a text to be remembered, and counts as remembered also if the answer contains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.text.text_similarity import MAX_TEXT, words
from evalgate.measures.values.json_values import shorten
from evalgate.models.run.golden import MEMORY_RECALLS
from evalgate.scoring.golden.rules import parse_due
from evalgate.scoring.golden.turns import (
    DimensionFinding,
    DimensionIssue,
    StepTally,
    find_due_step,
    find_last_step,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.scoring.golden.rules import Due, GoldenRules
    from evalgate.scoring.golden.turns import Memory, TurnPair

NO_MEMORY = "none"
NOT_DUE = "the golden does not define what must be remembered"
NOT_RETRIEVED = "the trace has no retrieved memories"
NO_KINDS = "the trace does not record the kinds of its memories"


def memory_recall(rules: GoldenRules, turn_pairs: Sequence[TurnPair]) -> DimensionFinding:
    """The score of each step, and the entries that were forgotten."""
    demands = [each for entry in rules.golden.required_memory_recall if (each := parse_due(entry)).word != NO_MEMORY]
    tallies, findings = [StepTally() for _ in turn_pairs], list[DimensionIssue]()
    has_kinds = any(memory.kind for memory in _list_memories(turn_pairs))
    judgeable = [each for each in demands if has_kinds or not _is_kind(each)]
    texts_by_step = [_searchable_texts(each) for each in turn_pairs] if judgeable else []
    for demand in judgeable:
        bound = find_due_step(turn_pairs, demand)
        steps = range(len(turn_pairs)) if bound is None else [bound]
        fact = normalise_words(demand.word)
        met = next(
            (index for index in steps if _is_remembered(demand, fact, turn_pairs[index], texts_by_step[index])), None
        )
        if met is not None:
            tallies[met].count(met=True)
            continue
        index = find_last_step(turn_pairs) if bound is None else bound
        tallies[index].count(met=False)
        description = f"no {demand.word} memory was" if _is_kind(demand) else f"`{shorten(demand.word, 80)}` was not"
        findings.append(
            DimensionIssue(index, f"{description} remembered", f"required_memory_recall: {shorten(demand.word)}")
        )
    return DimensionFinding([tally.share for tally in tallies], findings, _explain_missing(turn_pairs, demands))


def memory_precision(rules: GoldenRules, turn_pairs: Sequence[TurnPair]) -> DimensionFinding:
    """The score of each step, and the retrieved memories that are not due."""
    demands = [parse_due(entry) for entry in rules.golden.required_memory_recall]
    tallies, findings = [StepTally() for _ in turn_pairs], list[DimensionIssue]()
    bounds = [find_due_step(turn_pairs, demand) for demand in demands]
    for index, pair in enumerate(turn_pairs):
        due_here = [demand for demand, bound in zip(demands, bounds, strict=True) if bound in (None, index)]
        for memory in pair.actual.memories if pair.actual is not None and due_here else ():
            is_due = _is_due(memory, due_here)
            if is_due is None:
                continue
            tallies[index].count(met=is_due)
            if not is_due:
                findings.append(DimensionIssue(index, "an unexpected memory was retrieved", shorten(memory.text, 200)))
    missing_reason = NOT_DUE if not demands else NO_KINDS if _list_memories(turn_pairs) else NOT_RETRIEVED
    return DimensionFinding([tally.share for tally in tallies], findings, missing_reason)


def _explain_missing(turn_pairs: Sequence[TurnPair], demands: Sequence[Due]) -> str:
    if not demands:
        return NOT_DUE
    return NO_KINDS if _list_memories(turn_pairs) else NOT_RETRIEVED


def _list_memories(turn_pairs: Sequence[TurnPair]) -> list[Memory]:
    return [memory for each in turn_pairs if each.actual is not None for memory in each.actual.memories]


def _is_kind(demand: Due) -> bool:
    return demand.word in MEMORY_RECALLS


def _searchable_texts(pair: TurnPair) -> list[str]:
    """The answer of a step and the memories retrieved in it, normalised for searching."""
    if pair.actual is None:
        return []
    return [
        normalise_words(text) for text in (pair.actual.response or "", *(each.text for each in pair.actual.memories))
    ]


def _is_remembered(demand: Due, fact: str, pair: TurnPair, texts: Sequence[str]) -> bool:
    if pair.actual is None:
        return False
    if _is_kind(demand):
        return any(memory.kind == demand.word for memory in pair.actual.memories)
    return bool(fact.strip()) and any(fact in text for text in texts)


def _is_due(memory: Memory, demands: Sequence[Due]) -> bool | None:
    """Whether a retrieved memory is one of those due; None if unknown."""
    text = normalise_words(memory.text)
    if any(not _is_kind(each) and (fact := normalise_words(each.word)).strip() and fact in text for each in demands):
        return True
    kinds = {each.word for each in demands if _is_kind(each)} - {NO_MEMORY}
    if memory.kind is None and kinds:
        return None
    return memory.kind in kinds


def normalise_words(text: str) -> str:
    """The words of a text between spaces, so that one text can be searched for in another.

    >>> normalise_words("Green TEA!") in normalise_words("You like green tea, as always.")
    True
    """
    return f" {' '.join(words(text[:MAX_TEXT]))} "
