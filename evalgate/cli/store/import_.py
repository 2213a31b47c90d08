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
MAX_PROBLEMS = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.store.store_flags import add_store

    parser.epilog = EXAMPLES
    parser.add_argument("files", nargs="+", metavar="FILE", help="files that `evalgate export jsonl|csv` wrote")
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Stores evaluations that are new; reports those that can't be imported, and then returns 2."""
    from evalgate.application.goldens.evaluation_export import import_evaluations
    from evalgate.bootstrap import export_files
    from evalgate.cli.store.store_flags import open_store
    from evalgate.reporting.text.wording import pluralize

    contents = [export_files.read_export(path, shell.cwd) for path in arguments.files]
    found = [each for one in contents for each in one.found]
    with open_store(arguments, shell, create=True) as store:
        imported = import_evaluations(found, store)
        new, existing = (pluralize(each, "evaluation") for each in (imported.evaluations, imported.existing))
        feedback = pluralize(imported.feedback, "feedback record")
        shell.print_line(f"imported: {new} and {feedback}; {existing} already stored")
        shell.note(f"in the store {store.display_url}")
    problems = [*(problem for one in contents for problem in one.problems), *imported.problems]
    shell.report_problems(problems[:MAX_PROBLEMS])
    if len(problems) > MAX_PROBLEMS:
        shell.note(f"error: and {len(problems) - MAX_PROBLEMS:,} more")
    return 2 if problems else 0
