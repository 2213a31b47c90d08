"""Applies today's rules to past runs, to see which would have been blocked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from evalgate.application.comparison.policies import compare_variants, policies_of
from evalgate.application.evaluation.evaluate import TraceChoice, evaluate
from evalgate.application.evaluation.trajectories import BaselineScenarios
from evalgate.errors import Problem, SettingError
from evalgate.gate.common.scenarios import list_scenario_docs
from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.outcomes import outcomes_from_run
from evalgate.gate.decision.decide import decide
from evalgate.gate.trajectory.cause import add_agent_changes, parts_of_run
from evalgate.models.comparison.comparison import BaselineInfo, ScenarioKey, list_scenarios
from evalgate.models.comparison.decision import Backtest, PastRun
from evalgate.models.run.run import Run
from evalgate.models.trace.trace import Trace
from evalgate.reporting.results.load_results import convert_baseline_run

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.comparison.decision import Decision
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports import Baseline, BaselineFiles, PriceTable, Progress, SuiteSource
    from evalgate.suite.models import Configuration
    from evalgate.suite.policy import Policies

    StoredTraces = Callable[[Iterable[bytes], str], Iterator[TraceRecord]]
    Place = tuple[str, int | None, int | None]

MOST_RUNS = 1_000
NO_TRACES = "use baseline.zip files: a results.json holds no traces"


class BacktestTools(Struct, frozen=True):
    """What a backtest needs; `read_stored` reads the lines of a baseline's traces."""

    suites: SuiteSource
    baselines: BaselineFiles
    read_stored: StoredTraces
    progress: Progress
    prices: PriceTable | None = None


class _JudgedRun(Struct, frozen=True):
    """A past run judged by today's rules, for the next run to be compared with."""

    path: str
    document: ResultsDoc
    run: Run


def backtest(
    configs: Sequence[str], paths: Sequence[str], fail_on: Sequence[str] | None, tools: BacktestTools
) -> Backtest:
    """Judges every run again, oldest first, each compared with the one before by the same rules.

    Scenarios that a run does not contain are left out of it. Freshness, approvals and quarantine depend on
    the date and are left out. Raises InvalidInput for a run that can't be read or holds no traces.
    """
    configuration = tools.suites.load(configs)
    policies = policies_of(configuration, fail_on)
    if len(paths) > MOST_RUNS:
        raise SettingError(f"{len(paths):,} runs were given, a backtest takes at most {MOST_RUNS:,}")
    past: _JudgedRun | None = None
    runs: list[PastRun] = []
    for path in _oldest_first(paths, tools.baselines):
        baseline = tools.baselines.load(path)
        left_out = _count_left_out(baseline, path)
        if left_out:
            runs.append(_incomplete_run(path, baseline.results, left_out))
            continue
        run, unknown = _drop_unknown_scenarios(
            _rejudge_run(configuration, path, baseline, past, tools), baseline.results
        )
        runs.append(_decide_run(path, baseline.results, run, unknown, past, policies))
        past = _JudgedRun(path, baseline.results, run)
        tools.progress.advance("runs")
    return Backtest(runs, _most_blocking(runs))


def _oldest_first(paths: Sequence[str], baselines: BaselineFiles) -> list[str]:
    moments = {path: baselines.load(path).results["created_at"] for path in paths}
    return sorted(moments, key=lambda path: (moments[path], path))


def _count_left_out(baseline: Baseline, path: str) -> int:
    """How many traces the run did not store; raises if it stored none on purpose."""
    if baseline.manifest is None:
        raise SettingError(Problem(f"{path} holds no traces", None, NO_TRACES))
    found = baseline.manifest.get("traces")
    counts = found if isinstance(found, dict) else {}
    kept, left_out = (_count(counts.get(name)) for name in ("kept", "left_out"))
    if not kept and not left_out and any(_places(baseline.results).values()):
        raise SettingError(Problem(f"{path} holds no traces", None, "run without --no-baseline-zip"))
    return left_out


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _rejudge_run(
    configuration: Configuration, path: str, baseline: Baseline, past: _JudgedRun | None, tools: BacktestTools
) -> Run:
    choice = TraceChoice(
        baseline=BaselineScenarios(convert_baseline_run(past.document) if past else None), prices=tools.prices
    )
    places = _places(baseline.results)
    whole = Run([])
    for suite in configuration.suites:
        source = _SuiteTraces(
            lambda: tools.read_stored(tools.baselines.read_traces(path), path), places.get(suite.name)
        )
        one_suite = replace(configuration, suites=[replace(suite, traces=("*",), format_name="auto")])
        run = evaluate(one_suite, source, choice, tools.progress, keep=_drop)
        whole.suites += run.suites
    return whole


