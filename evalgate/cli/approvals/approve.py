"""The verb `approve`: adds an approval of a known failure to the file or the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from datetime import date

    from evalgate.application.approvals.approve_change import ApprovalRequest
    from evalgate.cli.shell import Shell
    from evalgate.models.approvals.approval import Approval

EXAMPLES = """examples:
  evalgate approve refund --until 2026-12-31 --because 'the API is down, ticket 4711'
  evalgate approve refund --suite support --limit 'score>=0.7' --until 2026-12-31 --because 'to be tuned'
  evalgate approve all --until 2026-12-01 --because 'the new model is intended' --who Ana
"""
RESULTS = ".evalgate/results.json"
NAMES = ("GITHUB_ACTOR", "USER", "LOGNAME", "USERNAME")
"""Environment variables with the name of the user."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="the id of a scenario that fails, or all for every scenario that fails")
    add("--because", metavar="REASON", required=True, help="why the failure is accepted")
    add("--until", metavar="DATE", required=True, help="the last day of the approval, such as 2026-12-31")
    add("--who", metavar="NAME", help="who is responsible for it (default: the user's name)")
    add("--suite", metavar="NAME", help="its suite, if several suites have a scenario with this id")
    add("--variant", metavar="NAME", help="only this variant of the scenario")
    add("--assertion", metavar="NAME", help="only failures of this assertion")
    add("--change", choices=["broken", "regressed"], help="only this change since the baseline")
    add("--limit", metavar="LIMIT", help="the lowest accepted score: score>=0.7, or none (default: the current score)")
    add("--this-recording", action="store_true", help="accept failures only of the traces that failed in this run")
    add("--results", metavar="PATH", default=RESULTS, help=f"the finished run (default {RESULTS})")
    add("--store-url", metavar="URL", help="write it to this store, not to evalgate-approvals.yaml")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Looks up what fails, adds the approval to the file or the store, and prints it."""
    from evalgate.application.approvals.approve_change import approvals_for
    from evalgate.bootstrap import approval_storage, sources

    request = _build_request(arguments, shell)
    results = sources.build_baseline_files(shell.cwd).load(arguments.results).results
    approvals = approvals_for(results, request)
    epoch = shell.environ.get("SOURCE_DATE_EPOCH")
    if arguments.store_url is not None:
        finished = approval_storage.FinishedRun(results, shell.environ.get("GITHUB_RUN_ID"))
        place = approval_storage.store_approvals(arguments.store_url, shell.cwd, approvals, epoch, finished)
    else:
        place = approval_storage.write_approvals(shell.cwd, approvals)
    _print_approvals(approvals, place, shell)
    return 0


def _build_request(arguments: argparse.Namespace, shell: Shell) -> ApprovalRequest:
    from evalgate.application.approvals.approve_change import ApprovalRequest
    from evalgate.errors import SettingError

    who = arguments.who or next((shell.environ[name] for name in NAMES if shell.environ.get(name)), None)
    if who is None:
        raise SettingError("the name of the person who is responsible is missing: give --who NAME")
    return ApprovalRequest(
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


def _parse_day(text: str, shell: Shell) -> date:
    import re
    from datetime import date

    from evalgate.bootstrap.shell_verbs import current_time
    from evalgate.errors import SettingError

    try:
        day = date.fromisoformat(text) if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else None
    except ValueError:
        day = None
    if day is None:
        raise SettingError(f"--until {text!r} is not a valid date: write it as 2026-12-31")
    if day < current_time(shell.environ.get("SOURCE_DATE_EPOCH")).date():
        raise SettingError(f"--until {text} is in the past")
    return day


def _parse_limit(text: str | None) -> float | None:
    """Parses the lowest approved score; 0 for `none`, None without the flag. Raises SettingError."""
    import re

    from evalgate.errors import SettingError

    if text is None:
        return None
    if text == "none":
        return 0.0
    found = re.fullmatch(r"\s*score\s*>=\s*(0(?:\.[0-9]{1,9})?|1(?:\.0{1,9})?|\.[0-9]{1,9})\s*", text)
    if found is None:
        raise SettingError(f"--limit {text!r} is invalid: write score>=0.7, with a score from 0 to 1, or none")
    return float(found[1])


def _print_approvals(approvals: Sequence[Approval], place: str, shell: Shell) -> None:
    from evalgate.reporting.text.escaping import escape_terminal

    for approval in approvals:
        parts = [approval.suite, approval.scenario, approval.variant, approval.assertion]
        name = escape_terminal(" / ".join(part for part in parts if part))
        bound = f", score at least {approval.least_score:g}" if approval.least_score is not None else ""
        shell.print_line(f"approved until {approval.until.isoformat()}: {name}{bound}")
    shell.note(f"written to {place}")
