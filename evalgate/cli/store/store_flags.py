"""Flags shared by verbs that use the store: the store's URL, paging, a period."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from evalgate.cli.shell import Shell
    from evalgate.ports.store import Page, Store

MAX_LISTED = 10_000
DEFAULT_LISTED = 50


def add_action(actions: Any, name: str, purpose: str) -> argparse.ArgumentParser:
    """Adds one action to a verb that has several."""
    from argparse import RawDescriptionHelpFormatter

    description = f"{purpose[0].upper()}{purpose[1:]}."
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=purpose, description=description, formatter_class=RawDescriptionHelpFormatter
    )
    return parser


def add_store(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Adds `--store-url`."""
    parser.add_argument(
        "--store-url",
        metavar="URL",
        default=default,
        help="the store: a file, or postgresql://... (default $EVALGATE_STORE_URL, else `store` of"
        " evalgate.yaml, else .evalgate/evalgate.db)",
    )


def add_page(parser: argparse.ArgumentParser) -> None:
    """Adds the flags for paging a list and for printing it as JSON."""
    help_text = f"print at most N, from 1 to {MAX_LISTED:,} (default {DEFAULT_LISTED})"
    parser.add_argument("--limit", dest="most", type=int, metavar="N", default=DEFAULT_LISTED, help=help_text)
    parser.add_argument("--offset", type=int, metavar="N", default=0, help="skip the first N")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")


def parse_page(arguments: argparse.Namespace) -> Page:
    """Parses the requested page; raises SettingError."""
    from evalgate.errors import SettingError
    from evalgate.ports.store import Page

    if not 1 <= arguments.most <= MAX_LISTED:
        raise SettingError(f"--limit takes a number from 1 to {MAX_LISTED:,}, not {arguments.most:,}")
    if not 0 <= arguments.offset < 2**31:
        raise SettingError(f"--offset must be at least 0, not {arguments.offset:,}")
    return Page(arguments.most, arguments.offset)


def note_more_results(shell: Shell, shown: int, page: Page, noun: str) -> None:
    """Notes that a list may go on, or that it is empty."""
    if not shown:
        shell.note(f"no {noun}" if not page.offset else f"no more {noun}")
    elif shown == page.limit:
        shell.note(f"there may be more {noun}: --offset {page.offset + page.limit}")


def add_period(parser: argparse.ArgumentParser) -> None:
    """Adds the flags for a period."""
    add = parser.add_argument
    add("--since", metavar="TIME", help="from this day or time, such as 2026-01-31 or 2026-01-31T09:00:00Z")
    add("--until", metavar="TIME", help="before this time, or up to the end of this day")


def parse_period(arguments: argparse.Namespace) -> tuple[datetime | None, datetime | None]:
    """Parses the period: its start, and its end (exclusive); raises SettingError."""
    from datetime import timedelta

    from evalgate.errors import SettingError

    since, until = _parse_time(arguments.since, "--since"), _parse_time(arguments.until, "--until")
    if until is not None and len(arguments.until) <= len("2026-01-31"):
        until = min(until, until.max.replace(tzinfo=until.tzinfo) - timedelta(days=1)) + timedelta(days=1)
    if since is not None and until is not None and since >= until:
        raise SettingError(f"--since {arguments.since} is not before --until {arguments.until}")
    return since, until


def _parse_time(text: str | None, flag: str) -> datetime | None:
    """Parses a day or a time, UTC if it has no zone."""
    from datetime import UTC, datetime

    from evalgate.errors import Problem, SettingError

    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        hint = "write 2026-01-31 or 2026-01-31T09:00:00Z"
        raise SettingError(Problem(f"{flag} {text!r} is not a date or time", None, hint)) from None


def print_json(shell: Shell, document: Any) -> None:
    """Prints a JSON document to stdout with invisible characters escaped."""
    import orjson

    from evalgate.cli.shell import escape_invisible

    shell.print_line(escape_invisible(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()))


def open_store(arguments: argparse.Namespace, shell: Shell, *, create: bool = False) -> Store:
    """Opens the store of the flag, the environment or the project, else the default; must exist unless `create`."""
    from evalgate.bootstrap.store import choose_store

    return choose_store(arguments.store_url, shell.environ, shell.cwd, create=create)
