"""The verb `help`: the verbs to begin with, all verbs, or the options of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate import cli
from evalgate.cli.command import Command, option

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell


def show_help(arguments: Namespace, shell: Shell) -> int:
    """Prints help; of a verb and its action as `evalgate VERB ACTION --help` does."""
    if arguments.words:
        return cli.main([*arguments.words, "--help"], shell)
    shown = cli.list_verbs() if arguments.all else cli.FIRST_VERBS
    shell.print_line(cli.build_parser((), shell.width, shown).format_help().rstrip())
    return 0


COMMANDS = {
    "help": Command(
        show_help,
        [
            option("words", nargs="*", metavar="VERB", help="show the options of this verb, and of its action"),
            option("--all", action="store_true", help="list all verbs"),
        ],
        """examples:
  evalgate help                  the verbs to begin with
  evalgate help --all            all verbs
  evalgate help baseline save    the options of one
""",
    )
}
