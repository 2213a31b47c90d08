"""The action `goldens delete`: deletes goldens and their evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the action."""
    from evalgate.cli.store.store_flags import add_store

    parser.add_argument("ids", nargs="+", metavar="ID", help="goldens' ids")
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Deletes the goldens and prints what was deleted with each; if one is unknown, deletes none."""
    from evalgate.application.goldens.stored_goldens import unknown_golden
    from evalgate.cli.store.store_flags import open_store
    from evalgate.errors import SettingError
    from evalgate.reporting.text.escaping import escape_terminal
    from evalgate.reporting.text.wording import pluralize

    golden_ids = list(dict.fromkeys(arguments.ids))
    with open_store(arguments, shell) as store:
        stored_ids = set(store.goldens.ids())
        unknown = [unknown_golden(id_, store.goldens) for id_ in golden_ids if id_ not in stored_ids]
        if unknown:
            raise SettingError(*unknown)
        for golden_id in golden_ids:
            deleted = store.goldens.delete(golden_id)
            if deleted is None:
                shell.note(f"note: {golden_id} was already deleted by another process")
                continue
            suites_note = f"; {pluralize(deleted.suites, 'regression suite')} named it" if deleted.suites else ""
            message = f"deleted: {golden_id} with {pluralize(deleted.evaluations, 'evaluation')}{suites_note}"
            shell.print_line(escape_terminal(message, None))
    return 0
