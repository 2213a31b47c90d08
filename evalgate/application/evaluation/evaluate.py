"""Judges every trace of every suite once, as a stream; only results are kept."""

from __future__ import annotations

from posixpath import join, normpath, relpath
from typing import TYPE_CHECKING

from msgspec import Struct, field

from evalgate.application.evaluation.behaviours import BehaviourRecorder
from evalgate.application.evaluation.pricing import Pricer
from evalgate.application.evaluation.suite_evaluation import SuiteEvaluation
from evalgate.application.evaluation.suite_judge import JudgedRecord, SuiteJudge, refer_to
from evalgate.application.evaluation.trace_warnings import WarningCollector, format_location
from evalgate.application.evaluation.trajectories import BaselineScenarios, WorstTrialRecorder
from evalgate.errors import OverLimit, SettingError, TraceError
from evalgate.measures.values.json_values import mark_name, shorten
from evalgate.models.run.run import MAX_SCENARIOS, Run
from evalgate.models.trace.trace import Trace
from evalgate.scoring.wording import join_words
from evalgate.suite.models import leave_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.application.evaluation.cross_scorer import CrossScorer
    from evalgate.application.evaluation.suite_evaluation import KeepTrial
    from evalgate.models.run.run import SuiteResult
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports import NearbyTraces, PriceTable, Progress, TraceArchive, TraceSource
    from evalgate.suite.models import Configuration, Form, Suite


class TraceChoice(Struct, frozen=True):
    """Which traces to read: `patterns` and `form` override the suites if given.

    `baseline` holds the baseline's results; `prices` are for traces without recorded cost; `worst_trials` keeps the
    trajectories of trials that did worse, `behaviours` what all did; `cross_scorer` judges every record by the
    baseline's rules too; `keep_trial` stores a trial (None: it stays in memory). Only `scenarios` are
    judged, if any are given.
    """

    patterns: Sequence[str] | None = None
    form: str | None = None
    baseline: BaselineScenarios = field(default_factory=BaselineScenarios)
    prices: PriceTable | None = None
    worst_trials: WorstTrialRecorder = field(default_factory=WorstTrialRecorder)
    behaviours: BehaviourRecorder = field(default_factory=BehaviourRecorder)
    cross_scorer: CrossScorer | None = None
    keep_trial: KeepTrial | None = None
    scenarios: Sequence[str] = ()

    def resolve_for_suite(self, suite: Suite) -> tuple[Sequence[str], str, Form]:
        """Patterns, the folder they start from, and how their files are read, for one suite."""
        form = suite.form if self.form in (None, suite.format_name) else leave_out(self.form, suite.ignored)
        if self.patterns is not None:
            return self.patterns, ".", form
        return suite.traces or (), suite.traces_folder, form


def evaluate(
    configuration: Configuration,
    traces: TraceSource,
    choice: TraceChoice,
    progress: Progress,
    keep: Callable[[Trace], None] | None,
    most: int = MAX_SCENARIOS,
) -> Run:
    """Returns the run. `keep`, if given, receives every readable trace, for a new baseline.

    Raises OverLimit if globs find more than `most` scenarios.
    """
    collector = RunCollector(configuration, choice, most)
    for number, suite in enumerate(configuration.suites):
        judge = RecordJudge(suite, choice)
        judge.begin(choice.worst_trials)
        collector.begin(number)
        progress.begin(suite.path)
        for record in traces.read(*choice.resolve_for_suite(suite)):
            collector.take(number, judge.judge(record, crosses=collector.wants_crossed(number)))
            progress.advance("traces")
            if isinstance(record, Trace):
                if keep is not None:
                    _keep_trace(record, keep)
                if record.warnings or record.pricing is not None:
                    collector.warnings.add(record)
                    collector.warnings.add_pricing(record)
    return collector.finish_run()


class RecordJudge:
    """Judges the records of one suite, and by the rules of the baseline too if they differ."""

    def __init__(self, suite: Suite, choice: TraceChoice) -> None:
        pairs = {} if choice.cross_scorer is None else choice.cross_scorer.pairs
        self._pricer = Pricer(suite.prices, choice.prices)
        self._judge = SuiteJudge(suite, choice.baseline, choice.scenarios)
        self._crossed = SuiteJudge(pairs[suite.name].suite, choice.baseline) if suite.name in pairs else None

    def begin(self, worst_trials: WorstTrialRecorder) -> None:
        """Selects from now on the trials that do worse than those of `worst_trials`."""
        self._judge.worst_trials = worst_trials

    def judge(self, record: TraceRecord, *, crosses: bool) -> JudgedRecord:
        """Prices a record and judges it."""
        if isinstance(record, Trace):
            self._pricer.price(record)
        own_id = record.scenario_id  # before `scenario_from` applies
        found = self._judge.judge(record, refer_to(record))
        if crosses and self._crossed is not None:
            given, record.scenario_id = record.scenario_id, own_id
            found.crossed = self._crossed.judge(record, found.ref)
            record.scenario_id = given
        return found


