"""Judges one suite as its traces stream by: matches each to a scenario; verdicts follow at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.documents.run_documents import trial_of
from evalgate.application.evaluation.scenario_matcher import ScenarioCandidate, ScenarioMatcher
from evalgate.application.evaluation.scenario_trials import ScenarioTrials
from evalgate.application.evaluation.trace_evaluation import (
    damaged_trial,
    judge_trace,
    ref_of,
    require_match,
    resolve_scenario_id,
)
from evalgate.application.evaluation.trajectories import WorstTrialRecorder, is_worse
from evalgate.application.evaluation.trial_result_cache import TrialResultCache
from evalgate.measures.numeric.estimates import wilson_interval
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.run import ScenarioResult, SuiteResult, TrialResult, UnclaimedTrace
from evalgate.models.run.spool import MemorySpool
from evalgate.models.run.trial_record import TrialEncoder, TrialRecord
from evalgate.models.run.trial_store import TrialStore
from evalgate.models.trace.trace import DamagedTrace, Trace, TraceLocation
from evalgate.reporting.results.clean_values import clean_name
from evalgate.reporting.results.trial_doc import encode_trial
from evalgate.scoring.scenario import judge_scenario
from evalgate.suite.scenarios import DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.evaluation.baseline_scenarios import BaselineScenario, BaselineScenarios
    from evalgate.application.evaluation.evaluated_trace import CandidateResult, EvaluatedTrace
    from evalgate.application.evaluation.scenario_matcher import Overlap, ScenarioClaim
    from evalgate.application.evaluation.scenario_trials import CountedTrials
    from evalgate.application.evaluation.trial_batch import TrialBatch
    from evalgate.models.run.golden import GoldenResult
    from evalgate.models.run.spool import Spool
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.suite.models import Scenario, Suite


class SuiteEvaluation:
    """Judges one suite while its traces stream by; see TraceChoice for the other arguments."""

    def __init__(
        self,
        suite: Suite,
        baseline: BaselineScenarios,
        worst_trials: WorstTrialRecorder | None = None,
        spool: Spool | None = None,
    ) -> None:
        self._suite = suite
        self._store, self._encoder = (
            TrialStore(spool or MemorySpool(), trial_of),
            TrialEncoder(encode_trial, clean_name),
        )
        self._baseline, self._worst_trials = baseline, worst_trials or WorstTrialRecorder()
        self._matcher = ScenarioMatcher(suite)
        self._cache = TrialResultCache()
        self._groups: dict[ScenarioKey, ScenarioTrials] = {}
        self._groups_by_place: dict[
            tuple[int, str | None], ScenarioTrials
        ] = {}  # for batches, by index in the suite and id
        self._damaged: dict[str, ScenarioTrials] = {}  # separate scenarios for records that match none
        self._traces = self._owners = 0
        self.unclaimed: list[UnclaimedTrace] = []

    def add(self, record: TraceRecord) -> None:
        """Judges one record, or lists it as unclaimed."""
        self._traces += 1
        self._assign(*resolve_scenario_id(self._suite, record))
        if isinstance(record, Trace):
            record.kept_view = None  # breaks a reference cycle, so that the trace is freed at once

    def _assign(self, record: TraceRecord, scenario_id: str | None) -> None:
        record = require_match(self._matcher, record, scenario_id)
        claim = self._matcher.claim(record, scenario_id)
        if isinstance(record, DamagedTrace):
            self._add_damaged(damaged_trial(record), record.fallback_id, record.trial, claim)
        elif claim is None:
            self.unclaimed.append(UnclaimedTrace(self._suite.name, ref_of(record), scenario_id))
        else:
            group: ScenarioTrials = claim.group or self._find_group(claim)
            record.baseline = group.baseline
            trial = judge_trace(record, claim, self._cache)
            self._keep(group, trial, record.trial, record.started_at)
            if group.baseline is not None and is_worse(trial, group.baseline):
                self._worst_trials.observe(self._key(claim), record, trial)

    def take(self, evaluated: EvaluatedTrace) -> CandidateResult | None:
        """Adds a record judged elsewhere; returns the chosen candidate's result, or None.

        Records must come in reading order, like those of `add`.
        """
        self._traces += 1
        scenario_id = evaluated.scenario_id
        chosen = self._matcher.choose(
            [result.candidate for result in evaluated.candidates], scenario_id, evaluated.source
        )
        result = None if chosen is None else evaluated.candidates[chosen]
        place = None if result is None else result.candidate.scenario
        claim = None if place is None else self._matcher.make_claim(place, scenario_id)
        if evaluated.damage is not None:
            self._add_damaged(evaluated.damage.trial, evaluated.damage.fallback_id, evaluated.recorded, claim)
        elif claim is None or result is None or result.trial is None:
            self.unclaimed.append(UnclaimedTrace(self._suite.name, evaluated.ref, scenario_id))
        else:
            self._keep(self._find_group(claim), result.trial, evaluated.recorded, evaluated.started_at)
            if result.trajectory is not None:
                self._worst_trials.add(self._key(claim), evaluated.source, result.trial, result.trajectory)
        return result

    def take_all(self, batch: TrialBatch) -> int:
        """Adds encoded trials of a suite in which ids decide; returns how many."""
        owners = [self._group_at(place, id_).owner for place, id_ in batch.scenarios]
        count = self._store.extend(batch.trials, owners)
        self._traces += count
        return count

    def _group_at(self, place: int, scenario_id: str | None) -> ScenarioTrials:
        group = self._groups_by_place.get((place, scenario_id))
        if group is None:
            self._matcher.choose([ScenarioCandidate(place, place)], scenario_id, TraceLocation())
            group = self._find_group(self._matcher.make_claim(place, scenario_id))
            self._groups_by_place[place, scenario_id] = group
        return group

    @property
    def overlap(self) -> Overlap | None:
        """A trace that fits two variants."""
        return self._matcher.overlap

    def _key(self, claim: ScenarioClaim) -> ScenarioKey:
        return ScenarioKey(self._suite.name, claim.id, claim.variant)

    def _find_group(self, claim: ScenarioClaim) -> ScenarioTrials:
        key = self._key(claim)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = self._create_group(claim, self._baseline.find_scenario(key))
        claim.group = group
        return group

    def _create_group(self, claim: ScenarioClaim | None, baseline: BaselineScenario | None = None) -> ScenarioTrials:
        self._owners += 1
        return ScenarioTrials(claim, self._owners - 1, baseline)

    def _add_damaged(
        self, trial: TrialResult | TrialRecord, fallback_id: str, recorded: int | None, claim: ScenarioClaim | None
    ) -> None:
        group = self._find_group(claim) if claim is not None else self._damaged.get(fallback_id)
        if group is None:
            group = self._damaged[fallback_id] = self._create_group(None)
        self._keep(group, trial, recorded, None)

    def _keep(
        self, group: ScenarioTrials, trial: TrialResult | TrialRecord, recorded: int | None, started_at: str | None
    ) -> None:
        if isinstance(trial, TrialRecord):
            self._store.take(trial, group.owner, recorded, started_at)
        elif group.claim is not None and group.claim.scenario.golden is not None:
            group.golden_trials.append(trial)
            group.numbers.append(recorded)
            group.start_times.append(started_at)
        else:
            self._store.take(self._encoder(trial), group.owner, recorded, started_at)

    def count(self) -> int:
        """How many scenarios there are, including optional ones without traces."""
        return self._matcher.count() + len(self._damaged)

    def result(self) -> SuiteResult:
        """The result of the suite, once all its traces were added."""
        found = SuiteResult(self._suite.name, self._suite.path, [], traces=self._traces)
        groups = [(claim, self._find_group(claim)) for claim in self._matcher.all_claims()]
        places = self._store.arrange(self._owners)
        for claim, group in groups:
            # An unreadable file with the name of a scenario is a trial of it. If the scenario has variants,
            # its variant is unknown, so the file is reported as a separate scenario.
            damaged = self._damaged.pop(claim.id, None) if claim.variant is None else None
            unread = range(0) if damaged is None else places[damaged.owner]
            trials = group.count_trials(self._store, places[group.owner], unread)
            scenario = _scenario_result(claim, trials)
            if scenario is None:
                found.skipped += 1
            else:
                found.scenarios.append(scenario)
        found.scenarios += [
            _damaged_result(id_, each.count_trials(self._store, places[each.owner]).kept)
            for id_, each in sorted(self._damaged.items())
        ]
        return found


def _scenario_result(claim: ScenarioClaim, found: CountedTrials) -> ScenarioResult | None:
    scenario, trials = claim.scenario, found.kept
    judged = judge_scenario(trials, scenario.threshold, scenario.rules)
    if judged is None:
        return None
    return ScenarioResult(
        claim.id,
        judged.verdict,
        judged.score,
        scenario.threshold,
        trials,
        variant=claim.variant,
        pass_rate=judged.pass_rate,
        pass_rate_interval=judged.interval,
        reason=judged.reason,
        location=scenario.location,
        golden=_golden_result(scenario, trials, judged.score),
        duplicates=found.describe_duplicates(scenario, judged),
    )


def _golden_result(scenario: Scenario, trials: Sequence[TrialResult], score: float | None) -> GoldenResult | None:
    if scenario.golden is None:
        return None
    from evalgate.scoring.golden.results import combine_trials

    return combine_trials(scenario.golden, trials, score)


def _damaged_result(id_: str, trials: Sequence[TrialResult]) -> ScenarioResult:
    return ScenarioResult(
        id_,
        "ERROR",
        0.0,
        DEFAULT_THRESHOLD,
        trials,
        pass_rate=0.0,
        pass_rate_interval=wilson_interval(0, len(trials)),
        reason=trials[0].reason,
    )
