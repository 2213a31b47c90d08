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
    parser.add_argument("files", nargs="+", metavar="FILE", help="YAML, JSON or JSON lines of goldens, or eval sets")
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Stores all goldens of the files, or none on an error; goldens already stored are updated."""
    from evalgate.application.goldens.golden_import import doubts_of
    from evalgate.application.goldens.stored_goldens import upsert_goldens
    from evalgate.bootstrap.export_files import load_goldens
    from evalgate.cli.store.store_flags import open_store

    goldens = load_goldens(arguments.files, shell.cwd)
    shell.report_problems(doubts_of(goldens), "warning")
    with open_store(arguments, shell, create=True) as store:
        counts = upsert_goldens(goldens, store.goldens)
        shell.print_line(f"goldens: {counts.created:,} new, {counts.updated:,} updated, {counts.unchanged:,} unchanged")
        shell.note(f"in the store {store.display_url}")
    return 0