class RunCollector:
    """Makes a run of judged records, suite by suite, in the order of reading; who judged them makes no difference."""

    def __init__(self, configuration: Configuration, choice: TraceChoice, most: int = MAX_SCENARIOS) -> None:
        self._suites, self._choice, self._most = configuration.suites, choice, most
        self._run = Run([])
        self._number = -1
        self._evaluation: SuiteEvaluation | None = None
        self.warnings = WarningCollector()

    def wants_crossed(self, suite: int) -> bool:
        """Whether traces of a suite are still judged by the baseline's rules as well."""
        cross_scorer = self._choice.cross_scorer
        return cross_scorer is not None and cross_scorer.wants(self._suites[suite])

    def begin(self, suite: int) -> None:
        """Begins with a suite, and makes the results of all suites before it."""
        choice = self._choice
        while self._number < suite:
            if self._evaluation is not None:
                self._finish(self._evaluation)
            self._number += 1
            self._evaluation = None
            if self._number < len(self._suites):
                judged = self._suites[self._number]
                self._evaluation = SuiteEvaluation(
                    judged, choice.baseline, choice.worst_trials, choice.keep_trial, choice.behaviours
                )

    def take(self, suite: int, judged: JudgedRecord) -> None:
        """Adds one record of a suite; records of earlier suites must not follow."""
        self.begin(suite)
        if self._evaluation is not None:
            self._evaluation.take(judged)
        if self._choice.cross_scorer is not None:
            self._choice.cross_scorer.take(self._suites[suite], judged.crossed)

    def finish_run(self) -> Run:
        """The run, once all records were added."""
        self.begin(len(self._suites))
        for suite in self._suites:
            self.warnings.add_not_ignored(suite)
        self._run.warnings = self.warnings.list_warnings()
        return self._run

    def _finish(self, evaluation: SuiteEvaluation) -> None:
        suite, run = self._suites[self._number], self._run
        if evaluation.overlap is not None:
            self.warnings.add_overlap(evaluation.overlap, suite)
        self.warnings.add_likely_typos(evaluation.named_tools, suite, evaluation.similar_tools)
        if evaluation.similar_tools is not None:
            self.warnings.add_of_suite(evaluation.similar_tools.list_warnings())
        if evaluation.named_agents is not None:
            self.warnings.add_of_suite(evaluation.named_agents.list_warnings())
        if evaluation.named_skills is not None:
            self.warnings.add_of_suite(evaluation.named_skills.list_warnings())
        self.warnings.add_of_suite(evaluation.find_misspelt_arguments())
        if evaluation.conditions is not None:
            self.warnings.add_of_suite(evaluation.conditions.list_warnings(suite.name))
        found = evaluation.count() + sum(len(each.scenarios) for each in run.suites)
        if found > self._most:
            raise OverLimit(f"{found:,} scenarios were found, a run may have at most {self._most:,}")
        run.suites.append(evaluation.result())
        _note_if_nothing_found(run.suites[-1], *self._choice.resolve_for_suite(suite)[:2], self.warnings)
        self.warnings.add_duplicates(run.suites[-1])
        run.unclaimed += evaluation.unclaimed


def _note_if_nothing_found(
    found: SuiteResult, patterns: Sequence[str], folder: str, warnings: WarningCollector
) -> None:
    """Notes globs that match no file; it is a warning only if the gate does not give it as a reason."""
    if found.traces:
        return
    if any(pattern.startswith("../") for pattern in patterns):
        patterns, folder = [normpath(join(folder, pattern)) for pattern in patterns], "."
    listed = shorten(", ".join(patterns))
    below = "the working directory" if folder in {"", "."} else folder
    found.unmatched = listed if "://" in listed else f"{listed} below {below}"
    if found.skipped and not found.scenarios:
        warnings.add_nothing_found(found)


def note_empty_globs(run: Run, configuration: Configuration, choice: TraceChoice, traces: TraceArchive) -> None:
    """Notes in each suite of a run the globs that match no file, also beside others that match some."""
    for suite, found in zip(configuration.suites, run.suites, strict=True):
        patterns, folder, _ = choice.resolve_for_suite(suite)
        if len(patterns) == 1 and found.traces:
            continue  # it has found them
        found.empty_globs = [each for each in patterns if "://" not in each and not traces.find_files([each], folder)]
    sides = zip(configuration.suites, run.suites, strict=True)
    missing = [(found, choice.resolve_for_suite(suite)[1]) for suite, found in sides if not found.traces]
    nearby = traces.find_nearby() if missing else ()
    for found, folder in missing if nearby else ():
        found.elsewhere = _describe_nearby(nearby, folder)


def _describe_nearby(nearby: Sequence[NearbyTraces], folder: str) -> str:
    """Which folders hold traces, and how `traces` names the first, from the folder of its globs."""
    listed = [f"{mark_name(each.folder, 120)} holds {_format_traces(each)}" for each in nearby]
    first = mark_name(relpath(nearby[0].folder, folder or "."), 120)
    which = "them" if len(listed) == 1 else "those of the first"
    return f"{join_words(listed)}: to judge {which}, write {first} in `traces`"


def _format_traces(nearby: NearbyTraces) -> str:
    number = f"{nearby.traces:,}{'' if nearby.is_all else ' or more'}"
    return f"{number} trace{'' if nearby.traces == 1 and nearby.is_all else 's'}"


def _keep_trace(trace: Trace, keep: Callable[[Trace], None]) -> None:
    """Passes a trace on; if it turns out to be invalid, the run ends with an error that names it."""
    try:
        keep(trace)
    except TraceError as error:
        raise SettingError(f"{format_location(trace.source)}: {error}") from None
