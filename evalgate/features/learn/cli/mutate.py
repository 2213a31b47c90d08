"""The verb `mutate`: which small changes of passing traces the suites would not notice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.cli.command import ANY_LIMITS, PLUGINS, TRACE_SOURCE, Command, option
from evalgate.cli.run import parse_jobs
from evalgate.errors import Problem, SettingError
from evalgate.models.mutation import MANY_CHANGES, MAX_CHANGES

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell

FOUND = 1


def mutate(arguments: Namespace, shell: Shell) -> int:
    """Prints the scores and the survivors; returns 1 if a change is not noticed, 0 if all are."""
    from evalgate.features.learn.bootstrap.mutation import run_mutation
    from evalgate.features.learn.reporting.mutation_table import build_mutation_document, render_mutation_report

    if arguments.max < 1:
        raise SettingError(f"--max must be at least 1, not {arguments.max:,}")
    report = run_mutation(arguments, shell.cwd, shell.err)
    if not report.passing and report.recorded_failures:
        message = (
            f"no trace is recorded as passed: {report.recorded_failures:,} of {report.traces:,} pass the suite only"
        )
        raise SettingError(Problem(message, None, "changes are made to runs that succeeded"))
    if not report.passing:
        message = f"no trace passes, of {report.traces:,} read: there is nothing to change"
        raise SettingError(Problem(message, None, "`evalgate run` explains why traces fail"))
    if not report.total.tried:
        message = f"no change can be tried on the {report.passing:,} of {report.traces:,} traces that pass"
        raise SettingError(Problem(message, None, "a trace needs tool calls, an answer, a cost or a latency"))
    if arguments.json:
        shell.print_json(build_mutation_document(report))
    else:
        shell.print_line(render_mutation_report(report, shell.width, colour=shell.has_colour, every=arguments.verbose))
    return FOUND if report.survivors else 0


COMMANDS = {
    "mutate": Command(
        mutate,
        [
            option("configs", nargs="*", metavar="SUITE", help="project or suite file, or a folder or glob of them"),
            *TRACE_SOURCE,
            option(
                "--max",
                type=int,
                metavar="N",
                default=MAX_CHANGES,
                help=f"try at most N changes, spread over scenarios and kinds of changes (default {MAX_CHANGES:,})",
            ),
            option(
                "--jobs",
                type=parse_jobs,
                metavar="N",
                help=f"worker processes (default auto: one below {MANY_CHANGES:,} changes, else one per core)",
            ),
            option("--json", action="store_true", help="print a JSON document instead of tables"),
            option("-v", "--verbose", action="store_true", help="print every change that is not noticed"),
            ANY_LIMITS,
            PLUGINS,
        ],
        """examples:
  evalgate mutate evals/refunds.yaml
  evalgate mutate evals/refunds.yaml --json > mutations.json

exit codes: 0 every change is noticed, 1 some are not, 2 invalid input
""",
    ),
}
