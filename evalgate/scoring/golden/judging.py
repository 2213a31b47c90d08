"""Judges one trace against its golden: the score and its source for every dimension, and all issues."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.evaluators.core.agents import ANY, UNKNOWN, select_agent
from evalgate.evaluators.core.assertion import Assertion
from evalgate.evaluators.core.evaluator import Finding as Found
from evalgate.evaluators.core.evaluator import build_undecided, describe_missing, find_missing
from evalgate.evaluators.kinds.convergence import normalize_score
from evalgate.measures.text.text_similarity import TooLongError
from evalgate.models.run.golden import DIMENSION_TYPE, Issue
from evalgate.models.trace.trace_view import get_view
from evalgate.scoring.golden.answers import find_serialised_answers, refusal_correctness, response_completeness
from evalgate.scoring.golden.recall import memory_precision, memory_recall
from evalgate.scoring.golden.rules import CATEGORY, mean_over_turns, reaches, severity
from evalgate.scoring.golden.tools import score_tool_success
from evalgate.scoring.golden.turns import DimensionFinding, EvidenceGap, align_turns
from evalgate.scoring.scenario import score_trial
from evalgate.scoring.wording import cut_quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.errors import Location
    from evalgate.models.run.golden import Dimension
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import EvidenceKind, Trace
    from evalgate.scoring.golden.rules import GoldenRules
    from evalgate.scoring.golden.turns import DimensionIssue, DimensionSource, TurnPair

NO_SOURCE = "no score of this name is recorded, and no assertion is assigned to it"
MEMORY_EVIDENCE: tuple[EvidenceKind, ...] = ("calls", "results")
FORMULAS = (*("memory_precision", "memory_recall", "tool_success_rate", "refusal_correctness"), "response_completeness")
MOST_QUOTED = 3
VERSION = 1
"""Increase it when the same trace could get another score against the same golden."""
"""Findings that a reason quotes."""


class DimensionResult(Struct, frozen=True):
    """One dimension of one trace; `steps` are its scores turn by turn, empty if it has none by turn.

    `may_fail`: calls that were not recorded could make it fail, so that it can't be left out.
    """

    name: Dimension
    score: float | None
    source: DimensionSource
    reason: str
    steps: Sequence[float | None] = ()
    issues: Sequence[Issue] = ()
    may_fail: bool = False


class GoldenJudgement(Struct, frozen=True):
    """All dimensions of one trace; `problem` says why it could not be judged at all."""

    turn_pairs: Sequence[TurnPair]
    dimensions: Mapping[Dimension, DimensionResult]
    issues: Sequence[Issue]
    problem: str | None = None


def judge_golden(rules: GoldenRules, trace: Trace) -> GoldenJudgement:
    """Judges a trace once, however often it is asked; the result is freed with the trace's view."""
    cache = get_view(trace).cache
    if id(rules) not in cache:
        cache[id(rules)] = (rules, _judge_uncached(rules, trace))  # a reference to `rules`, so that its id stays unique
    judgement: GoldenJudgement = cache[id(rules)][1]
    return judgement


def judge_dimension(rules: GoldenRules, name: Dimension, trace: Trace) -> Found:
    """One dimension as the finding of an assertion."""
    judgement = judge_golden(rules, trace)
    if judgement.problem is not None:
        return Found("error", judgement.problem)
    dimension = judgement.dimensions[name]
    evidence: dict[str, Any] = {"judged_by": dimension.source}
    if dimension.score is None:
        found = Found("not_evaluable", dimension.reason, evidence)
        return build_undecided(found, may_fail=True, may_pass=True) if dimension.may_fail else found
    if turns := _list_turn_scores(judgement.turn_pairs, dimension):
        evidence["turns"] = turns
    outcome: Outcome = "passed" if reaches(dimension.score, rules.passing_score) else "failed"
    return Found(outcome, dimension.reason, evidence, dimension.score)


def format_step(pair: TurnPair) -> str:
    """Names a step for people: turns of the golden count from 1."""
    if pair.step.golden is not None:
        return f"turn {pair.step.golden + 1}"
    return f"extra turn {(pair.step.actual or 0) + 1}"


def _judge_uncached(rules: GoldenRules, trace: Trace) -> GoldenJudgement:
    own = trace if rules.agent == ANY else select_agent(trace, rules.agent)
    if own is None:
        return GoldenJudgement((), {name: _miss_agents(name) for name in rules.dimensions}, ())
    try:
        turn_pairs = align_turns(rules, own)
    except TooLongError as error:
        return GoldenJudgement((), {}, (), str(error))
    formulas = _score_formulas(rules, turn_pairs, own)
    dimensions = {name: _score_dimension(rules, name, formulas, turn_pairs, trace) for name in rules.dimensions}
    issues = [issue for each in dimensions.values() for issue in each.issues]
    serialised = [] if "completeness" in rules.left_out else find_serialised_answers(turn_pairs)
    return GoldenJudgement(turn_pairs, dimensions, [*_find_unpaired_turns(turn_pairs), *issues, *serialised])


