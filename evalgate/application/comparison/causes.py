"""Finds whether each change comes from the agent or from the rules that judge it.

For that the baseline's traces are judged again by today's rules, if it holds them in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.comparison.cross_scoring import restrict_checks
from evalgate.application.evaluation.cross_scorer import scenarios_by_key
from evalgate.application.evaluation.pricing import Pricer
from evalgate.application.evaluation.suite_evaluation import SuiteEvaluation
from evalgate.application.evaluation.trajectories import (
    BaselineScenarios,
    StoredTraces,
    iterate_stored,
    source_of,
)
from evalgate.errors import InvalidInput
from evalgate.gate.common.scenarios import find_baseline_key
from evalgate.gate.trajectory.cause import SAME_RULES, CrossScores, ScoredVerdict, find_cause
from evalgate.measures.redaction.known_secrets import REDACTED
from evalgate.models.comparison.comparison import Cause, list_scenarios
from evalgate.models.run.trials import is_unmeasured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.application.evaluation.cross_scorer import CrossScorer, RulePair
    from evalgate.models.comparison.comparison import Change, Comparison, ScenarioKey
    from evalgate.models.results.baseline_run import BaselineRun, TracePosition
    from evalgate.models.run.run import Run
    from evalgate.ports import BaselineFiles, PriceTable, TraceArchive
    from evalgate.suite.policy import Policies


MOVED = ("broken", "regressed", "fixed", "improved", "inconclusive")
"""Kinds of change that have a cause, the most important first."""
ERRORS_PASSED = Cause(
    "rules_stricter",
    "a run that ended in an error passed when the baseline was made, and does not any more: see `run_status`",
    None,
    None,
)
SURE = frozenset(MOVED) - {"inconclusive"}


class StoredBaseline(NamedTuple):
    """A baseline on disk, and what reads and prices its traces."""

    results: BaselineRun
    path: str
    files: BaselineFiles
    traces: TraceArchive
    prices: PriceTable | None


class _Sides(NamedTuple):
    change: Change
    baseline: ScoredVerdict
    now: ScoredVerdict
    trials: int


def add_causes(
    comparison: Comparison, run: Run, cross_scorer: CrossScorer, policies: Policies, baseline: StoredBaseline
) -> None:
    """Adds a cause, as far as it can be known, to each scenario whose rules or verdict changed."""
    sides = dict(_sides(comparison, run))
    differing = {key: each for key, each in sides.items() if not cross_scorer.has_same_rules(key)}
    moved = [key for kind in MOVED for key, each in differing.items() if each.change.kind == kind]
    rescored: Mapping[ScenarioKey, ScoredVerdict | str] = {}
    if moved:
        rescoring = BaselineRescoring(cross_scorer.pairs, baseline.results, baseline.prices, moved)
        rescored = rescoring.judge_lines(baseline.files.read_traces(baseline.path), baseline.traces)
    for key, each in sides.items():
        if key not in differing:
            each.change.cause = SAME_RULES if each.change.kind in SURE else None
            continue
        found = rescored.get(key)
        verdicts = CrossScores(
            cross_scorer.verdict_by_old_rules(key, each.trials), None if isinstance(found, str) else found
        )
        if isinstance(found, str):
            verdicts = verdicts._replace(missing_reason=found)
        policy = policies.suites.get(key.suite, policies.run)
        each.change.cause = find_cause(each.baseline, each.now, verdicts, policy.regression.threshold)


def add_causes_of_errors(comparison: Comparison, failed: Iterable[ScenarioKey], baseline: StoredBaseline) -> None:
    """Names the rules as the cause where runs that ended in an error passed, by the version that made the baseline.

    `failed` are the scenarios that got worse and have a trial that fails because it ended so.
    """
    passed: dict[TracePosition, list[ScenarioKey]] = {}
    for key in failed:
        for trial in baseline.results.find_trials(find_baseline_key(key, baseline.results.entries)):
            if trial.status == "passed":
                passed.setdefault(trial.position, []).append(key)
    for key in _find_errors(passed, baseline) if passed else ():
        comparison.changes[key].cause = ERRORS_PASSED


def _find_errors(passed: Mapping[TracePosition, Sequence[ScenarioKey]], baseline: StoredBaseline) -> set[ScenarioKey]:
    """The scenarios of which a trace that passed in the baseline ended in an error."""
    stored = StoredTraces(baseline.files.read_traces(baseline.path), baseline.traces.restore_trace)
    try:
        ended = [place for place, trace in iterate_stored(stored, passed) if trace.status == "error"]
    except InvalidInput:  # without its traces nothing is known of how they ended
        return set()
    return {key for place in ended for key in passed[place]}


def _sides(comparison: Comparison, run: Run) -> Iterator[tuple[ScenarioKey, _Sides]]:
    for key, scenario in list_scenarios(run.suites):
        baseline, change = comparison.baseline_outcomes.get(key), comparison.changes.get(key)
        if baseline is not None and change is not None and not is_unmeasured(scenario):
            before, now = (ScoredVerdict(each.verdict, each.score) for each in (baseline, scenario))
            yield key, _Sides(change, before, now, len(scenario.trials))


MOST_STORED = 2_000
"""How many traces of the baseline are judged again."""
TOO_MANY = "the baseline has too many traces of these scenarios to evaluate them again"
NOT_KEPT = "the baseline does not hold its traces in full"
SECRETS = "secrets were redacted in the baseline's traces"
UNLIKE = "the baseline's stored traces no longer give the same results by its own rules"
NOT_TAKEN = "the current rules assign the baseline's traces to other scenarios"


class _BaselineResult(NamedTuple):
    """The baseline's result for a scenario, and where its traces were read."""

    verdict: str
    score: float | None
    places: Sequence[TracePosition]


