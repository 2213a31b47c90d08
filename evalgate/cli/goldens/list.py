"""The action `goldens list`: prints the stored goldens."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell
    from evalgate.ports.store import GoldenFilter


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the action."""
    from evalgate.cli.store.store_flags import add_page, add_store

    add_filter(parser)
    add_page(parser)
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Prints the goldens ordered by id."""
    from evalgate.cli.store.store_flags import note_more_results, open_store, parse_page, print_json
    from evalgate.reporting.dataset.golden_document import build_golden_document
    from evalgate.reporting.terminal.golden_tables import render_golden_table

    page = parse_page(arguments)
    with open_store(arguments, shell) as store:
        found = store.goldens.list(page, parse_filter(arguments))
    if arguments.json:
        print_json(shell, [build_golden_document(golden) for golden in found])
    elif found:
        shell.print_line(render_golden_table(found, shell.width))
    note_more_results(shell, len(found), page, "goldens")
    return 0


def add_filter(parser: argparse.ArgumentParser) -> None:
    """Adds the flags that select goldens; a golden must match all that are given."""
    add = parser.add_argument
    add("--intent", metavar="WORD", help="only those with this intent")
    add("--stance", metavar="WORD", help="only those with this primary stance")
    add("--tag", metavar="WORD", help="only those with this tag")
    add("--creator", metavar="NAME", help="only those by this creator")


def parse_filter(arguments: argparse.Namespace) -> GoldenFilter:
    """The filter that the flags describe."""
    from evalgate.ports.store import GoldenFilter

    return GoldenFilter(arguments.intent, arguments.stance, arguments.creator, arguments.tag)
