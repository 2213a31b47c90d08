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
    from evalgate.application.goldens.golden_entries import doubts_of, golden_with
    from evalgate.application.goldens.stored_goldens import stored_golden, without_secrets
    from evalgate.cli.goldens.golden_flags import said_fields
    from evalgate.cli.store.store_flags import opened
    from evalgate.errors import Problem, SettingError
    from evalgate.reporting.text.escaping import terminal

    said = said_fields(arguments)
    if not said:
        raise SettingError(Problem("nothing to change was said", None, "see evalgate goldens update --help"))
    with opened(arguments, shell) as store:
        changed = golden_with(stored_golden(arguments.id, store.goldens), said)
        shell.tell(doubts_of([changed]), "warning")
        now = store.goldens.update(without_secrets(changed))
    shell.say(terminal(f"updated: {now.id}, version {now.version}", None))
    return 0
