"""Judges one suite as its traces stream by: matches each to a scenario; verdicts follow at the end."""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING

from evalgate.application.documents.trial_documents import trial_of
from evalgate.application.evaluation.scenario_matcher import ScenarioCandidate, ScenarioMatcher
from evalgate.application.evaluation.trace_evaluation import damaged_trial, judge_trace, named, ref_of
from evalgate.application.evaluation.trajectories import WorstTrialRecorder, is_worse
from evalgate.application.evaluation.trial_order import numbered
from evalgate.application.evaluation.trial_result_cache import TrialResultCache
from evalgate.measures.numeric.intervals import wilson
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.run import ScenarioResult, SuiteResult, TrialResult, Unclaimed
from evalgate.models.run.spool import MemorySpool
from evalgate.models.run.trial_record import TrialEncoder, TrialRecord
from evalgate.models.run.trial_store import TrialStore
from evalgate.models.run.trials import Trials
from evalgate.models.trace.trace import DamagedTrace, Trace, TraceLocation
from evalgate.records import dataclass, field
from evalgate.reporting.results.bounded import bounded_name
from evalgate.reporting.results.trial_doc import trial_line
from evalgate.scoring.scenario import judge_scenario
from evalgate.suite.scenarios import DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.evaluation.baseline_scenarios import BaselineScenario, BaselineScenarios
    from evalgate.application.evaluation.evaluated_trace import CandidateResult, EvaluatedTrace
    from evalgate.application.evaluation.scenario_matcher import Overlap, ScenarioClaim
    from evalgate.application.evaluation.trial_batch import TrialBatch
    from evalgate.models.run.golden_result import GoldenResult
    from evalgate.models.run.spool import Spool
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.suite.models import Scenario, Suite


@dataclass(slots=True)
class _Gathered:
    """The trials of one reported scenario, in reading order.

    Most trials are in the store, under the scenario's `owner` number. Those of a golden are kept here, since
    its result is computed over all of them.
    """

    claim: ScenarioClaim | None
    owner: int
    earlier: BaselineScenario | None = None  # its result in the baseline
    whole: list[TrialResult] = field(default_factory=list)
    recorded: list[int | None] = field(default_factory=list)  # recorded numbers of the golden's trials
    started: list[str | None] = field(default_factory=list)

    def trials(self, store: TrialStore, own: range, unread: range = range(0)) -> Sequence[TrialResult]:
        """The trials in order, numbered: the scenario's own in the store, and unreadable traces."""
        if self.claim is not None and self.claim.scenario.golden is not None:
            return self._golden_trials(store, unread)
        return _stored_trials(store, array("I", chain(own, unread)) if unread else own)

    def _golden_trials(self, store: TrialStore, unread: range) -> Sequence[TrialResult]:
        whole = [*self.whole, *(store.trial(place, 0) for place in unread)]
        recorded = [*self.recorded, *store.recorded(unread)]
        order, numbers = numbered(recorded, [*self.started, *[None] * len(unread)])
        for place, number in zip(order, numbers, strict=True):
            whole[place].trial = number
        return [whole[place] for place in order]


def _stored_trials(store: TrialStore, places: Sequence[int]) -> Trials:
    recorded = store.recorded(places)
    if len(places) == 1:  # as most scenarios have
        return Trials(store, places, [recorded[0] or 0])
    order, numbers = numbered(recorded, store.started(places))
    in_order = places if isinstance(order, range) else array("I", map(places.__getitem__, order))
    return Trials(store, in_order, numbers)


