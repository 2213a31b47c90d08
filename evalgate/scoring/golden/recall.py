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
from evalgate.scoring.golden.dimension_finding import (
    DimensionFinding,
    DimensionIssue,
    StepTally,
    last_step,
    step_of,
)
from evalgate.scoring.golden.rules import due

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.scoring.golden.memories import Memory
    from evalgate.scoring.golden.rules import Due, GoldenRules
    from evalgate.scoring.golden.turns import TurnPair

NOTHING = "none"
NOT_DUE = "the golden says nothing of what must be remembered"
NOT_RETRIEVED = "the trace tells of no retrieved memory"
NO_KINDS = "the trace does not tell what kinds its memories are"


def memory_recall(rules: GoldenRules, beside: Sequence[TurnPair]) -> DimensionFinding:
    """The score of each step, and the entries that were forgotten."""
    demands = [each for entry in rules.golden.required_memory_recall if (each := due(entry)).word != NOTHING]
    tallies, findings = [StepTally() for _ in beside], list[DimensionIssue]()
    has_kinds = any(memory.kind for memory in _all(beside))
    judged = [each for each in demands if has_kinds or not _is_kind(each)]
    said = [_said(each) for each in beside] if judged else []
    for demand in judged:
        bound = step_of(beside, demand)
        steps = range(len(beside)) if bound is None else [bound]
        fact = spoken(demand.word)
        met = next((at for at in steps if _is_remembered(demand, fact, beside[at], said[at])), None)
        if met is not None:
            tallies[met].count(met=True)
            continue
        at = last_step(beside) if bound is None else bound
        tallies[at].count(met=False)
        what = f"no {demand.word} memory was" if _is_kind(demand) else f"`{shorten(demand.word, 80)}` was not"
        findings.append(
            DimensionIssue(at, f"{what} remembered", f"required_memory_recall: {shorten(demand.word)}")
        )
    return DimensionFinding([tally.share for tally in tallies], findings, _lacking(beside, demands))


def memory_precision(rules: GoldenRules, beside: Sequence[TurnPair]) -> DimensionFinding:
    """The score of each step, and the retrieved memories that are not due."""
    demands = [due(entry) for entry in rules.golden.required_memory_recall]
    tallies, findings = [StepTally() for _ in beside], list[DimensionIssue]()
    bounds = [step_of(beside, demand) for demand in demands]
    for at, each in enumerate(beside):
        here = [demand for demand, bound in zip(demands, bounds, strict=True) if bound in (None, at)]
        for memory in each.actual.memories if each.actual is not None and here else ():
            is_due = _is_due(memory, here)
            if is_due is None:
                continue
            tallies[at].count(met=is_due)
            if not is_due:
                findings.append(
                    DimensionIssue(at, "a memory was retrieved that is not due", shorten(memory.text, 200))
                )
    lacking = NOT_DUE if not demands else NO_KINDS if _all(beside) else NOT_RETRIEVED
    return DimensionFinding([tally.share for tally in tallies], findings, lacking)


def _lacking(beside: Sequence[TurnPair], demands: Sequence[Due]) -> str:
    if not demands:
        return NOT_DUE
    return NO_KINDS if _all(beside) else NOT_RETRIEVED


def _all(beside: Sequence[TurnPair]) -> list[Memory]:
    return [memory for each in beside if each.actual is not None for memory in each.actual.memories]


def _is_kind(demand: Due) -> bool:
    return demand.word in MEMORY_RECALLS


def _said(step: TurnPair) -> list[str]:
    """The answer of a step and the memories retrieved in it, normalised for searching."""
    if step.actual is None:
        return []
    return [
        spoken(text) for text in (step.actual.response or "", *(each.text for each in step.actual.memories))
    ]


def _is_remembered(demand: Due, fact: str, step: TurnPair, said: Sequence[str]) -> bool:
    if step.actual is None:
        return False
    if _is_kind(demand):
        return any(memory.kind == demand.word for memory in step.actual.memories)
    return bool(fact.strip()) and any(fact in text for text in said)


def _is_due(memory: Memory, demands: Sequence[Due]) -> bool | None:
    """Whether a retrieved memory is one of those due; None if unknown."""
    text = spoken(memory.text)
    if any(not _is_kind(each) and (fact := spoken(each.word)).strip() and fact in text for each in demands):
        return True
    kinds = {each.word for each in demands if _is_kind(each)} - {NOTHING}
    if memory.kind is None and kinds:
        return None
    return memory.kind in kinds


def spoken(text: str) -> str:
    """The words of a text between spaces, so that one text can be searched for in another.

    >>> spoken("Green TEA!") in spoken("You like green tea, as always.")
    True
    """
    return f" {' '.join(words(text[:MAX_TEXT]))} "
