"""The judge: one call from a question to a finished document. It needs no network, no token, no environment.

Everything hostile (suites, traces, baselines) is read behind this door and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalgate.application.baseline import NAME, config_hash, parts_of, take_in
from evalgate.application.earlier import Earlier
from evalgate.application.evaluate import TraceChoice, evaluate
from evalgate.application.policies import policies_of
from evalgate.application.report import Findings, invalid, report
from evalgate.errors import InvalidInput, Location, Problem, SettingError
from evalgate.evaluators.flaws import suggest
from evalgate.gate.compare import compare
from evalgate.gate.decide import decide
from evalgate.gate.standing import standings_of, standings_of_run

if TYPE_CHECKING:
    from datetime import datetime

    from evalgate.application.policies import Policies
    from evalgate.application.request import Judgement, JudgeRequest
    from evalgate.models.comparison import Comparison
    from evalgate.models.results import ResultsDoc
    from evalgate.models.run import Run
    from evalgate.models.trace import Trace
    from evalgate.ports import (
        BaselineFiles,
        Clock,
        OutputFolder,
        Progress,
        SuiteSource,
        TraceSource,
    )
    from evalgate.suite.models import Configuration

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Tools:
    """What the judge works with."""

    suites: SuiteSource
    traces: TraceSource
    baselines: BaselineFiles
    output: OutputFolder
    clock: Clock
    progress: Progress


def judge(request: JudgeRequest, tools: Tools) -> Judgement:
    """Evaluates, compares, decides and renders; wrong input is an answer too (`invalid`, exit code 2)."""
    now = tools.clock.now()
    try:
        return _judge(request, tools, now)
    except InvalidInput as error:
        return invalid(request, error, now)
    finally:
        tools.progress.finish()


def _judge(request: JudgeRequest, tools: Tools, now: datetime) -> Judgement:
    configuration = tools.suites.load(request.configs)
    _check(configuration, request, tools.traces)
    policies = policies_of(configuration, request.fail_on)
    known = take_in(request, tools.baselines, config_hash(configuration), now)
    target = tools.output.path(NAME)  # a folder that can't be written is told before the work, not after
    spool = tools.baselines.spool() if request.make_baseline_zip else None
    try:
        run = evaluate(
            configuration,
            tools.traces,
            TraceChoice(request.traces, request.form, Earlier(known.results)),
            tools.progress,
            keep=spool.add if spool is not None else _drop,
        )
        comparison = compare_runs(run, known.results, policies) if known.results is not None else None
        decision = decide(
            run,
            comparison,
            known.info,
            policies.suites,
            run_policy=policies.run,
            report_only=request.report_only,
        )
        warnings = [*configuration.warnings, *known.warnings, *map(Problem, request.notes)]
        judgement = report(request, Findings(run, comparison, decision, known, warnings), now)
        if spool is None:
            return judgement
        results = judgement.files["results.json"]
        parts = parts_of(request, configuration, results, judgement.results["created_at"], spool)
        said = tools.baselines.write(target, parts)
        return replace(judgement, baseline_zip=target, warnings=[str(problem) for problem in said])
    finally:
        if spool is not None:
            spool.close()


def _drop(_: Trace) -> None:
    """Nothing is kept where no baseline is made."""


def compare_runs(run: Run, before: ResultsDoc, policies: Policies) -> Comparison:
    """A run against the results of an earlier one."""
    rules = {name: policy.regression for name, policy in policies.suites.items()}
    return compare(standings_of_run(run), standings_of(before), rules)


def _check(configuration: Configuration, request: JudgeRequest, traces: TraceSource) -> None:
    """What only shows once suites and flags are seen together."""
    problems = format_problems(configuration, traces, request.form)
    for suite in configuration.suites:
        if request.traces is None and suite.traces is None:
            hint = "add `traces: [...]` or give --traces"
            problems.append(Problem(f"suite `{suite.name}` names no traces", Location(suite.path), hint))
    if problems:
        raise SettingError(*problems)


def format_problems(
    configuration: Configuration, traces: TraceSource, form: str | None = None
) -> list[Problem]:
    """Formats that do not exist, the flag's own and those of suites."""
    formats = [AUTO, *traces.formats()]
    named = [(form, None), *((suite.form, Location(suite.path)) for suite in configuration.suites)]
    return [
        Problem(f"unknown format {each!r}", place, suggest(each, formats))
        for each, place in named
        if each is not None and each not in formats
    ]
