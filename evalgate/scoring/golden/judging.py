"""Judges one trace against its golden: the score and its source for every dimension, and all issues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.evaluators.core.evaluator import Finding as Found
from evalgate.measures.numeric.scale import normalize_score
from evalgate.measures.text.text_similarity import TooLongError
from evalgate.models.run.evaluation import Issue
from evalgate.models.trace.trace_view import view_of
from evalgate.records import dataclass
from evalgate.scoring.golden.completeness import response_completeness
from evalgate.scoring.golden.dimension_finding import DimensionFinding
from evalgate.scoring.golden.levels import severity
from evalgate.scoring.golden.recall import memory_precision, memory_recall
from evalgate.scoring.golden.refusals import refusal_correctness
from evalgate.scoring.golden.serialised import serialised_answers
from evalgate.scoring.golden.tools import tool_success
from evalgate.scoring.golden.turns import align_turns
from evalgate.scoring.golden.weights import CATEGORY, mean_over_turns, reaches
from evalgate.scoring.trial import score_trial
from evalgate.scoring.wording import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.models.run.dimension import Dimension
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace
    from evalgate.scoring.golden.dimension_finding import DimensionIssue, Source
    from evalgate.scoring.golden.rules import GoldenRules
    from evalgate.scoring.golden.turns import TurnPair

UNSAID = "no score of this name is recorded, and no assertion is assigned to it"
FORMULAS = (
    *("memory_precision", "memory_recall", "tool_success_rate", "refusal_correctness"),
    "response_completeness",
)
MOST_TOLD = 3
"""Findings that a reason quotes."""


@dataclass(frozen=True, slots=True)
class Dimensioned:
    """One dimension of one trace; `steps` are its scores turn by turn, empty if it has none by turn."""

    name: Dimension
    score: float | None
    source: Source
    reason: str
    steps: Sequence[float | None] = ()
    issues: Sequence[Issue] = ()


@dataclass(frozen=True, slots=True)
class JudgedGolden:
    """All dimensions of one trace; `problem` says why it could not be judged at all."""

    beside: Sequence[TurnPair]
    dimensions: Mapping[Dimension, Dimensioned]
    issues: Sequence[Issue]
    problem: str | None = None


def judged(rules: GoldenRules, trace: Trace) -> JudgedGolden:
    """Judges a trace once, however often it is asked; the result is freed with the trace's view."""
    kept = view_of(trace).kept
    if id(rules) not in kept:
        kept[id(rules)] = rules, _judged(rules, trace)  # a reference to `rules`, so that its id stays unique
    found: JudgedGolden = kept[id(rules)][1]
    return found


def finding_of(rules: GoldenRules, name: Dimension, trace: Trace) -> Found:
    """One dimension as the finding of an assertion."""
    found = judged(rules, trace)
    if found.problem is not None:
        return Found("error", found.problem)
    dimension = found.dimensions[name]
    evidence: dict[str, Any] = {"judged_by": dimension.source}
    if dimension.score is None:
        return Found("not_evaluable", dimension.reason, evidence)
    if turns := _by_turn(found.beside, dimension):
        evidence["turns"] = turns
    outcome: Outcome = "passed" if reaches(dimension.score, rules.passing_score) else "failed"
    return Found(outcome, dimension.reason, evidence, dimension.score)


def named(step: TurnPair) -> str:
    """Names a step for people: turns of the golden count from 1."""
    if step.step.golden is not None:
        return f"turn {step.step.golden + 1}"
    return f"extra turn {(step.step.actual or 0) + 1}"


def _judged(rules: GoldenRules, trace: Trace) -> JudgedGolden:
    try:
        beside = align_turns(rules, trace)
    except TooLongError as error:
        return JudgedGolden((), {}, (), str(error))
    scorers = _scored(rules, beside, trace)
    dimensions = {name: _dimension(rules, name, scorers, beside, trace) for name in rules.dimensions}
    issues = [issue for each in dimensions.values() for issue in each.issues]
    serialised = [] if "completeness" in rules.left_out else serialised_answers(beside)
    return JudgedGolden(beside, dimensions, [*_alone(beside), *issues, *serialised])


def _scored(rules: GoldenRules, beside: Sequence[TurnPair], trace: Trace) -> Mapping[str, DimensionFinding]:
    """Scores the dimensions that have a formula; a missing turn scores 0 if other turns could be judged."""
    if not beside:
        return dict.fromkeys(
            FORMULAS, DimensionFinding([], lacking="neither the golden nor the trace has a turn")
        )
    found = {
        "memory_precision": memory_precision(rules, beside),
        "memory_recall": memory_recall(rules, beside),
        "tool_success_rate": tool_success(rules, beside, trace),
        "refusal_correctness": refusal_correctness(rules, beside),
        "response_completeness": response_completeness(rules, beside),
    }
    for scored in found.values():
        if any(score is not None for score in scored.steps):
            scored.steps = [
                0.0 if score is None and each.is_missing else score
                for score, each in zip(scored.steps, beside, strict=True)
            ]
    return found


