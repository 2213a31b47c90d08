"""The verb `approvals`: lists approvals with their status, or withdraws one from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.application.approvals.approve_change import ListedApproval
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
    add("--all", action="store_true", help="show expired approvals as well")
    add("--json", action="store_true", help="print JSON")
    add(
        "--results",
        metavar="PATH",
        help=f"the finished run that decides their status (default {RESULTS}, if it exists)",
    )
    add(
        "--store-url",
        metavar="URL",
        help="list those of this store as well (default $EVALGATE_STORE_URL, else `store` of evalgate.yaml)",
    )
    add("--withdraw", metavar="ID", help="withdraw the approval with this id from the store, as of today")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Lists approvals with their status, or withdraws one."""
    from evalgate.bootstrap import approval_storage
    from evalgate.bootstrap.store import find_store_url

    store_name = find_store_url(arguments.store_url, shell.environ, shell.cwd)
    store_name = None if store_name == "none" else store_name
    epoch = shell.environ.get("SOURCE_DATE_EPOCH")
    if arguments.withdraw is not None:
        place = approval_storage.withdraw(store_name, shell.cwd, arguments.withdraw, epoch)
        shell.print_line(f"withdrawn in {place}: {arguments.withdraw}")
        return 0
    found = approval_storage.load_listed_approvals(shell.cwd, store_name, arguments.results, epoch)
    shown = [each for each in found if arguments.all or not each.is_over]
    if arguments.json:
        _print_json(shown, shell)
    else:
        _print_lines(shown, shell)
    return 0


def _print_json(approvals: list[ListedApproval], shell: Shell) -> None:
    import orjson

    from evalgate.cli.shell import escape_invisible
    from evalgate.reporting.results.rulings_doc import build_approval_doc

    documents = [{"id": each.id, **build_approval_doc(each.ruling)} for each in approvals]
    shell.print_line(escape_invisible(orjson.dumps({"approvals": documents}, option=orjson.OPT_INDENT_2).decode()))


def _print_lines(approvals: list[ListedApproval], shell: Shell) -> None:
    from evalgate.reporting.results.rulings_doc import build_approval_doc
    from evalgate.reporting.text.escaping import escape_terminal
    from evalgate.reporting.text.ruling_lines import format_approval

    for each in approvals:
        line = escape_terminal(format_approval(build_approval_doc(each.ruling)).removeprefix("approval "), None)
        has_safe_id = each.id is not None and each.id.isascii() and each.id.isalnum()  # hash or UUID of the store
        shell.print_line(f"{line} [{each.id}]" if has_safe_id else line)
    if not approvals:
        shell.note("no approvals")
