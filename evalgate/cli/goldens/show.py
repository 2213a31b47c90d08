"""The action `goldens show`: prints a golden and its last evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

LAST = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the action."""
    from evalgate.cli.store.store_flags import add_store

    parser.add_argument("id", metavar="ID", help="the golden's id")
    parser.add_argument("--json", action="store_true", help="print it as JSON, in the format of golden files")
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Prints one golden."""
    from evalgate.application.goldens.stored_goldens import stored_golden
    from evalgate.cli.store.store_flags import open_store, print_json
    from evalgate.ports.store import Page
    from evalgate.reporting.dataset.golden_document import build_golden_document
    from evalgate.reporting.terminal.golden_tables import render_golden

    with open_store(arguments, shell) as store:
        golden = stored_golden(arguments.id, store.goldens)
        last = store.evaluations.of_golden(golden.id, Page(LAST))
    if arguments.json:
        print_json(shell, build_golden_document(golden))
    else:
        shell.print_line(render_golden(golden, last, width=shell.width, colour=shell.has_colour))
    return 0
