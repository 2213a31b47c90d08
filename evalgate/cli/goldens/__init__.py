"""The verb `goldens`: one module per action. Entry points: `configure`, `run`, `ACTIONS`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

ACTIONS = {
    "add": ("add", "store new goldens: from flags, from a file, or from a trace"),
    "list": ("list", "list goldens"),
    "show": ("show", "show a golden, and how traces scored against it"),
    "update": ("update", "change a golden and increment its version"),
    "delete": ("delete", "delete goldens and their evaluations"),
    "import": ("import_", "import goldens from files: golden files of EvalGate, or eval sets of Google ADK"),
    "export": ("export", "export goldens as JSON lines, for `import` and for suites"),
    "suite": ("suite", "manage regression suites: which goldens are judged together, and how strictly"),
}
EXAMPLES = """examples:
  evalgate goldens add --from-trace traces/refund.json --tag money
  evalgate goldens list --intent task_execution
  evalgate goldens import 'goldens/*.yaml'
  evalgate goldens suite add nightly --tag money
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the actions of the verb."""
    from evalgate.cli.store.store_flags import add_action

    parser.epilog = EXAMPLES
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, (_, purpose) in ACTIONS.items():
        _import_action(name).configure(add_action(actions, name, purpose))


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Runs the chosen action."""
    code: int = _import_action(arguments.action).run(arguments, shell)
    return code


def _import_action(action: str) -> Any:
    return import_module(f"evalgate.cli.goldens.{ACTIONS[action][0]}")
