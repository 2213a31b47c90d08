"""The verbs `traces` and `show`, with which a person looks at traces: a table of many, and one as a conversation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from evalgate.cli.command import FORMAT, JSON_TABLE, Command, choose_format, option
from evalgate.cli.shell import format_location
from evalgate.cli.traces import build_pricer, read_traces
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from evalgate.cli.shell import Shell
    from evalgate.models.trace.trace import Trace, TraceLocation
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

    wanted = _parse_place(arguments.trace, shell.cwd)
    trace, has_more = _find_trace(arguments, wanted, shell)
    path = wanted.path
    if has_more and wanted.number is None and wanted.line is None:
        shell.note(f"note: {path} holds several traces, this is #1; `evalgate show '{path}#2'` prints the next")
    shell.print_line(render_conversation(trace, width=shell.width, colour=shell.has_colour, full=arguments.full))
    return 0


class _Place(NamedTuple):
    """A file, and the line or number of the trace in it."""

    path: str
    line: int | None = None
    number: int | None = None

    def matches(self, source: TraceLocation, count: int) -> bool:
        """Whether this is the place of a trace that is the `count`-th to be read, from 1."""
        if self.line is not None and self.line != source.line:
            return False
        number = self.number or 1
        if self.line is not None:
            return number == (source.record or 0) + 1
        return number == (count if source.line is not None or source.record is None else source.record + 1)


def _parse_place(text: str, cwd: str) -> _Place:
    """Divides FILE:LINE and FILE#NUMBER; a file whose name looks so is found by its whole name."""
    if os.path.lexists(os.path.join(cwd, text)):  # noqa: PTH118
        return _Place(text)
    path, mark, digits = text.rpartition("#")
    if not mark:
        return _parse_line(text)
    number = _parse_number(digits)
    if number is None:
        raise SettingError(
            Problem(f"{digits[:40]!r} is not the number of a trace", None, "write TRACE#1 for the first")
        )
    place = _Place(path) if os.path.lexists(os.path.join(cwd, path)) else _parse_line(path)  # noqa: PTH118
    return place._replace(number=number)


def _parse_line(text: str) -> _Place:
    path, _, digits = text.rpartition(":")
    line = _parse_number(digits) if path else None
    return _Place(text) if line is None else _Place(path, line)


def _parse_number(digits: str) -> int | None:
    return int(digits[:9]) if digits.isascii() and digits.isdigit() and int(digits[:9]) > 0 else None


def _find_trace(arguments: Namespace, wanted: _Place, shell: Shell) -> tuple[Trace, bool]:
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
    if found is not None:
        return found, False
    if not count:
        raise SettingError(f"no trace file at {wanted.path!r}")
    number = "" if wanted.number is None else f" number {wanted.number:,}"
    if wanted.line is not None:
        raise SettingError(f"no trace{number} at line {wanted.line:,} of {wanted.path!r}")
    raise SettingError(f"no trace{number} at {wanted.path!r}, the last one is number {count:,}")


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
            option(
                "trace",
                metavar="TRACE",
                help="a trace file of any format; TRACE#2 is its second trace, TRACE:2 that of line 2",
            ),
            *FORMAT,
            option("--full", action="store_true", help="print long texts, arguments and results whole"),
        ],
        """examples:
  evalgate show traces/refund.json
  evalgate show traces.jsonl:3 --full
  evalgate show 'airline.json#102'
""",
    ),
}
