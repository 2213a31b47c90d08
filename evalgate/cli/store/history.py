"""The verb `history`: shows stored runs and how stable each scenario is, and deletes old runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from datetime import timedelta

    from evalgate.application.history.history import HistoryView
    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate history                               the last runs, and how stable each scenario is
  evalgate history --suite support --branch main
  evalgate history --scenario refund             the runs of one scenario
  evalgate history --flaky                       only scenarios whose outcome varies
  evalgate history prune --keep 90d --dry-run    what would be deleted of runs older than 90 days
"""
MAX_RUNS = 1_000
NEVER_DELETED = "approvals, goldens, regression suites and feedback are never deleted"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb, and its action."""
    import argparse

    from evalgate.cli.store.store_flags import add_action, add_store

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
    actions = parser.add_subparsers(dest="action", metavar="[prune]")
    prune = add_action(actions, "prune", "delete old runs with their results and evaluations")
    prune.add_argument(
        "--keep", metavar="SPAN", required=True, help="keep the runs of this time, such as 12h, 90d or 26w"
    )
    prune.add_argument("--dry-run", action="store_true", help="say what would be deleted, and delete nothing")
    add_store(prune, argparse.SUPPRESS)  # None would undo a flag that is given before the action


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Deletes old runs, or reads the history and prints it; trend lines are drawn on a terminal only."""
    if arguments.action == "prune":
        return _prune(arguments, shell)
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


def _prune(arguments: argparse.Namespace, shell: Shell) -> int:
    """Deletes runs that ended before the kept time."""
    from datetime import UTC, datetime

    from evalgate.bootstrap.shell_verbs import current_time
    from evalgate.cli.store.store_flags import open_store
    from evalgate.reporting.terminal.history_table import render_pruning

    span, now = _parse_span(arguments.keep), current_time(shell.environ.get("SOURCE_DATE_EPOCH"))
    first = datetime.min.replace(tzinfo=UTC)
    with open_store(arguments, shell) as store:
        counts = store.runs.prune(now - min(span, now - first), dry_run=arguments.dry_run)
        for line in render_pruning(counts, arguments.keep, dry_run=arguments.dry_run):
            shell.print_line(line)
        shell.note(f"in the store {store.display_url}; {NEVER_DELETED}")
    return 0


def _parse_span(text: str) -> timedelta:
    import re

    from evalgate.errors import SettingError
    from evalgate.suite.policy import SPAN, parse_span

    if not re.fullmatch(SPAN, text):
        raise SettingError(f"--keep takes a time span such as 12h, 90d or 26w, not {text[:40]!r}")
    return parse_span(text)


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
