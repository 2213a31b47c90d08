"""The verb `history`: shows stored runs and how stable each scenario is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.application.history.history import HistoryView
    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate history                               the last runs, and how stable each scenario is
  evalgate history --suite support --branch main
  evalgate history --scenario refund             the runs of one scenario
  evalgate history --flaky                       only scenarios whose outcome varies
"""
MAX_RUNS = 1_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.store.store_flags import add_store

    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("--suite", metavar="NAME", help="only this suite")
    add("--scenario", metavar="ID", help="only this scenario")
    add("--variant", metavar="NAME", help="only this variant of the scenario")
    add("--dimension", metavar="NAME", help="show the score of this dimension of goldens")
    add("--branch", metavar="NAME", help="only runs of this branch (default all)")
    add("--limit", type=int, metavar="N", default=20, help=f"the last N runs, up to {MAX_RUNS:,} (default 20)")
    add("--flaky", action="store_true", help="show only scenarios whose outcome changed, without the list of runs")
    add("--json", action="store_true", help="print JSON instead of the tables")
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Reads the history and prints it; trend lines are drawn on a terminal only."""
    from evalgate.application.history.history import HistoryRequest, look_up_history
    from evalgate.cli.store.store_flags import open_store, print_json
    from evalgate.errors import SettingError
    from evalgate.reporting.terminal.history_table import build_history_document

    if not 1 <= arguments.limit <= MAX_RUNS:
        raise SettingError(f"--limit takes a number from 1 to {MAX_RUNS:,}, not {arguments.limit:,}")
    request = HistoryRequest(
        *(arguments.suite, arguments.scenario, arguments.variant, arguments.dimension, arguments.branch),
        limit=arguments.limit,
    )
    with open_store(arguments, shell) as store:
        view = look_up_history(store, request, only_unsteady=arguments.flaky)
    if arguments.json:
        print_json(shell, build_history_document(view.runs, view.scenarios, view.store_url, view.left))
        return 0
    if view.runs:
        _print_runs(view, arguments.dimension, shell)
    _print_scenarios(view, shell, is_flaky=arguments.flaky)
    return 0


def _print_runs(view: HistoryView, dimension: str | None, shell: Shell) -> None:
    from evalgate.reporting.terminal.history_table import render_runs_table, render_trends

    shell.print_line(render_runs_table(view.runs, shell.width, dimension=dimension))
    if shell.out.isatty():
        shell.print_line("")
        for line in render_trends(view.runs, dimension=dimension):
            shell.print_line(line)


def _print_scenarios(view: HistoryView, shell: Shell, *, is_flaky: bool) -> None:
    from evalgate.reporting.terminal.history_table import render_scenarios_table
    from evalgate.reporting.text.wording import pluralize

    if view.runs and view.scenarios:
        shell.print_line("")
    if view.scenarios:
        for line in render_scenarios_table(view.scenarios, shell.width, view.left, blocks=shell.out.isatty()):
            shell.print_line(line)
    if is_flaky:
        shell.note(f"{pluralize(view.unvarying, 'scenario')} had the same outcome in every run")
    elif not view.runs and not view.scenarios:
        shell.note(f"{view.store_url} contains no runs yet: `evalgate run --store-url {view.store_url}` records one")