class SuiteEvaluation:
    """Judges one suite while its traces stream by; see TraceChoice for the other arguments."""

    def __init__(
        self,
        suite: Suite,
        earlier: BaselineScenarios,
        witness: WorstTrialRecorder | None = None,
        shelf: Spool | None = None,
    ) -> None:
        self._suite = suite
        self._store, self._tell = (
            TrialStore(shelf or MemorySpool(), trial_of),
            TrialEncoder(trial_line, bounded_name),
        )
        self._earlier, self._witness = earlier, witness or WorstTrialRecorder()
        self._claims = ScenarioMatcher(suite)
        self._known = TrialResultCache()
        self._gathered: dict[ScenarioKey, _Gathered] = {}
        self._homes: dict[tuple[int, str | None], _Gathered] = {}  # for batches, by index in the suite and id
        self._damaged: dict[str, _Gathered] = {}  # separate scenarios for records that match none
        self._traces = self._owners = 0
        self.unclaimed: list[Unclaimed] = []

    def add(self, record: TraceRecord) -> None:
        """Judges one record, or lists it as unclaimed."""
        self._traces += 1
        self._place(*named(self._suite, record))
        if isinstance(record, Trace):
            record.kept_view = None  # breaks a reference cycle, so that the trace is freed at once

    def _place(self, record: TraceRecord, scenario_id: str | None) -> None:
        claim = self._claims.claim(record, scenario_id)
        if isinstance(record, DamagedTrace):
            self._add_damaged(damaged_trial(record), record.fallback_id, record.trial, claim)
        elif claim is None:
            self.unclaimed.append(Unclaimed(self._suite.name, ref_of(record), scenario_id))
        else:
            home: _Gathered = claim.group or self._gather(claim)
            record.baseline = home.earlier
            trial = judge_trace(record, claim, self._known)
            self._keep(home, trial, record.trial, record.started_at)
            if home.earlier is not None and is_worse(trial, home.earlier):
                self._witness.observe(self._key(claim), record, trial)

    def take(self, found: EvaluatedTrace) -> CandidateResult | None:
        """Adds a record judged elsewhere; returns the chosen candidate's result, or None.

        Records must come in reading order, like those of `add`.
        """
        self._traces += 1
        scenario_id = found.scenario_id
        chosen = self._claims.choose(
            [option.candidate for option in found.options], scenario_id, found.source
        )
        option = None if chosen is None else found.options[chosen]
        place = None if option is None else option.candidate.scenario
        claim = None if place is None else self._claims.made(place, scenario_id)
        if found.damage is not None:
            self._add_damaged(found.damage.trial, found.damage.fallback_id, found.recorded, claim)
        elif claim is None or option is None or option.trial is None:
            self.unclaimed.append(Unclaimed(self._suite.name, found.ref, scenario_id))
        else:
            self._keep(self._gather(claim), option.trial, found.recorded, found.started_at)
            if option.course is not None:
                self._witness.add(self._key(claim), found.source, option.trial, option.course)
        return option

    def take_all(self, block: TrialBatch) -> int:
        """Adds encoded trials of a suite in which ids decide; returns how many."""
        owners = [self._home(place, id_).owner for place, id_ in block.scenarios]
        count = self._store.extend(block.trials, owners)
        self._traces += count
        return count

    def _home(self, place: int, scenario_id: str | None) -> _Gathered:
        home = self._homes.get((place, scenario_id))
        if home is None:
            self._claims.choose([ScenarioCandidate(place, place)], scenario_id, TraceLocation())
            home = self._gather(self._claims.made(place, scenario_id))
            self._homes[place, scenario_id] = home
        return home

    @property
    def overlap(self) -> Overlap | None:
        """A trace that fits two variants."""
        return self._claims.overlap

    def _key(self, claim: ScenarioClaim) -> ScenarioKey:
        return ScenarioKey(self._suite.name, claim.id, claim.variant)

    def _gather(self, claim: ScenarioClaim) -> _Gathered:
        key = self._key(claim)
        home = self._gathered.get(key)
        if home is None:
            home = self._gathered[key] = self._gathering(claim, self._earlier.of(key))
        claim.group = home
        return home

    def _gathering(self, claim: ScenarioClaim | None, earlier: BaselineScenario | None = None) -> _Gathered:
        self._owners += 1
        return _Gathered(claim, self._owners - 1, earlier)

    def _add_damaged(
        self,
        trial: TrialResult | TrialRecord,
        fallback_id: str,
        recorded: int | None,
        claim: ScenarioClaim | None,
    ) -> None:
        home = self._gather(claim) if claim is not None else self._damaged.get(fallback_id)
        if home is None:
            home = self._damaged[fallback_id] = self._gathering(None)
        self._keep(home, trial, recorded, None)

    def _keep(
        self, home: _Gathered, trial: TrialResult | TrialRecord, recorded: int | None, started_at: str | None
    ) -> None:
        if isinstance(trial, TrialRecord):
            self._store.take(trial, home.owner, recorded, started_at)
        elif home.claim is not None and home.claim.scenario.golden is not None:
            home.whole.append(trial)
            home.recorded.append(recorded)
            home.started.append(started_at)
        else:
            self._store.take(self._tell(trial), home.owner, recorded, started_at)

    def count(self) -> int:
        """How many scenarios there are, including optional ones without traces."""
        return self._claims.count() + len(self._damaged)

    def result(self) -> SuiteResult:
        """The result of the suite, once all its traces were added."""
        found = SuiteResult(self._suite.name, self._suite.path, [], traces=self._traces)
        homes = [(claim, self._gather(claim)) for claim in self._claims.all()]
        places = self._store.arrange(self._owners)
        for claim, home in homes:
            # An unreadable file with the name of a scenario is a trial of it. If the scenario has variants,
            # its variant is unknown, so the file is reported as a separate scenario.
            damaged = self._damaged.pop(claim.id, None) if claim.variant is None else None
            unread = range(0) if damaged is None else places[damaged.owner]
            scenario = _scenario_result(claim, home.trials(self._store, places[home.owner], unread))
            if scenario is None:
                found.skipped += 1
            else:
                found.scenarios.append(scenario)
        found.scenarios += [
            _damaged_result(id_, each.trials(self._store, places[each.owner]))
            for id_, each in sorted(self._damaged.items())
        ]
        return found


def _scenario_result(claim: ScenarioClaim, trials: Sequence[TrialResult]) -> ScenarioResult | None:
    scenario = claim.scenario
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
    )


def _golden_result(
    scenario: Scenario, trials: Sequence[TrialResult], score: float | None
) -> GoldenResult | None:
    if scenario.golden is None:
        return None
    from evalgate.scoring.golden.scenario import golden_result

    return golden_result(scenario.golden, trials, score)


def _damaged_result(id_: str, trials: Sequence[TrialResult]) -> ScenarioResult:
    return ScenarioResult(
        id_,
        "ERROR",
        0.0,
        DEFAULT_THRESHOLD,
        trials,
        pass_rate=0.0,
        pass_rate_interval=wilson(0, len(trials)),
        reason=trials[0].reason,
    )