def _baseline_result(baseline: BaselineRun, key: ScenarioKey) -> _BaselineResult:
    entry = baseline.entries[key]
    return _BaselineResult(entry.verdict, entry.score, [trial.position for trial in entry.measured])


class BaselineRescoring:
    """Judges traces of the baseline by both rules: by its own to check that the traces are whole."""

    def __init__(
        self,
        pairs: Mapping[str, RulePair],
        baseline: BaselineRun,
        prices: PriceTable | None,
        keys: Sequence[ScenarioKey],
    ) -> None:
        names = {key: find_baseline_key(key, baseline.entries) for key in keys}
        self._keys = {key: _baseline_result(baseline, name) for key, name in names.items() if name in baseline.entries}
        self._places: dict[TracePosition, list[ScenarioKey]] = {}
        self._reasons: dict[ScenarioKey, str] = {}
        for key, scenario in self._keys.items():
            if len(self._places) + len(scenario.places) > MOST_STORED:
                self._reasons[key] = TOO_MANY
                continue
            for place in scenario.places:
                self._places.setdefault(place, []).append(key)
        suites = {key.suite for key in self._keys}
        self._sides = {
            name: tuple(
                (
                    SuiteEvaluation(restrict_checks(suite, pairs[name].changed), BaselineScenarios()),
                    Pricer(suite.prices, prices),
                )
                for suite in (pairs[name].old, pairs[name].new)
            )
            for name in suites
        }

    def judge_lines(self, lines: Iterable[bytes], traces: TraceArchive) -> dict[ScenarioKey, ScoredVerdict | str]:
        """The verdict of each scenario, or why it has no verdict."""
        remaining = dict.fromkeys(self._places)
        try:
            for line in lines if remaining else ():
                place = source_of(line)
                if place is not None and place in remaining:
                    del remaining[place]
                    self._judge_line(line, self._places[place], traces)
                if not remaining:
                    break
        except InvalidInput:
            return dict.fromkeys(self._keys, NOT_KEPT)
        for place in remaining:
            self._reasons |= dict.fromkeys(self._places[place], NOT_KEPT)
        return dict(self._verdicts())

    def _judge_line(self, line: bytes, keys: Sequence[ScenarioKey], traces: TraceArchive) -> None:
        trace = traces.restore_trace(line)
        if trace is None or REDACTED.encode() in line:
            self._reasons |= dict.fromkeys(keys, NOT_KEPT if trace is None else SECRETS)
            return
        own_id = trace.scenario_id
        for suite in dict.fromkeys(key.suite for key in keys):
            for evaluation, pricer in self._sides[suite]:
                trace.scenario_id = own_id
                pricer.price(trace)
                evaluation.add(trace)

    def _verdicts(self) -> Iterator[tuple[ScenarioKey, ScoredVerdict | str]]:
        found = {
            name: [scenarios_by_key(name, evaluation) for evaluation, _ in sides] for name, sides in self._sides.items()
        }
        for key, scenario in self._keys.items():
            by_old, by_new = (side.get(key) for side in found[key.suite])
            if key in self._reasons:
                yield key, self._reasons[key]
            elif by_old is None or (
                (by_old.verdict, by_old.score, len(by_old.trials))
                != (scenario.verdict, scenario.score, len(scenario.places))
            ):
                yield key, UNLIKE
            elif by_new is None or len(by_new.trials) != len(scenario.places):
                yield key, NOT_TAKEN
            else:
                yield key, ScoredVerdict(by_new.verdict, by_new.score)
