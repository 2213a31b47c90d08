"""The verb `explain`: shows why a scenario has its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate explain refund-in-window
  evalgate explain refund-in-window --baseline .evalgate/saved/baseline.zip
  evalgate explain refund --suite support --variant gpt --results out/results.json
"""
RESULTS = ".evalgate/results.json"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.shell import add_limits

    parser.epilog = EXAMPLES
    add_limits(parser, of_the_process=True)
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="the id of a scenario")
    add("--suite", metavar="NAME", help="its suite, if several suites have a scenario with this id")
    add("--variant", metavar="NAME", help="only this variant of the scenario")
    add("--results", metavar="PATH", default=RESULTS, help=f"the finished run (default {RESULTS})")
    add(
        "--baseline",
        metavar="PATH",
        help="compare with this baseline.zip or results.json, not with the run's own baseline",
    )


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Finds the scenario and prints the reasons for its verdict; returns 0 if the scenario exists."""
    from evalgate.application.judge.compare_finished import ExplainRequest, explain
    from evalgate.bootstrap import sources
    from evalgate.reporting.terminal.explanation import render_explanation, render_removed_scenario

    request = ExplainRequest(arguments.scenario, arguments.suite, arguments.variant)
    files, traces = sources.build_baseline_files(shell.cwd), sources.build_trace_files(shell.cwd)
    found = explain(files, traces, request, arguments.results, arguments.baseline)
    shell.report_problems(found.warnings, "warning")
    width, colour = shell.width, shell.has_colour
    if found.suite is not None and found.scenario is not None:
        shell.print_line(render_explanation(found.document, found.suite, found.scenario, width=width, colour=colour))
    elif found.removed is not None:
        shell.print_line(render_removed_scenario(found.removed, width=width, colour=colour))
    return 0
