"""The verb `completion`: prints the completion script of a shell."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from evalgate.cli.command import Command, option

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell

SHELLS = ("bash", "zsh", "fish", "powershell")


def print_script(arguments: Namespace, shell: Shell) -> int:
    """Prints the script of one shell, made of the parsers of all verbs."""
    from evalgate import cli
    from evalgate.adapters.formats.open.detect import AUTO, FORMATS
    from evalgate.cli.completion.command_words import list_commands

    commands = list_commands(cli.build_parser(cli.VERBS), [AUTO, *(each.name for each in FORMATS)])
    write_script = import_module(f"evalgate.cli.completion.{arguments.shell}_script").write_script
    shell.print_line(write_script(commands))
    return 0


COMMANDS = {
    "completion": Command(
        print_script,
        [option("shell", choices=SHELLS, help="the shell that the script is for")],
        """examples:
  evalgate completion bash > ~/.local/share/bash-completion/completions/evalgate
  evalgate completion zsh > "${fpath[1]}/_evalgate"
  evalgate completion fish > ~/.config/fish/completions/evalgate.fish
  evalgate completion powershell > evalgate.ps1
""",
    )
}
