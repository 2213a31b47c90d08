"""What the verbs of the store share: opening it, and a page or a period of what it lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.cli.command import JSON_TABLE, option
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace
    from datetime import datetime

    from evalgate.cli.shell import Shell
    from evalgate.features.store.ports import Page, Store

MAX_LISTED = 10_000
DEFAULT_LISTED = 50
PAGE = (
    option(
        "--limit",
        dest="most",
        type=int,
        metavar="N",
        default=DEFAULT_LISTED,
        help=f"print at most N, from 1 to {MAX_LISTED:,} (default {DEFAULT_LISTED})",
    ),
    option("--offset", type=int, metavar="N", default=0, help="skip the first N"),
    JSON_TABLE,
)
PERIOD = (
    option("--since", metavar="TIME", help="from this day or time, such as 2026-01-31 or 2026-01-31T09:00:00Z"),
    option("--until", metavar="TIME", help="before this time, or up to the end of this day"),
)


def open_store(arguments: Namespace, shell: Shell, *, create: bool = False) -> Store:
    """Opens the store of the flag, the environment or the project, else the default; must exist unless `create`."""
    from evalgate.features.store.bootstrap.store import choose_store

    return choose_store(arguments.store_url, shell.environ, shell.cwd, create=create)


def parse_page(arguments: Namespace) -> Page:
    """Parses the requested page; raises SettingError."""
    from evalgate.features.store.ports import Page

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


def parse_period(arguments: Namespace) -> tuple[datetime | None, datetime | None]:
    """Parses the period: its start, and its end (exclusive); raises SettingError."""
    from datetime import timedelta

    since, until = _parse_time(arguments.since, "--since"), _parse_time(arguments.until, "--until")
    if until is not None and len(arguments.until) <= len("2026-01-31"):
        until = min(until, until.max.replace(tzinfo=until.tzinfo) - timedelta(days=1)) + timedelta(days=1)
    if since is not None and until is not None and since >= until:
        raise SettingError(f"--since {arguments.since} is not before --until {arguments.until}")
    return since, until


def _parse_time(text: str | None, flag: str) -> datetime | None:
    """Parses a day or a time, UTC if it has no zone."""
    from datetime import UTC, datetime

    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        hint = "write 2026-01-31 or 2026-01-31T09:00:00Z"
        raise SettingError(Problem(f"{flag} {text!r} is not a date or time", None, hint)) from None
