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
    from evalgate.cli.store.store_flags import opened, page_of, say_json, tell_rest
    from evalgate.reporting.dataset.golden_document import golden_document
    from evalgate.reporting.terminal.golden_tables import golden_table

    page = page_of(arguments)
    with opened(arguments, shell) as store:
        found = store.goldens.list(page, filter_of(arguments))
    if arguments.json:
        say_json(shell, [golden_document(golden) for golden in found])
    elif found:
        shell.say(golden_table(found, shell.width))
    tell_rest(shell, len(found), page, "goldens")
    return 0


def add_filter(parser: argparse.ArgumentParser) -> None:
    """Adds the flags that select goldens; a golden must match all that are given."""
    add = parser.add_argument
    add("--intent", metavar="WORD", help="only those with this intent")
    add("--stance", metavar="WORD", help="only those with this primary stance")
    add("--tag", metavar="WORD", help="only those with this tag")
    add("--creator", metavar="NAME", help="only those of this person")


def filter_of(arguments: argparse.Namespace) -> GoldenFilter:
    """The filter that the flags describe."""
    from evalgate.ports.store import GoldenFilter

    return GoldenFilter(arguments.intent, arguments.stance, arguments.creator, arguments.tag)
