"""Builds what `mutate` works with: suites, traces and workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from evalgate.models.mutation import MANY_CHANGES

if TYPE_CHECKING:
    from evalgate.models.mutation import MutationReport
    from evalgate.ports.batches import Engine


def run_mutation(arguments: Any, cwd: str, progress_to: TextIO) -> MutationReport:
    """Reads the suites and traces that the command names and tries changes; raises like a run."""
    from evalgate.adapters.progress import progress_for
    from evalgate.application.evaluation.evaluate import TraceChoice
    from evalgate.application.evaluation.run_checks import check_traces
    from evalgate.application.messages.request import SourceChoice
    from evalgate.bootstrap.shell_tools import use_plugin_evaluators
    from evalgate.bootstrap.sources import build_suite_files, build_trace_files, find_price_list
    from evalgate.features.learn.application.mutation.score import MutationRun
    from evalgate.settings.limits import parse_limits

    use_plugin_evaluators(arguments.plugin, cwd)
    bounds = parse_limits(arguments.limit)
    configuration = build_suite_files(cwd, None, bounds).load(arguments.configs)
    traces = build_trace_files(cwd, None, bounds)
    choice = TraceChoice(arguments.traces, arguments.format)
    check_traces(configuration, SourceChoice(traces=arguments.traces, form=arguments.format), traces)
    run = MutationRun(configuration.suites, find_price_list(), configuration.policy)
    progress = progress_for(progress_to, quiet=False)
    try:
        for number, suite in enumerate(configuration.suites):
            run.add_traces(number, traces.read(*choice.resolve_for_suite(suite)), progress)
        count = run.choose(arguments.max)
        report = run.try_changes(_choose_engine(arguments.jobs, count, may_connect=bool(arguments.plugin)), progress)
        run.suggest(report, progress)
        return report
    finally:
        progress.finish()


def _choose_engine(jobs: int | None, changes: int, *, may_connect: bool) -> Engine | None:
    from evalgate.adapters.engines.process_pool import ProcessPool, usable_cores

    workers = jobs or (usable_cores() if changes >= MANY_CHANGES else 1)
    if workers == 1:
        return None
    from evalgate.adapters.sandbox.kernel import forbid_connections

    return ProcessPool(workers, None if may_connect else forbid_connections)