def _miss_agents(name: Dimension) -> DimensionResult:
    """A dimension of one agent, in a trace that does not say who acted."""
    return DimensionResult(name, None, "none", f"missing evidence (agents): {UNKNOWN}", may_fail=True)


def _score_formulas(rules: GoldenRules, turn_pairs: Sequence[TurnPair], trace: Trace) -> Mapping[str, DimensionFinding]:
    """Scores the dimensions that have a formula; a missing turn scores 0 if other turns could be judged."""
    if not turn_pairs:
        return dict.fromkeys(
            FORMULAS, DimensionFinding([], missing_reason="neither the golden nor the trace has a turn")
        )
    found = {
        "memory_precision": memory_precision(rules, turn_pairs),
        "memory_recall": memory_recall(rules, turn_pairs),
        "tool_success_rate": score_tool_success(rules, turn_pairs, trace),
        "refusal_correctness": refusal_correctness(rules, turn_pairs),
        "response_completeness": response_completeness(rules, turn_pairs),
    }
    if missing := find_missing(trace, MEMORY_EVIDENCE):
        reason = describe_missing(trace, missing)
        for name in ("memory_precision", "memory_recall"):
            _mark_unknown(found[name], reason)
    for finding in found.values():
        if any(score is not None for score in finding.steps):
            finding.steps = _fill_missing_turns(finding.steps, turn_pairs)
    return found


def _mark_unknown(finding: DimensionFinding, reason: str) -> None:
    """Notes that memories may be missing, which tools return: more of them could raise or lower any score."""
    best_steps = [None if score is None else 1.0 for score in finding.steps]
    if any(best_steps):
        finding.gap = EvidenceGap(reason, best_steps, may_fail=True)


def _fill_missing_turns(steps: Sequence[float | None], turn_pairs: Sequence[TurnPair]) -> list[float | None]:
    return [0.0 if score is None and each.is_missing else score for score, each in zip(steps, turn_pairs, strict=True)]


def _score_dimension(
    rules: GoldenRules,
    name: Dimension,
    formulas: Mapping[str, DimensionFinding],
    turn_pairs: Sequence[TurnPair],
    trace: Trace,
) -> DimensionResult:
    """Scores a dimension by its recorded score, else by assertions assigned to it, else by its formula."""
    recorded = trace.scores.get(name)
    if recorded is not None:
        score = normalize_score(recorded)
        reason = f"{score:.3g}, as recorded in the trace"
        return DimensionResult(name, score, "recorded", reason, (), _build_trace_issue(rules, name, score, reason))
    if rules.assigned.get(name):
        return _score_by_assertions(rules, name, trace)
    if name not in formulas:
        return DimensionResult(name, None, "none", NO_SOURCE)
    return _score_by_formula(rules, name, formulas[name], turn_pairs)


def _score_by_assertions(rules: GoldenRules, name: Dimension, trace: Trace) -> DimensionResult:
    rows = [assertion.assess(trace) for assertion in rules.assigned[name]]
    _, score = score_trial(rows, 0.0)
    failing = [row for row in rows if row.outcome not in ("passed", "skipped")]
    detail = f": {cut_quote(failing[0].name)}: {cut_quote(failing[0].reason)}" if failing else ""
    if score is None:
        return DimensionResult(name, None, "assertions", f"none of its assertions could be judged{detail}")
    reason = f"{len(rows) - len(failing)} of {len(rows)} assertions passed{detail}"
    return DimensionResult(name, score, "assertions", reason, (), _build_trace_issue(rules, name, score, reason))


def _score_by_formula(
    rules: GoldenRules, name: Dimension, finding: DimensionFinding, turn_pairs: Sequence[TurnPair]
) -> DimensionResult:
    weights, gap = _weigh_pairs(rules, turn_pairs), finding.gap
    if gap is not None:
        best = mean_over_turns(_fill_missing_turns(gap.best_steps, turn_pairs), weights)
        if best is None or reaches(best, rules.passing_score):
            return DimensionResult(name, None, "formula", gap.reason, may_fail=gap.may_fail)
    score = mean_over_turns(finding.steps, weights)
    if score is None:
        return DimensionResult(name, None, "formula", finding.missing_reason)
    issues = list(_build_step_issues(rules, name, finding))
    has_several = len(turn_pairs) > 1
    messages = [
        f"{format_step(turn_pairs[each.turn or 0])}: {each.message}" if has_several else each.message for each in issues
    ]
    missing = [
        format_step(each) for each, one in zip(turn_pairs, finding.steps, strict=True) if one == 0 and each.is_missing
    ]
    messages += [f"{each} is missing" for each in missing if not any(text.startswith(each) for text in messages)]
    more = f"; and {len(messages) - MOST_QUOTED} more" if len(messages) > MOST_QUOTED else ""
    reason = "; ".join([f"{score:.3g}", *messages[:MOST_QUOTED]]) + more
    return DimensionResult(name, score, "formula", reason, finding.steps, issues)


