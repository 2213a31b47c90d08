"""`tool_success_rate`: of the calls that were due and those that failed, the share that succeeded.

In a turn with demands it is demands met / (demands + failed calls); other successful calls neither help nor
harm. If the golden demands nothing of tools it is the share of calls that succeeded.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.evaluators.core.evaluator import CALLS, describe_missing, find_missing
from evalgate.measures.text.globs import matches_id
from evalgate.measures.text.text_similarity import MAX_TEXT, words
from evalgate.measures.text.tool_words import unwrap_definition
from evalgate.measures.values.json_values import shorten, show
from evalgate.models.run.golden import TOOL_USAGES
from evalgate.scoring.golden.rules import parse_due
from evalgate.scoring.golden.turns import (
    DimensionFinding,
    DimensionIssue,
    EvidenceGap,
    StepTally,
    find_due_step,
    find_last_step,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalgate.models.trace.trace import ToolCall, Trace
    from evalgate.scoring.golden.rules import Due, GoldenRules
    from evalgate.scoring.golden.turns import TurnPair

NO_CALLS = "no tool call was made and none was expected"
NO_TOOL, INVOKED, INTERPRETED = "not_applicable", "correct_invocation", "correct_interpretation"
SHORTEST_WORD = 3
"""Length of a word from which it shows, in the answer, that a result was read; numbers may be shorter."""


def score_tool_success(rules: GoldenRules, turn_pairs: Sequence[TurnPair], trace: Trace) -> DimensionFinding:
    """The score of each step, and every call that failed, was missed or was not due."""
    scorer = _ToolScorer(rules, turn_pairs, trace)
    finding = scorer.score()
    if missing := find_missing(trace, CALLS):
        reason, may_fail = describe_missing(trace, missing), bool(rules.golden.required_tool_usage)
        finding.gap = EvidenceGap(reason, scorer.best_steps(), may_fail)
    return finding


class _ToolScorer:
    """Compares the calls of one trace with the demands of one golden."""

    def __init__(self, rules: GoldenRules, turn_pairs: Sequence[TurnPair], trace: Trace) -> None:
        self._turn_pairs = turn_pairs
        names = (unwrap_definition(each).get("name") for each in trace.tool_definitions)
        self._defined_tools = {name for name in names if isinstance(name, str)}
        self._due = [parse_due(entry) for entry in rules.golden.required_tool_usage]
        self._demands = [each for each in self._due if each.word not in TOOL_USAGES]
        self._words = [each for each in self._due if each.word in (INVOKED, INTERPRETED)]
        self._tallies = [StepTally() for _ in turn_pairs]
        self._findings: list[DimensionIssue] = []

    def score(self) -> DimensionFinding:
        forbidden = {find_due_step(self._turn_pairs, each) for each in self._due if each.word == NO_TOOL}
        successful = [self._collect_successful_calls(step, forbidden) for step in range(len(self._turn_pairs))]
        self._judge_names([Counter(call["name"] for call in calls) for calls in successful])
        for demand in self._words:
            self._judge_word(demand, successful)
        if not self._demands and not self._words:
            for tally, calls in zip(self._tallies, successful, strict=True):
                tally.met += len(calls)
                tally.total += len(calls)
        return DimensionFinding([tally.share for tally in self._tallies], self._findings, NO_CALLS)

    def best_steps(self) -> list[float | None]:
        """The best scores if further calls were made; without demands, calls that succeed raise the score."""
        forbidden = {find_due_step(self._turn_pairs, each) for each in self._due if each.word == NO_TOOL}
        if self._demands or self._words or None in forbidden:
            return [tally.best_share for tally in self._tallies]
        return [tally.share if step in forbidden else 1.0 for step, tally in enumerate(self._tallies)]

    def _collect_successful_calls(self, step: int, forbidden: set[int | None]) -> list[ToolCall]:
        """The successful calls of a step; the others count against it."""
        actual = self._turn_pairs[step].actual
        successful: list[ToolCall] = []
        is_free = not {None, step} & forbidden
        named = {each.word for each in self._demands}
        for call in actual.calls if actual is not None else ():
            problem = find_call_problem(call, self._defined_tools)
            if problem is None and not is_free and not _is_named(call["name"], named):
                problem = "was called where no tool call is expected"
            if problem is None:
                successful.append(call)
            else:
                self._tallies[step].count(met=False)
                self._add_issue(step, f"`{shorten(call['name'], 60)}` {problem}", _quote_result(call))
        return successful

    def _judge_names(self, remaining: list[Counter[str]]) -> None:
        """Each name uses up one call: those due in a turn first, then exact names before globs."""
        ordered = sorted(self._demands, key=lambda each: (each.turn is None, "*" in each.word))
        for demand in ordered:
            bound = find_due_step(self._turn_pairs, demand)
            steps = range(len(remaining)) if bound is None else [bound]
            found = next(((step, name) for step in steps if (name := _find_call(demand.word, remaining[step]))), None)
            if found is not None:
                step, name = found
                remaining[step][name] -= 1
                self._tallies[step].count(met=True)
            else:
                self._add_miss(demand, bound, f"`{shorten(demand.word, 60)}` was not called")

    def _judge_word(self, demand: Due, successful: Sequence[Sequence[ToolCall]]) -> None:
        bound = find_due_step(self._turn_pairs, demand)
        steps = range(len(successful)) if bound is None else [bound]
        if demand.word == INVOKED:
            met, missed = [step for step in steps if successful[step]], "no tool was called successfully"
        else:
            met = [step for step in steps if any(self._is_read(step, call) for call in successful[step])]
            missed = "the answer uses nothing from a tool result"
        if met:
            self._tallies[met[0]].count(met=True)
        else:
            self._add_miss(demand, bound, missed)

    def _is_read(self, step: int, call: ToolCall) -> bool:
        """Whether the answer contains a word from the result that the user did not use."""
        actual = self._turn_pairs[step].actual
        result = call["result_text"] or show(call["result"], MAX_TEXT // 4)
        if actual is None or not actual.response or not (call["result"] or call["result_text"]):
            return False
        user_words = set(words((actual.user or "")[:MAX_TEXT]))
        answer = set(words(actual.response[:MAX_TEXT])) - user_words
        return any(len(word) >= SHORTEST_WORD or word.isdecimal() for word in answer & set(words(result[:MAX_TEXT])))

    def _add_miss(self, demand: Due, bound: int | None, message: str) -> None:
        step = find_last_step(self._turn_pairs) if bound is None else bound
        self._tallies[step].count(met=False)
        self._tallies[step].missed += 1
        self._add_issue(step, message, f"required_tool_usage: {shorten(demand.word, 60)}")

    def _add_issue(self, step: int, message: str, evidence: str | None) -> None:
        self._findings.append(DimensionIssue(step, message, evidence))


def find_call_problem(call: ToolCall, defined_tools: Collection[str]) -> str | None:
    """What went wrong with a call, None if nothing did; `defined_tools` are those that the trace defines."""
    if defined_tools and call["name"] not in defined_tools:
        return "is not one of the tools that the agent has"
    if call["arguments_error"] is not None:
        return "was called with arguments that are not valid JSON"
    if call["status"] == "missing":
        return "was called, but no result was recorded"
    return "failed" if call["status"] == "error" else None


def _find_call(word: str, remaining: Counter[str]) -> str | None:
    return next((name for name, count in remaining.items() if count > 0 and matches_id(word, name)), None)


def _is_named(name: str, demanded: Collection[str]) -> bool:
    return any(matches_id(word, name) for word in demanded)


def _quote_result(call: ToolCall) -> str | None:
    text = (call["error"] and call["error"]["message"]) or call["result_text"]
    return shorten(text, 200) if text else None
