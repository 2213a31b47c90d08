"""Judges every trace of every suite once, as a stream; only results are kept."""

from __future__ import annotations

from posixpath import join, normpath
from typing import TYPE_CHECKING

from evalgate.application.evaluation.baseline_scenarios import BaselineScenarios
from evalgate.application.evaluation.pricing import Pricer
from evalgate.application.evaluation.suite_evaluation import SuiteEvaluation
from evalgate.application.evaluation.trace_warnings import WarningCollector, format_location
from evalgate.application.evaluation.trajectories import WorstTrialRecorder
from evalgate.errors import OverLimit, SettingError, TraceError
from evalgate.measures.values.json_values import shorten
from evalgate.models.run.run import MAX_SCENARIOS, Run, SuiteResult, UnclaimedTrace
from evalgate.models.run.spool import MemorySpool
from evalgate.models.trace.trace import Trace
from evalgate.records import dataclass, field
from evalgate.suite.models import CUSTOM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.application.evaluation.cross_scorer import CrossScorer
    from evalgate.models.run.spool import Spool
    from evalgate.ports import PriceTable, Progress, TraceSource
    from evalgate.suite.models import Configuration, CustomMapping, Suite


@dataclass(frozen=True, slots=True)
class TraceChoice:
    """Which traces to read: `patterns` and `form` override the suites if given.

    `baseline` holds the baseline's results; `prices` are for traces without recorded cost; `worst_trials`
    observes every judged trial; `cross_scorer` judges every record by the baseline's rules too; trials are
    kept in `trial_spool`.
    """

    patterns: Sequence[str] | None = None
    form: str | None = None
    baseline: BaselineScenarios = field(default_factory=BaselineScenarios)
    prices: PriceTable | None = None
    worst_trials: WorstTrialRecorder = field(default_factory=WorstTrialRecorder)
    cross_scorer: CrossScorer | None = None
    trial_spool: Spool = field(default_factory=MemorySpool)

    def resolve_for_suite(self, suite: Suite) -> tuple[Sequence[str], str, str | CustomMapping]:
        """Patterns, the folder they start from, and the format, for one suite."""
        form: str | CustomMapping = self.form or suite.format_name
        if form == CUSTOM and suite.custom is not None:
            form = suite.custom
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
    warnings = WarningCollector()
    suites, unclaimed = list[SuiteResult](), list[UnclaimedTrace]()
    for suite in configuration.suites:
        evaluation = SuiteEvaluation(suite, choice.baseline, choice.worst_trials, choice.trial_spool)
        pricer = Pricer(suite.prices, choice.prices)
        patterns, folder, form = choice.resolve_for_suite(suite)
        progress.begin(suite.path)
        for record in traces.read(patterns, folder, form):
            if isinstance(record, Trace):
                pricer.price(record)
            own_id = record.scenario_id
            evaluation.add(record)
            if choice.cross_scorer is not None:
                choice.cross_scorer.observe(suite, record, own_id)
            progress.advance("traces")
            if isinstance(record, Trace):
                if keep is not None:
                    _keep_trace(record, keep)
                if record.warnings or record.pricing is not None:
                    warnings.add(record)
                    warnings.add_pricing(record)
        if evaluation.overlap is not None:
            warnings.add_overlap(evaluation.overlap, suite)
        check_scenario_count(evaluation.count() + sum(len(each.scenarios) for each in suites), most)
        suites.append(evaluation.result())
        note_if_nothing_found(suites[-1], patterns, folder, warnings)
        warnings.add_duplicates(suites[-1])
        unclaimed += evaluation.unclaimed
    return Run(suites, unclaimed, warnings.list_warnings())


def note_if_nothing_found(found: SuiteResult, patterns: Sequence[str], folder: str, warnings: WarningCollector) -> None:
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


def _keep_trace(trace: Trace, keep: Callable[[Trace], None]) -> None:
    """Passes a trace on; if it turns out to be invalid, the run ends with an error that names it."""
    try:
        keep(trace)
    except TraceError as error:
        raise SettingError(f"{format_location(trace.source)}: {error}") from None


def check_scenario_count(found: int, most: int) -> None:
    """Raises OverLimit if a run has too many scenarios."""
    if found > most:
        raise OverLimit(f"{found:,} scenarios were found, a run may have at most {most:,}")
