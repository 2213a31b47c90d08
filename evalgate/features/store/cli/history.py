"""The verb `history`: shows stored runs and how stable each scenario is, and deletes old runs."""

from __future__ import annotations

import re
from argparse import SUPPRESS
from typing import TYPE_CHECKING

from evalgate.cli.command import STORE, STORE_HELP, Command, option
from evalgate.errors import SettingError
from evalgate.features.store.cli.pages import open_store

if TYPE_CHECKING:
    from argparse import Namespace
    from datetime import timedelta

    from evalgate.cli.shell import Shell
    from evalgate.features.store.application.history.history import HistoryView

MAX_RUNS = 1_000
NEVER_DELETED = "approvals, goldens, regression suites and feedback are never deleted"


def show_history(arguments: Namespace, shell: Shell) -> int:
    """Reads the history and prints it; trend lines are drawn on a terminal only."""
    from evalgate.features.store.application.history.history import HistoryRequest, look_up_history
    from evalgate.features.store.reporting.history_table import build_history_document

    if not 1 <= arguments.limit <= MAX_RUNS:
        raise SettingError(f"--limit takes a number from 1 to {MAX_RUNS:,}, not {arguments.limit:,}")
    request = HistoryRequest(
        *(arguments.suite, arguments.scenario, arguments.variant, arguments.dimension, arguments.branch),
        limit=arguments.limit,
    )
    with open_store(arguments, shell) as store:
        view = look_up_history(store, request, only_unsteady=arguments.flaky)
    if arguments.json:
        shell.print_json(build_history_document(view.runs, view.scenarios, view.store_url, view.left))
        return 0
    if view.runs:
        _print_runs(view, arguments.dimension, shell)
    _print_scenarios(view, shell, is_flaky=arguments.flaky)
    return 0


def prune(arguments: Namespace, shell: Shell) -> int:
    """Deletes runs that ended before the kept time."""
    from datetime import UTC, datetime

    from evalgate.adapters.clock import SystemClock
    from evalgate.features.store.bootstrap.store import open_whole_store
    from evalgate.features.store.reporting.history_table import render_pruning

    span, now = _parse_span(arguments.keep), SystemClock(shell.epoch).now()
    first = datetime.min.replace(tzinfo=UTC)
    with open_whole_store(arguments.store_url, shell.environ, shell.cwd) as store:
        counts = store.runs.prune(now - min(span, now - first), dry_run=arguments.dry_run)
        for line in render_pruning(counts, arguments.keep, dry_run=arguments.dry_run):
            shell.print_line(line)
        shell.note(f"in the store {store.display_url}; {NEVER_DELETED}")
    return 0


def _parse_span(text: str) -> timedelta:
    from evalgate.suite.policy import SPAN, parse_span

    if not re.fullmatch(SPAN, text):
        raise SettingError(f"--keep takes a time span such as 12h, 90d or 26w, not {text[:40]!r}")
    return parse_span(text)


def _print_runs(view: HistoryView, dimension: str | None, shell: Shell) -> None:
    from evalgate.features.store.reporting.history_table import render_runs_table, render_trends

    shell.print_line(render_runs_table(view.runs, shell.width, dimension=dimension))
    if shell.is_terminal:
        shell.print_line("")
        for line in render_trends(view.runs, dimension=dimension):
            shell.print_line(line)


def _print_scenarios(view: HistoryView, shell: Shell, *, is_flaky: bool) -> None:
    from evalgate.features.store.reporting.history_table import render_scenarios_table
    from evalgate.reporting.text.wording import pluralize

    if view.runs and view.scenarios:
        shell.print_line("")
    if view.scenarios:
        for line in render_scenarios_table(view.scenarios, shell.width, view.left, blocks=shell.is_terminal):
            shell.print_line(line)
    if is_flaky:
        shell.note(f"{pluralize(view.unvarying, 'scenario')} had the same outcome in every run")
    elif not view.runs and not view.scenarios:
        shell.note(f"{view.store_url} contains no runs yet: `evalgate run --store-url {view.store_url}` records one")


COMMANDS = {
    "history": Command(
        show_history,
        [
            option("--suite", metavar="NAME", help="only this suite"),
            option("--scenario", metavar="ID", help="only this scenario"),
            option("--variant", metavar="NAME", help="only this variant of the scenario"),
            option("--dimension", metavar="NAME", help="show the score of this dimension of goldens"),
            option("--branch", metavar="NAME", help="only runs of this branch (default all)"),
            option(
                "--limit",
                type=int,
                metavar="N",
                default=20,
                help=f"the last N runs, up to {MAX_RUNS:,} (default 20)",
            ),
            option(
                "--flaky",
                action="store_true",
                help="show only scenarios whose outcome changed, without the list of runs",
            ),
            option("--json", action="store_true", help="print JSON instead of the tables"),
            STORE,
        ],
        """examples:
  evalgate store history                               the last runs, and how stable each scenario is
  evalgate store history --suite support --branch main
  evalgate store history --scenario refund             the runs of one scenario
  evalgate store history --flaky                       only scenarios whose outcome varies
  evalgate store history prune --keep 90d --dry-run    what would be deleted of runs older than 90 days
""",
        metavar="[prune]",
        actions={
            "prune": Command(
                prune,
                [
                    option(
                        "--keep",
                        metavar="SPAN",
                        required=True,
                        help="keep the runs of this time, such as 12h, 90d or 26w",
                    ),
                    option("--dry-run", action="store_true", help="say what would be deleted, and delete nothing"),
                    # None would undo a flag that is given before the action
                    option("--store-url", metavar="URL", default=SUPPRESS, help=STORE_HELP),
                ],
                purpose="delete old runs with their results and evaluations",
            ),
        },
    ),
}
