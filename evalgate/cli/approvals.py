"""The verbs `approve`, which accepts a known failure, and `approvals`, which lists approvals or withdraws one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.bootstrap.shell_tools import find_run
from evalgate.cli.command import RUN_HELP, SUITE, VARIANT, Command, option
from evalgate.errors import SettingError
from evalgate.models.results.document_names import OUTPUT_FOLDER, RESULTS_PATH
from evalgate.reporting.text.escaping import escape_terminal, to_one_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from datetime import date

    from evalgate.application.approvals.approve_change import ListedApproval
    from evalgate.cli.shell import Shell
    from evalgate.models.approvals.approval import Approval
    from evalgate.ports.store import ApprovalStore

NAMES = ("GITHUB_ACTOR", "USER", "LOGNAME", "USERNAME")
"""Environment variables with the name of the user."""
MAX_NAME = 200
"""Characters of a name that git gives."""
SCORE_LIMIT = re.compile(r"\s*score\s*>=\s*(0(?:\.[0-9]{1,9})?|1(?:\.0{1,9})?|\.[0-9]{1,9})\s*")


def approve(arguments: Namespace, shell: Shell) -> int:
    """Looks up what fails, adds the approval to the file or the store, and prints it."""
    from evalgate.application.approvals.approve_change import ApprovalRequest, approvals_for
    from evalgate.bootstrap.approvals import write_approvals
    from evalgate.bootstrap.features import load_port
    from evalgate.bootstrap.sources import build_baseline_files

    who = arguments.who or _find_name(shell)
    request = ApprovalRequest(
        scenario=arguments.scenario,
        reason=arguments.because,
        who=who,
        until=_parse_day(arguments.until, shell),
        suite=arguments.suite,
        variant=arguments.variant,
        assertion=arguments.assertion,
        change=arguments.change,
        least_score=_parse_limit(arguments.limit),
        only_these_traces=arguments.this_recording,
    )
    results = build_baseline_files(shell.cwd).load(find_run(arguments.results, shell.cwd)).results
    approvals = approvals_for(results, request)
    store: ApprovalStore | None = None
    if arguments.store_url is not None:
        store = load_port("shell_approvals")(arguments.store_url, shell.environ, shell.cwd)
    run_id = shell.environ.get("GITHUB_RUN_ID")
    place = store.record(approvals, results, run_id) if store is not None else write_approvals(shell.cwd, approvals)
    _print_approvals(approvals, place, shell)
    return 0


def _find_name(shell: Shell) -> str:
    """The name of the user, as the environment or git gives it; raises SettingError without one."""
    from evalgate.adapters.files.git_changes import find_user_name

    found = next((shell.environ[name] for name in NAMES if shell.environ.get(name)), None)
    if found is None:
        found = to_one_line((find_user_name(shell.cwd, shell.environ) or "")[:MAX_NAME], None)[:MAX_NAME]
    if not found:
        raise SettingError("the name of the person who is responsible is missing: give --who NAME")
    return found


def _parse_day(text: str, shell: Shell) -> date:
    from datetime import date

    from evalgate.adapters.clock import SystemClock

    try:
        day = date.fromisoformat(text) if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else None
    except ValueError:
        day = None
    if day is None:
        raise SettingError(f"--until {text!r} is not a valid date: write it as 2026-12-31")
    if day < SystemClock(shell.epoch).now().date():
        raise SettingError(f"--until {text} is in the past")
    return day


def _parse_limit(text: str | None) -> float | None:
    """Parses the lowest approved score; 0 for `none`, None without the flag. Raises SettingError."""
    if text is None:
        return None
    if text == "none":
        return 0.0
    found = SCORE_LIMIT.fullmatch(text)
    if found is None:
        raise SettingError(f"--limit {text!r} is invalid: write score>=0.7, with a score from 0 to 1, or none")
    return float(found[1])


def _print_approvals(approvals: Sequence[Approval], place: str, shell: Shell) -> None:
    for approval in approvals:
        parts = [approval.suite, approval.scenario, approval.variant, approval.assertion]
        name = escape_terminal(" / ".join(part for part in parts if part))
        bound = f", score at least {approval.least_score:g}" if approval.least_score is not None else ""
        shell.print_line(f"approved until {approval.until.isoformat()}: {name}{bound}")
    shell.note(f"written to {place}")


def list_or_withdraw(arguments: Namespace, shell: Shell) -> int:
    """Lists approvals with their status, or withdraws one from the store."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.bootstrap.approvals import load_listed_approvals
    from evalgate.bootstrap.features import load_port
    from evalgate.reporting.results.rulings_doc import build_approval_doc

    store: ApprovalStore | None = load_port("shell_approvals")(arguments.store_url, shell.environ, shell.cwd)
    if arguments.withdraw is not None:
        if store is None:
            raise SettingError("only an approval in a store can be withdrawn: name the store with --store-url")
        shell.print_line(f"withdrawn in {store.withdraw(arguments.withdraw)}: {arguments.withdraw}")
        return 0
    run = None if arguments.results is None else find_run(arguments.results, shell.cwd)
    found = load_listed_approvals(shell.cwd, store, run, SystemClock(shell.epoch).now().date())
    shown = [each for each in found if arguments.all or not each.is_over]
    if arguments.json:
        shell.print_json({"approvals": [{"id": each.id, **build_approval_doc(each.ruling)} for each in shown]})
    else:
        _print_list(shown, shell)
    return 0