def _drop(_: Trace) -> None:
    """Discards the trace."""


class _SuiteTraces:
    """A `TraceSource` of the traces a past run read for one suite; of all if it lacked that suite."""

    def __init__(self, traces: Callable[[], Iterator[TraceRecord]], places: Collection[Place] | None) -> None:
        self._traces = traces
        self._places = places

    def read(self, _patterns: Sequence[str], _base: str, _form: object) -> Iterator[TraceRecord]:
        """The traces, regardless of patterns."""
        for record in self._traces():
            source = record.source
            place = source.path, source.line, source.record
            if self._places is None or not isinstance(record, Trace) or place in self._places:
                yield record

    def formats(self) -> Sequence[str]:
        """No format needs to be named."""
        return ()


def _places(document: ResultsDoc) -> dict[str, set[Place]]:
    """Where the run read the traces of each suite."""
    found: dict[str, set[Place]] = {}
    for suite in document["suites"]:
        traces = [trial.trace for scenario in suite["scenarios"] for trial in scenario["trials"]]
        found[suite["suite"]] = {(trace.path, trace.line, trace.record) for trace in traces}
    for trace in document["unclaimed"]:
        found.setdefault(trace["suite"], set()).add((trace["path"], trace["line"], trace["record"]))
    return found


def _drop_unknown_scenarios(run: Run, document: ResultsDoc) -> tuple[Run, int]:
    """The run without scenarios unknown to the past run, and how many those are."""
    known, unknown = dict(list_scenario_docs(document)), 0
    for suite in run.suites:
        kept = [scenario for key, scenario in list_scenarios([suite]) if scenario.verdict != "MISSING" or key in known]
        unknown += len(suite.scenarios) - len(kept)
        suite.scenarios = kept
    return run, unknown


def _decide_run(
    path: str, document: ResultsDoc, run: Run, unknown: int, past: _JudgedRun | None, policies: Policies
) -> PastRun:
    decision = _decision(run, past, policies)
    return PastRun(
        path,
        document["created_at"],
        document["commit"],
        document["verdict"],
        decision.verdict,
        decision.reasons,
        sum(len(suite.scenarios) for suite in run.suites),
        unknown=unknown,
        compared_with=past.path if past else None,
    )


def _decision(run: Run, past: _JudgedRun | None, policies: Policies) -> Decision:
    comparison: Comparison | None = None
    if past is not None:
        rules = {name: policy.regression for name, policy in policies.suites.items()}
        comparison = compare(outcomes_from_run(run), outcomes_from_run(past.run), rules)
        add_agent_changes(comparison, run, parts_of_run(past.run))
    info = BaselineInfo("given", path=past.path if past else None)
    compare_variants(run, policies)
    return decide(run, comparison, info, policies)


def _incomplete_run(path: str, document: ResultsDoc, left_out: int) -> PastRun:
    return PastRun(
        path,
        document["created_at"],
        document["commit"],
        document["verdict"],
        "cannot_judge",
        [],
        0,
        incomplete=left_out,
    )


def _most_blocking(runs: Iterable[PastRun]) -> list[tuple[ScenarioKey, int]]:
    """Scenarios by the number of runs they would have blocked."""
    counts: Counter[ScenarioKey] = Counter()
    for run in runs:
        if run.is_blocked:
            counts.update(
                {
                    ScenarioKey(reason.suite, reason.scenario, reason.variant)
                    for reason in run.reasons
                    if reason.suite is not None and reason.scenario is not None
                }
            )
    return sorted(counts.items(), key=lambda each: (-each[1], each[0].suite, each[0].id, each[0].variant or ""))
