"""The verb `import`: stores exported evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate import evaluation_2025-12-31T22-40-49.jsonl
  evalgate import old.csv --store-url postgresql://ci@db/evalgate
"""
MOST_TOLD = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.store.store_flags import add_store

    parser.epilog = EXAMPLES
    parser.add_argument("files", nargs="+", metavar="FILE", help="what `evalgate export jsonl|csv` wrote")
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Stores evaluations that are new; reports those that can't be imported, and then returns 2."""
    from evalgate.application.goldens.evaluation_export import take_in
    from evalgate.bootstrap import export_files
    from evalgate.cli.store.store_flags import opened
    from evalgate.reporting.text.wording import counted

    read = [export_files.read(path, shell.cwd) for path in arguments.files]
    found = [each for one in read for each in one.found]
    with opened(arguments, shell, create=True) as store:
        taken = take_in(found, store)
        new, said = counted(taken.evaluations, "evaluation"), f"{counted(taken.feedback, 'word')} of feedback"
        shell.say(f"imported: {new} and {said} new, {counted(taken.known, 'evaluation')} known already")
        shell.note(f"in the store {store.place}")
    problems = [*(problem for one in read for problem in one.problems), *taken.problems]
    shell.tell(problems[:MOST_TOLD])
    if len(problems) > MOST_TOLD:
        shell.note(f"error: and {len(problems) - MOST_TOLD:,} more")
    return 2 if problems else 0
