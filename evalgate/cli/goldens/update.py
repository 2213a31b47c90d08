"""The action `goldens update`: changes fields of a golden."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate goldens update refund --title 'A refund in time' --tag money --tag vip
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the action."""
    from evalgate.cli.goldens.golden_flags import add_fields
    from evalgate.cli.store.store_flags import add_store

    parser.epilog = EXAMPLES
    parser.add_argument("id", metavar="ID", help="the golden's id")
    add_fields(parser)
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Replaces the given fields; a list is replaced as a whole."""
    from evalgate.application.goldens.golden_import import doubts_of, update_golden
    from evalgate.application.goldens.stored_goldens import stored_golden, without_secrets
    from evalgate.cli.goldens.golden_flags import collect_fields
    from evalgate.cli.store.store_flags import open_store
    from evalgate.errors import Problem, SettingError
    from evalgate.reporting.text.escaping import escape_terminal

    fields = collect_fields(arguments)
    if not fields:
        raise SettingError(Problem("no field to change was given", None, "see evalgate goldens update --help"))
    with open_store(arguments, shell) as store:
        changed = update_golden(stored_golden(arguments.id, store.goldens), fields)
        shell.report_problems(doubts_of([changed]), "warning")
        stored = store.goldens.update(without_secrets(changed))
    shell.print_line(escape_terminal(f"updated: {stored.id}, version {stored.version}", None))
    return 0
