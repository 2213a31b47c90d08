"""The action `goldens import`: stores goldens from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate goldens import goldens/refund.yaml more.jsonl
  evalgate goldens import 'agent/*.evalset.json'
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the action."""
    from evalgate.cli.store.store_flags import add_store

    parser.epilog = EXAMPLES
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="YAML, JSON or JSON lines of goldens, or eval sets"
    )
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Stores all goldens of the files, or none on an error; goldens already stored are updated."""
    from evalgate.application.goldens.golden_entries import doubts_of
    from evalgate.application.goldens.stored_goldens import keep_goldens
    from evalgate.bootstrap.golden_files import golden_files
    from evalgate.cli.store.store_flags import opened

    goldens = golden_files(arguments.files, shell.cwd)
    shell.tell(doubts_of(goldens), "warning")
    with opened(arguments, shell, create=True) as store:
        kept = keep_goldens(goldens, store.goldens)
        shell.say(f"goldens: {kept.created:,} new, {kept.updated:,} updated, {kept.unchanged:,} unchanged")
        shell.note(f"in the store {store.place}")
    return 0