def _dimension(
    rules: GoldenRules,
    name: Dimension,
    formulas: Mapping[str, DimensionFinding],
    beside: Sequence[TurnPair],
    trace: Trace,
) -> Dimensioned:
    """Scores a dimension by its recorded score, else by assertions assigned to it, else by its formula."""
    recorded = trace.scores.get(name)
    if recorded is not None:
        score = normalize_score(recorded)
        reason = f"{score:.3g}, as recorded in the trace"
        return Dimensioned(name, score, "recorded", reason, (), _whole_issue(rules, name, score, reason))
    if rules.assigned.get(name):
        return _by_assertions(rules, name, trace)
    if name not in formulas:
        return Dimensioned(name, None, "none", UNSAID)
    return _by_formula(rules, name, formulas[name], beside)


def _by_assertions(rules: GoldenRules, name: Dimension, trace: Trace) -> Dimensioned:
    rows = [assertion.assess(trace) for assertion in rules.assigned[name]]
    _, score = score_trial(rows, 0.0)
    failing = [row for row in rows if row.outcome not in ("passed", "skipped")]
    said = f": {shorten(failing[0].name)}: {shorten(failing[0].reason)}" if failing else ""
    if score is None:
        return Dimensioned(name, None, "assertions", f"none of its assertions could be judged{said}")
    reason = f"{len(rows) - len(failing)} of {len(rows)} assertions hold{said}"
    return Dimensioned(name, score, "assertions", reason, (), _whole_issue(rules, name, score, reason))


def _by_formula(
    rules: GoldenRules, name: Dimension, scored: DimensionFinding, beside: Sequence[TurnPair]
) -> Dimensioned:
    score = mean_over_turns(scored.steps, _turn_weights(rules, beside))
    if score is None:
        return Dimensioned(name, None, "formula", scored.lacking)
    issues = list(_step_issues(rules, name, scored))
    many = len(beside) > 1
    told = [f"{named(beside[each.turn or 0])}: {each.message}" if many else each.message for each in issues]
    zeros = [
        named(each) for each, one in zip(beside, scored.steps, strict=True) if one == 0 and each.is_missing
    ]
    told += [f"{each} is missing" for each in zeros if not any(text.startswith(each) for text in told)]
    more = f"; and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    reason = "; ".join([f"{score:.3g}", *told[:MOST_TOLD]]) + more
    return Dimensioned(name, score, "formula", reason, scored.steps, issues)


def _turn_weights(rules: GoldenRules, beside: Sequence[TurnPair]) -> list[float]:
    weights = rules.turn_weights
    return [
        weights[each.step.golden] if each.step.golden is not None and each.step.golden < len(weights) else 1.0
        for each in beside
    ]


def _step_issues(rules: GoldenRules, name: Dimension, scored: DimensionFinding) -> Iterator[Issue]:
    """One issue for each step that falls short, with all problems found in it."""
    by_step: dict[int, list[DimensionIssue]] = {}
    for each in scored.findings:
        by_step.setdefault(each.step, []).append(each)
    for at, found in sorted(by_step.items()):
        score = scored.steps[at]
        if score is None:
            continue
        grave = severity(name, score, rules.passing_score, rules.warning_threshold)
        if grave is None:
            continue
        messages = list(dict.fromkeys(each.message for each in found))
        more = f" and {len(messages) - MOST_TOLD} more" if len(messages) > MOST_TOLD else ""
        evidence = next((each.evidence for each in found if each.evidence), None)
        message = shorten(f"{', '.join(messages[:MOST_TOLD])}{more}")
        yield Issue(CATEGORY[name], grave, message, evidence, at)


def _whole_issue(rules: GoldenRules, name: Dimension, score: float, reason: str) -> list[Issue]:
    grave = severity(name, score, rules.passing_score, rules.warning_threshold)
    return [] if grave is None else [Issue(CATEGORY[name], grave, shorten(f"{name}: {reason}"))]


def _alone(beside: Sequence[TurnPair]) -> Iterator[Issue]:
    """Issues for turns that only one side has."""
    for at, each in enumerate(beside):
        if each.is_missing:
            said = shorten(each.user or each.response or "")
            yield Issue("completeness", "error", f"{named(each)} of the golden is missing", said or None, at)
        elif each.is_extra:
            said = shorten(each.user or "")
            message = f"{named(each)} of the conversation is not in the golden"
            yield Issue("completeness", "warning", message, said or None, at)


def _by_turn(beside: Sequence[TurnPair], dimension: Dimensioned) -> dict[str, float]:
    """Scores by turn, rounded for display."""
    pairs = zip(beside, dimension.steps, strict=False)
    return {named(each): round(score, 4) for each, score in pairs if score is not None}
