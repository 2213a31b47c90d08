"""The verbs `traces` and `show`, with which a person looks at traces: a table of many, and one as a conversation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalgate.cli.command import FORMAT, JSON_TABLE, Command, choose_format, option
from evalgate.cli.shell import format_location
from evalgate.cli.trace_place import TRACE_HELP, find_place
from evalgate.cli.traces import build_pricer, read_traces
from evalgate.errors import SettingError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from evalgate.cli.shell import Shell
    from evalgate.cli.trace_place import TracePlace
    from evalgate.models.trace.trace import Trace
    from evalgate.reporting.terminal.trace_table import TraceRow

SCHEMA = "evalgate.traces/1"
MAX_ROWS, MAX_REASONS = 10_000, 20
UNLIMITED = 10_000
"""Width of a table in a pipe, where no column is cut."""


def list_traces(arguments: Namespace, shell: Shell) -> int:
    """Prints a row per trace, then names what could not be read; returns 0 if the patterns name any file."""
    from evalgate.reporting.terminal.trace_table import UNREADABLE, render_trace_table
    from evalgate.reporting.text.wording import pluralize

    rows = list(_build_rows(arguments, shell))
    if not rows:
        raise SettingError(f"no trace file at {', '.join(map(repr, arguments.traces))}")
    readable = {os.path.dirname(row["path"]) for row in rows if row["status"] != UNREADABLE}  # noqa: PTH120
    shown = [row for row in rows if os.path.dirname(row["path"]) in readable]  # noqa: PTH120
    others = _group_by_folder([row for row in rows if os.path.dirname(row["path"]) not in readable])  # noqa: PTH120
    if arguments.json:
        from evalgate.measures.redaction.redact import redact_value

        folders = [{"folder": folder, "files": files} for folder, files, _ in others]
        shell.print_json(redact_value({"schema": SCHEMA, "traces": shown, "folders_without_traces": folders}))
        return 0
    if shown:
        shell.print_line(render_trace_table(shown[:MAX_ROWS], shell.width if shell.is_terminal else UNLIMITED))
    if len(shown) > MAX_ROWS:
        shell.note(f"note: {len(shown) - MAX_ROWS:,} more traces (--json prints all)")
    _print_reasons([row for row in shown if row["status"] == UNREADABLE], shell)
    for folder, files, reason in others:
        shell.note(f"note: no trace in {folder} ({pluralize(files, 'file')}): {reason}")
    return 0


def _build_rows(arguments: Namespace, shell: Shell) -> Iterator[TraceRow]:
    from evalgate.models.trace.trace import DamagedTrace
    from evalgate.reporting.terminal.trace_table import build_damaged_row, build_trace_row

    trace_format, suite = choose_format(arguments, shell)
    pricer = build_pricer(suite)
    for record in read_traces(arguments, arguments.traces, trace_format, shell):
        if isinstance(record, DamagedTrace):
            yield build_damaged_row(record)
        else:
            pricer.price(record)
            yield build_trace_row(record)


def _group_by_folder(rows: Sequence[TraceRow]) -> list[tuple[str, int, str]]:
    """Folders in which nothing could be read: number of files, and the first reason."""
    folders: dict[str, dict[str, str]] = {}
    for row in rows:
        folder = os.path.dirname(row["path"]) or "."  # noqa: PTH120
        folders.setdefault(folder, {}).setdefault(row["path"], row.get("reason", ""))
    return [(folder, len(files), next(iter(files.values()))) for folder, files in folders.items()]


def _print_reasons(rows: Sequence[TraceRow], shell: Shell) -> None:
    from evalgate.models.trace.trace import format_place

    for row in rows[:MAX_REASONS]:
        place = format_place(row["path"], row["line"], row["record"])
        shell.note(f"note: {place}: {row.get('reason', '')}")
    if len(rows) > MAX_REASONS:
        shell.note(f"note: and {len(rows) - MAX_REASONS:,} more that can't be read")


def show_trace(arguments: Namespace, shell: Shell) -> int:
    """Prints one trace: the only one of a file, the n-th with `#n`, or that of a line with `:line`."""
    from evalgate.reporting.terminal.conversation import render_conversation

    wanted = find_place(arguments.trace, arguments, shell)
    trace, has_more = _find_trace(arguments, wanted, shell)
    path = wanted.path
    if has_more and wanted.is_file:
        shell.note(f"note: {path} holds several traces, this is #1; `evalgate show '{path}#2'` prints the next")
    shell.print_line(render_conversation(trace, width=shell.width, colour=shell.has_colour, full=arguments.full))
    return 0


def _find_trace(arguments: Namespace, wanted: TracePlace, shell: Shell) -> tuple[Trace, bool]:
    """The trace at this place, and whether another follows."""
    from evalgate.models.trace.trace import DamagedTrace

    trace_format, suite = choose_format(arguments, shell)
    found: Trace | None = None
    count = 0
    for count, record in enumerate(read_traces(arguments, [wanted.path], trace_format, shell), 1):
        if found is not None:
            return found, True
        if not wanted.matches(record.source, count):
            continue
        if isinstance(record, DamagedTrace):
            raise SettingError(f"{format_location(record.source)}: {record.reason}")
        build_pricer(suite).price(record)
        found = record
    if found is None:
        raise SettingError(wanted.describe_absence(count))
    return found, False


COMMANDS = {
    "traces": Command(
        list_traces,
        [
            option("traces", nargs="+", metavar="TRACE", help="trace files, folders or globs, of any format"),
            *FORMAT,
            JSON_TABLE,
        ],
        """examples:
  evalgate traces traces/
  evalgate traces 'logs/**/*.jsonl' --json
""",
    ),
    "show": Command(
        show_trace,
        [
            option("trace", metavar="TRACE", help=TRACE_HELP),
            *FORMAT,
            option("--full", action="store_true", help="print long texts, arguments and results whole"),
        ],
        """examples:
  evalgate show traces/refund.json
  evalgate show traces.jsonl:3 --full
  evalgate show 'airline.json#102'
  evalgate show refund-in-window           the first of its trials in the last run that did not pass
""",
    ),
}
