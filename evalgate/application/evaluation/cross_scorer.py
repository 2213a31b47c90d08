"""Judges traces a second time by the baseline's rules, during a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from evalgate.application.evaluation.pricing import Pricer
from evalgate.errors import InvalidInput
from evalgate.gate.trajectory.cause import ScoredVerdict
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.trials import is_priced, iter_trials
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.application.evaluation.suite_evaluation import SuiteEvaluation
    from evalgate.application.evaluation.suite_judge import JudgedRecord
    from evalgate.gate.common.scenarios import ScenarioIndex
    from evalgate.gate.weakening.weaker_evidence import ReadingChange
    from evalgate.models.run.run import Run, ScenarioResult
    from evalgate.ports import PriceTable, TraceArchive
    from evalgate.suite.models import Form, Suite

    ChooseTraces = Callable[[Suite], tuple[Sequence[str], str, Form]]

MAX_CROSS_SCORED = 10_000
"""How many traces of a run are judged a second time."""
TOO_MANY = f"at most {MAX_CROSS_SCORED:,} traces are evaluated twice"


class RulePair(Struct):
    """A suite under both rules, and its entries that differ.

    `reading` is what changed in how its traces are read. If that needs the run's files, they are read again by
    the old suite: `problem` is why that failed, `read_files` are their paths, `lost_files` those that the new
    suite does not read.
    """

    old: Suite
    new: Suite
    changed: frozenset[str]  # ids of entries on either side
    entries: tuple[ScenarioIndex, ScenarioIndex]
    suite: Suite  # the old one, with assertions only for entries that differ
    evaluation: SuiteEvaluation
    reading: Sequence[ReadingChange] = ()
    has_same_checks: bool = False
    is_full: bool = False
    problem: str | None = None
    read_files: Sequence[str] = ()
    lost_files: Sequence[str] = ()

    @property
    def needs_files(self) -> bool:
        """Whether its files are read again, instead of judging the traces of the run again."""
        return any(each.needs_files for each in self.reading)

    def has_changed(self, id_: str) -> bool:
        """Whether the rules of a scenario differ."""
        names = [next(iter(each.find_scenarios(id_).values()), None) for each in self.entries]
        return any(found is None or found.id in self.changed for found in names)


class CrossScorer(Struct):
    """Judges a run's traces by the baseline's rules too; created by `make_cross_scorer`."""

    pairs: Mapping[str, RulePair]
    _count: int = 0
    _verdicts: dict[str, dict[ScenarioKey, ScenarioResult]] = field(default_factory=dict)

    def take(self, suite: Suite, judged: JudgedRecord | None) -> None:
        """Adds a record that was judged again; None if no more were to be judged twice."""
        pair = self.pairs.get(suite.name)
        if pair is None or pair.needs_files or pair.is_full:
            return
        if self._count_one(pair) and judged is not None:
            pair.evaluation.take(judged)

    def wants(self, suite: Suite) -> bool:
        """Whether further traces of the suite are judged twice."""
        pair = self.pairs.get(suite.name)
        return pair is not None and not pair.needs_files and not pair.is_full and self._count < MAX_CROSS_SCORED

    def _count_one(self, pair: RulePair) -> bool:
        self._count += 1
        if self._count > MAX_CROSS_SCORED:
            pair.is_full = True
            pair.problem = TOO_MANY
        return not pair.is_full

    def give_up(self, problem: str) -> None:
        """Leaves out suites whose files would have to be read again."""
        for pair in self.pairs.values():
            if pair.needs_files:
                pair.problem = problem

    def leave_out_prices(self, run: Run) -> None:
        """Leaves out suites of which only prices changed, and in which no cost had to be computed."""
        priced = {suite.name for suite in run.suites if any(map(is_priced, iter_trials(suite)))}
        self.pairs = {
            name: pair
            for name, pair in self.pairs.items()
            if name in priced or not pair.has_same_checks or {each.kind for each in pair.reading} != {"price_lowered"}
        }

    def read_again(self, choose: ChooseTraces, traces: TraceArchive, prices: PriceTable | None) -> None:
        """Reads and judges the files of suites whose reading changed as the baseline did, once all is judged."""
        for pair in self.pairs.values():
            if pair.needs_files and pair.problem is None:
                try:
                    self._read_suite_again(pair, choose, traces, prices)
                except InvalidInput as error:
                    pair.problem = error.problems[0].message

    def _read_suite_again(
        self, pair: RulePair, choose: ChooseTraces, traces: TraceArchive, prices: PriceTable | None
    ) -> None:
        patterns, folder, form = choose(pair.old)
        files = traces.find_files(patterns, folder)
        current = {file.real for file in traces.find_files(*choose(pair.new)[:2])}
        pair.read_files = [file.path for file in files]
        pair.lost_files = [file.path for file in files if file.real not in current]
        pricer = Pricer(pair.old.prices, prices)
        for record in traces.read(patterns, folder, form):
            if not self._count_one(pair):
                break
            if isinstance(record, Trace):
                pricer.price(record)
            pair.evaluation.add(record)

    def verdict_by_old_rules(self, key: ScenarioKey, trials: int) -> ScoredVerdict | None:
        """The verdict on the run's traces by the baseline's rules."""
        pair = self.pairs[key.suite]
        found = self.judge_by_old_rules(key.suite).get(key)
        if found is None or (pair.problem is not None and len(found.trials) != trials):
            return None
        return ScoredVerdict(found.verdict, found.score)

    def judge_by_old_rules(self, suite: str) -> Mapping[ScenarioKey, ScenarioResult]:
        """The scenarios of a suite whose rules changed, by the baseline's rules."""
        if suite not in self._verdicts:
            pair = self.pairs[suite]
            found = scenarios_by_key(pair.old.name, pair.evaluation)
            self._verdicts[suite] = {key: each for key, each in found.items() if pair.has_changed(key.id)}
        return self._verdicts[suite]

    def has_same_rules(self, key: ScenarioKey) -> bool:
        """Whether both sides judge a scenario by the same rules."""
        pair = self.pairs.get(key.suite)
        return pair is None or not pair.has_changed(key.id)


def scenarios_by_key(suite: str, evaluation: SuiteEvaluation) -> dict[ScenarioKey, ScenarioResult]:
    """The scenarios of a suite, once all its traces were judged."""
    return {ScenarioKey(suite, each.id, each.variant): each for each in evaluation.result().scenarios}
