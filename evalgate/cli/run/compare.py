"""The verb `compare`: compares two finished runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate compare .evalgate/saved/baseline.zip .evalgate/results.json
  evalgate compare before.zip after.zip --fail-on broken,regression
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.shell import add_limits, parse_words

    parser.epilog = EXAMPLES
    add_limits(parser, of_the_process=True)
    parser.add_argument("base", metavar="BASE", help="the earlier run: baseline.zip or results.json")
    parser.add_argument("head", metavar="HEAD", help="the later run: baseline.zip or results.json")
    parser.add_argument(
        "--fail-on", type=parse_words, metavar="A,B", help="what fails the gate (default: exit 0 always)"
    )
    parser.add_argument("--json", action="store_true", help="print a results document instead of the table")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Compares and prints; returns the exit code of the decision with `--fail-on`, else 0."""
    from evalgate.application.judge.compare_finished import compare_finished
    from evalgate.bootstrap import sources
    from evalgate.reporting.results.results_json import dump_results
    from evalgate.reporting.terminal.run_table import render_table

    files = sources.build_baseline_files(shell.cwd)
    results = compare_finished(files, arguments.base, arguments.head, arguments.fail_on)
    if arguments.json:
        shell.print_line(dump_results(results).decode().rstrip())
    else:
        shell.print_line(
            render_table(
                results, width=shell.width, colour=shell.has_colour, wraps_notes=shell.is_terminal, verbosity="normal"
            )
        )
    return results["exit_code"]