def _weigh_pairs(rules: GoldenRules, turn_pairs: Sequence[TurnPair]) -> list[float]:
    weights = rules.turn_weights
    return [
        weights[each.step.golden] if each.step.golden is not None and each.step.golden < len(weights) else 1.0
        for each in turn_pairs
    ]


def _build_step_issues(rules: GoldenRules, name: Dimension, finding: DimensionFinding) -> Iterator[Issue]:
    """One issue for each step that falls short, with all problems found in it."""
    by_step: dict[int, list[DimensionIssue]] = {}
    for each in finding.issues:
        by_step.setdefault(each.step, []).append(each)
    for step, found in sorted(by_step.items()):
        score = finding.steps[step]
        if score is None:
            continue
        issue_severity = severity(name, score, rules.passing_score, rules.warning_threshold)
        if issue_severity is None:
            continue
        messages = list(dict.fromkeys(each.message for each in found))
        more = f" and {len(messages) - MOST_QUOTED} more" if len(messages) > MOST_QUOTED else ""
        evidence = next((each.evidence for each in found if each.evidence), None)
        message = cut_quote(f"{', '.join(messages[:MOST_QUOTED])}{more}")
        yield Issue(CATEGORY[name], issue_severity, message, evidence, step)


def _build_trace_issue(rules: GoldenRules, name: Dimension, score: float, reason: str) -> list[Issue]:
    issue_severity = severity(name, score, rules.passing_score, rules.warning_threshold)
    return [] if issue_severity is None else [Issue(CATEGORY[name], issue_severity, cut_quote(f"{name}: {reason}"))]


def _find_unpaired_turns(turn_pairs: Sequence[TurnPair]) -> Iterator[Issue]:
    for index, pair in enumerate(turn_pairs):
        if pair.is_missing:
            text = cut_quote(pair.user or pair.response or "")
            yield Issue("completeness", "error", f"{format_step(pair)} of the golden is missing", text or None, index)
        elif pair.is_extra:
            text = cut_quote(pair.user or "")
            message = f"{format_step(pair)} of the conversation is not in the golden"
            yield Issue("completeness", "warning", message, text or None, index)


def _list_turn_scores(turn_pairs: Sequence[TurnPair], dimension: DimensionResult) -> dict[str, float]:
    pairs = zip(turn_pairs, dimension.steps, strict=False)
    return {format_step(each): round(score, 4) for each, score in pairs if score is not None}


def dimension_checks(rules: GoldenRules, location: Location | None) -> list[Assertion]:
    """One assertion for each evaluated dimension; one with nothing to judge leaves its weight to others."""
    description = describe_rules(rules)
    return [
        Assertion(
            name=name,
            type=DIMENSION_TYPE,
            weight=rules.weights.dimension_weight(name),
            required=False,
            on_missing_skip=True,
            check=partial(judge_dimension, rules, name),
            location=location,
            versions={DIMENSION_TYPE: VERSION},
            written={
                "type": DIMENSION_TYPE,
                "name": name,
                "weight": rules.weights.dimension_weight(name),
                "by": description,
                **({} if rules.agent == ANY else {"agent": rules.agent}),
            },
        )
        for name in rules.dimensions
    ]


def describe_rules(rules: GoldenRules) -> Mapping[str, Any]:
    """All that a verdict about the golden depends on, as plain data: equal for equal rules."""
    golden = rules.golden
    return {
        "user_messages": list(golden.user_messages),
        "golden_responses": list(golden.golden_responses),
        "required_memory_recall": list(golden.required_memory_recall),
        "required_tool_usage": list(golden.required_tool_usage),
        "required_refusal": list(golden.required_refusal),
        "strict": rules.is_strict,
        "memory_tools": list(rules.memory_tools),
        "turn_weights": list(rules.turn_weights),
        "passing_score": rules.passing_score,
        "warning_threshold": rules.warning_threshold,
        "assertions": {name: [each.written for each in found] for name, found in rules.assigned.items()},
    }
