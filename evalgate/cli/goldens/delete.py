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
    from evalgate.cli.store.store_flags import opened
    from evalgate.errors import SettingError
    from evalgate.reporting.text.escaping import terminal
    from evalgate.reporting.text.wording import counted

    wanted = list(dict.fromkeys(arguments.ids))
    with opened(arguments, shell) as store:
        known = set(store.goldens.ids())
        unknown = [unknown_golden(id_, store.goldens) for id_ in wanted if id_ not in known]
        if unknown:
            raise SettingError(*unknown)
        for golden_id in wanted:
            gone = store.goldens.delete(golden_id)
            if gone is None:
                shell.note(f"note: somebody else has just deleted {golden_id}")
                continue
            left = f"; {counted(gone.suites, 'regression suite')} named it" if gone.suites else ""
            told = f"deleted: {golden_id} with {counted(gone.evaluations, 'evaluation')}{left}"
            shell.say(terminal(told, None))
    return 0
