"""The verb `store`: the verbs of the store as its actions."""

from __future__ import annotations

from evalgate.cli.command import Command
from evalgate.features.store.cli import goldens, history, store_verbs
from evalgate.features.store.feature import STORE

_COMMANDS = {**history.COMMANDS, **goldens.COMMANDS, **store_verbs.COMMANDS}
COMMANDS = {
    "store": Command(
        examples="""examples:
  evalgate store history
  evalgate store goldens list
  evalgate store export csv -o evaluations.csv
""",
        metavar="history|goldens|feedback|export|import",
        actions={
            name: _COMMANDS[name]._replace(purpose=verb.purpose)
            for name, verb in STORE.verbs.items()
            if verb.is_old_name
        },
    )
}
