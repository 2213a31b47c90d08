"""The verb `history`: shows stored runs and how stable each scenario is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.application.history.history import HistoryView
    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate history                               the last runs, and how each scenario stands
  evalgate history --suite support --branch main
  evalgate history --scenario refund             its own runs
  evalgate history --flaky                       which scenarios pass now and then only
"""
MOST = 1_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.store.store_flags import add_store

    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("--suite", metavar="NAME", help="of this suite only")
    add("--scenario", metavar="ID", help="of this scenario only")
    add("--variant", metavar="NAME", help="the variant of the scenario, where it has several")
    add("--dimension", metavar="NAME", help="with the score of this dimension of goldens")
    add("--branch", metavar="NAME", help="runs of this branch only (default all)")
    add("--limit", type=int, metavar="N", default=20, help=f"the last N runs, up to {MOST:,} (default 20)")
    add("--flaky", action="store_true", help="leave out the runs, and scenarios whose outcome never turned")
    add("--json", action="store_true", help="print JSON instead of the tables")
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Reads the history and prints it; trend lines are drawn on a terminal only."""
    from evalgate.application.history.history import HistoryRequest, look
    from evalgate.cli.store.store_flags import opened, say_json
    from evalgate.errors import SettingError
    from evalgate.reporting.terminal.history_table import history_document

    if not 1 <= arguments.limit <= MOST:
        raise SettingError(f"--limit takes a number from 1 to {MOST:,}, not {arguments.limit:,}")
    asked = HistoryRequest(
        *(arguments.suite, arguments.scenario, arguments.variant, arguments.dimension, arguments.branch),
        limit=arguments.limit,
    )
    with opened(arguments, shell) as store:
        looked = look(store, asked, only_turned=arguments.flaky)
    if arguments.json:
        say_json(shell, history_document(looked.runs, looked.scenarios, looked.place, looked.left))
        return 0
    if looked.runs:
        _say_runs(looked, arguments.dimension, shell)
    _say_scenarios(looked, shell, is_flaky=arguments.flaky)
    return 0


def _say_runs(looked: HistoryView, dimension: str | None, shell: Shell) -> None:
    from evalgate.reporting.terminal.history_table import runs_table, trend_lines

    shell.say(runs_table(looked.runs, shell.width, dimension=dimension))
    if shell.out.isatty():
        shell.say("")
        for line in trend_lines(looked.runs, dimension=dimension):
            shell.say(line)


def _say_scenarios(looked: HistoryView, shell: Shell, *, is_flaky: bool) -> None:
    from evalgate.reporting.terminal.history_table import scenarios_table
    from evalgate.reporting.text.wording import counted

    if looked.runs and looked.scenarios:
        shell.say("")
    if looked.scenarios:
        for line in scenarios_table(looked.scenarios, shell.width, looked.left, blocks=shell.out.isatty()):
            shell.say(line)
    if is_flaky:
        shell.note(f"{counted(looked.calm, 'scenario')} went the same way in every run")
    elif not looked.runs and not looked.scenarios:
        shell.note(
            f"{looked.place} remembers no run yet: `evalgate run --store-url {looked.place}` keeps one"
        )
