"""The verb `approvals`: lists approvals with their status, or withdraws one from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.application.approvals.list_approvals import ListedApproval
    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate approvals
  evalgate approvals --all --json
  evalgate approvals --store-url .evalgate/evalgate.db --withdraw 5f2c...
"""
RESULTS = ".evalgate/results.json"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("--all", action="store_true", help="those that are over as well")
    add("--json", action="store_true", help="print JSON")
    add(
        "--results",
        metavar="PATH",
        help=f"the finished run that says which of them hold (default {RESULTS}, if it is there)",
    )
    add(
        "--store-url",
        metavar="URL",
        help="those of this store as well (default $EVALGATE_STORE_URL, else `store` of evalgate.yaml)",
    )
    add("--withdraw", metavar="ID", help="end the approval of the store with this id, today")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Lists approvals with their status, or withdraws one."""
    from evalgate.bootstrap import approval_storage
    from evalgate.bootstrap.store_choice import named_store

    named = named_store(arguments.store_url, shell.environ, shell.cwd)
    named = None if named == "none" else named
    epoch = shell.environ.get("SOURCE_DATE_EPOCH")
    if arguments.withdraw is not None:
        place = approval_storage.withdraw(named, shell.cwd, arguments.withdraw, epoch)
        shell.say(f"withdrawn in {place}: {arguments.withdraw}")
        return 0
    found = approval_storage.listed_approvals(shell.cwd, named, arguments.results, epoch)
    shown = [each for each in found if arguments.all or not each.is_over]
    if arguments.json:
        _say_json(shown, shell)
    else:
        _say_lines(shown, shell)
    return 0


def _say_json(shown: list[ListedApproval], shell: Shell) -> None:
    import orjson

    from evalgate.cli.shell import visible_json
    from evalgate.reporting.results.approvals_doc import approval_doc

    told = [{"id": each.id, **approval_doc(each.ruling)} for each in shown]
    shell.say(visible_json(orjson.dumps({"approvals": told}, option=orjson.OPT_INDENT_2).decode()))


def _say_lines(shown: list[ListedApproval], shell: Shell) -> None:
    from evalgate.reporting.results.approvals_doc import approval_doc
    from evalgate.reporting.text.approval_lines import approval_text
    from evalgate.reporting.text.escaping import terminal

    for each in shown:
        said = terminal(approval_text(approval_doc(each.ruling)).removeprefix("approval "), None)
        known = each.id is not None and each.id.isascii() and each.id.isalnum()  # hash or UUID of the store
        shell.say(f"{said} [{each.id}]" if known else said)
    if not shown:
        shell.note("no approvals")