def _print_list(approvals: list[ListedApproval], shell: Shell) -> None:
    from evalgate.reporting.results.rulings_doc import build_approval_doc
    from evalgate.reporting.text.ruling_lines import format_approval

    for each in approvals:
        line = escape_terminal(format_approval(build_approval_doc(each.ruling)).removeprefix("approval "), None)
        has_safe_id = each.id is not None and each.id.isascii() and each.id.isalnum()  # hash or UUID of the store
        shell.print_line(f"{line} [{each.id}]" if has_safe_id else line)
    if not approvals:
        shell.note("no approvals")


COMMANDS = {
    "approve": Command(
        approve,
        [
            option(
                "scenario",
                metavar="SCENARIO",
                help="the id of a scenario that fails, or its beginning, or all for every scenario that fails",
            ),
            option("--because", metavar="REASON", required=True, help="why the failure is accepted"),
            option("--until", metavar="DATE", required=True, help="the last day of the approval, such as 2026-12-31"),
            option(
                "--who",
                metavar="NAME",
                help="who is responsible for it (default: $GITHUB_ACTOR, $USER or git's user.name)",
            ),
            SUITE,
            VARIANT,
            option("--assertion", metavar="NAME", help="only failures of this assertion"),
            option("--change", choices=["broken", "regressed"], help="only this change since the baseline"),
            option(
                "--limit",
                metavar="LIMIT",
                help="the lowest accepted score: score>=0.7, or none (default: the current score)",
            ),
            option(
                "--this-recording",
                action="store_true",
                help="accept failures only of the traces that failed in this run",
            ),
            option(
                "--run",
                "--results",
                metavar="RUN",
                dest="results",
                default=OUTPUT_FOLDER,
                help=f"the finished run: {RUN_HELP} (default {OUTPUT_FOLDER})",
            ),
            option(
                "--store-url", metavar="URL", help="write it to this store (default: to evalgate-approvals.yaml here)"
            ),
        ],
        """examples:
  evalgate approve refund --until 2026-12-31 --because 'the API is down, ticket 4711'
  evalgate approve refund --suite support --limit 'score>=0.7' --until 2026-12-31 --because 'to be tuned'
  evalgate approve all --until 2026-12-01 --because 'the new model is intended' --who Ana
""",
    ),
    "approvals": Command(
        list_or_withdraw,
        [
            option("--all", action="store_true", help="show expired approvals as well"),
            option("--json", action="store_true", help="print JSON"),
            option(
                "--run",
                "--results",
                metavar="RUN",
                dest="results",
                help=f"the finished run that decides their status (default {RESULTS_PATH}, if it exists)",
            ),
            option(
                "--store-url",
                metavar="URL",
                help="list those of this store as well (default $EVALGATE_STORE_URL, else `store` of evalgate.yaml)",
            ),
            option("--withdraw", metavar="ID", help="withdraw the approval with this id from the store, as of today"),
        ],
        """examples:
  evalgate approvals
  evalgate approvals --all --json
  evalgate approvals --store-url .evalgate/evalgate.db --withdraw 5f2c...
""",
    ),
}
