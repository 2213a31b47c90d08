"""The verbs `traces` and `show`, with which a person looks at traces: a table of many, and one as a conversation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from evalgate.cli.command import FORMAT, JSON_TABLE, Command, choose_format, option
from evalgate.cli.shell import format_location
from evalgate.cli.trace_place import TRACE_HELP, choose_default, describe_missing, find_place
from evalgate.errors import Problem, SettingError
from evalgate.settings.limits import parse_limits

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.application.evaluation.pricing import Pricer
    from evalgate.cli.shell import Shell
    from evalgate.cli.trace_place import TracePlace
    from evalgate.models.trace.trace import Trace, TraceRecord
    from evalgate.reporting.terminal.trace_table import TraceRow
    from evalgate.suite.models import Form, Suite

SCHEMA = "evalgate.traces/1"
MAX_ROWS, MAX_REASONS, MAX_FOLDER_REASONS = 10_000, 40, 3
UNLIMITED = 10_000
"""Width of a table in a pipe, where no column is cut."""


def read_traces(arguments: Namespace, patterns: list[str], trace_format: Form, shell: Shell) -> Iterable[TraceRecord]:
    """Reads the traces that the patterns name, with the command's limits."""
    from evalgate.bootstrap.sources import build_trace_files

    return build_trace_files(shell.cwd, None, parse_limits(arguments.limit)).read(patterns, ".", trace_format)


def build_pricer(suite: Suite | None) -> Pricer:
    """A pricer with the prices of the suite, if there is one, as in a run."""
    from evalgate.adapters.price_list import find_price_list
    from evalgate.application.evaluation.pricing import Pricer
    from evalgate.suite.models import SuitePrices

    return Pricer(SuitePrices() if suite is None else suite.prices, find_price_list())


def list_traces(arguments: Namespace, shell: Shell) -> int:
    """Prints a row per trace, then names what could not be read.

    Returns 2 if a file that is given by name holds no trace, else 0 if the patterns name any file.
    """
    from evalgate.reporting.terminal.trace_table import UNREADABLE, render_fitted_table, render_trace_table

    arguments.traces = arguments.traces or choose_default(arguments, shell)
    rows = list(_build_rows(arguments, shell))
    if not rows:
        raise SettingError(describe_missing(arguments.traces, shell.cwd))
    readable = {os.path.dirname(row["path"]) for row in rows if row["status"] != UNREADABLE}  # noqa: PTH120
    shown = [row for row in rows if os.path.dirname(row["path"]) in readable]  # noqa: PTH120
    others = [row for row in rows if os.path.dirname(row["path"]) not in readable]  # noqa: PTH120
    places = _find_typed(rows, arguments.traces, shell)
    code = 2 if places.keys() - {row["path"] for row in rows if row["status"] != UNREADABLE} else 0
    if arguments.json:
        from evalgate.measures.redaction.redact import redact_value

        folders = [{"folder": folder, "files": files} for folder, files in _count_files(others).items()]
        facts = {"traces": shown, "refused": _list_refused(rows), "folders_without_traces": folders}
        shell.print_json(redact_value({"schema": SCHEMA, **facts}))
        return code
    if shown:
        table = shown[:MAX_ROWS]
        is_tty = shell.is_terminal
        shell.print_line(render_fitted_table(table, shell.width) if is_tty else render_trace_table(table, UNLIMITED))
    if len(shown) > MAX_ROWS:
        shell.note(f"note: {len(shown) - MAX_ROWS:,} more traces (--json prints all)")
    unread = [row for row in shown if row["status"] == UNREADABLE]
    notes = [*_describe_unread(unread), *_describe_without_traces(others, places)]
    for note in notes[:MAX_REASONS]:
        shell.note(f"note: {note}")
    if len(notes) > MAX_REASONS:
        shell.note(f"note: and {len(notes) - MAX_REASONS:,} more of these notes (--json has every reason)")
    return code


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
            yield build_trace_row(record, with_sources=arguments.sources)


def _find_typed(rows: Sequence[TraceRow], given: Sequence[str], shell: Shell) -> dict[str, str]:
    """The rows' paths of files that are given by name, each with the path as it was given."""
    typed = {real: each for each in given if os.path.isfile(real := _resolve(each, shell))}  # noqa: PTH113
    if not typed:
        return {}
    return {row["path"]: typed[real] for row in rows if (real := _resolve(row["path"], shell)) in typed}


def _resolve(path: str, shell: Shell) -> str:
    """The file itself, however its path is spelled."""
    return os.path.realpath(os.path.join(shell.cwd, path))  # noqa: PTH118


def _list_refused(rows: Sequence[TraceRow]) -> list[dict[str, Any]]:
    """Where something can't be read, why, and the formats that it nearly has."""
    from evalgate.models.trace.trace import format_place

    return [
        {
            "path": format_place(row["path"], row["line"], row["record"]),
            "reason": row["reason"],
            "nearest": row["nearest"],
        }
        for row in rows
        if "reason" in row
    ]


def _get_folder(row: TraceRow) -> str:
    return os.path.dirname(row["path"]) or "."  # noqa: PTH120


def _count_files(rows: Sequence[TraceRow]) -> dict[str, int]:
    """The number of files in each folder."""
    files: dict[str, set[str]] = {}
    for row in rows:
        files.setdefault(_get_folder(row), set()).add(row["path"])
    return {folder: len(paths) for folder, paths in files.items()}


def _describe_without_traces(rows: Sequence[TraceRow], typed: Mapping[str, str]) -> Iterator[str]:
    """Names what holds no trace: files as they were typed (by path), else folders with an example for each reason."""
    from evalgate.models.trace.trace import format_place
    from evalgate.reporting.text.wording import pluralize

    groups: dict[str, dict[str, dict[str, None]]] = {}
    for row in rows:
        name, reason = typed.get(row["path"]), row.get("reason", "")
        if name is None:
            groups.setdefault(_get_folder(row), {}).setdefault(reason, {})[row["path"]] = None
        else:
            yield f"{format_place(name, row['line'], row['record'])}: {reason}"
    for folder, reasons in groups.items():
        for reason, paths in list(reasons.items())[:MAX_FOLDER_REASONS]:
            example = f"{'' if len(paths) == 1 else 'e.g. '}{os.path.basename(next(iter(paths)))}"  # noqa: PTH119
            yield f"no trace in {folder} ({pluralize(len(paths), 'file')}, {example}): {reason}"
        left = {path for paths in list(reasons.values())[MAX_FOLDER_REASONS:] for path in paths}
        if left:
            yield f"no trace in {folder} ({pluralize(len(left), 'more file')}, for other reasons)"


def _describe_unread(rows: Sequence[TraceRow]) -> Iterator[str]:
    """Names what can't be read beside traces, once for each folder and reason."""
    from evalgate.models.trace.trace import format_place
    from evalgate.reporting.text.wording import pluralize

    groups: dict[tuple[str, str], list[TraceRow]] = {}
    for row in rows:
        groups.setdefault((_get_folder(row), row.get("reason", "")), []).append(row)
    for (folder, reason), found in groups.items():
        first = format_place(found[0]["path"], found[0]["line"], found[0]["record"])
        files = len({row["path"] for row in found})
        if len(found) == 1:
            yield f"{first}: {reason}"
        elif files == 1:
            yield f"{first} and {pluralize(len(found) - 1, 'more record')} of this file: {reason}"
        else:
            yield f"{folder}: {pluralize(files, 'file')}, e.g. {os.path.basename(first)}: {reason}"  # noqa: PTH119


def show_trace(arguments: Namespace, shell: Shell) -> int:
    """Prints one trace: the only one of a file, the n-th with `#n`, or that of a line with `:line`."""
    from evalgate.reporting.terminal.conversation import render_conversation

    if arguments.trace is None:
        hint = "`evalgate traces` lists both"
        raise SettingError(Problem("show takes a trace file or the id of a scenario of the last run", None, hint))
    wanted = find_place(arguments.trace, arguments, shell)
    trace, has_more = _find_trace(arguments, wanted, shell)
    path = wanted.path
    if has_more and wanted.is_file:
        shell.note(f"note: {path} holds several traces, this is #1; `evalgate show '{path}#2'` prints the next")
    conversation = render_conversation(
        trace, width=shell.width, colour=shell.has_colour, full=arguments.full, sources=arguments.sources
    )
    shell.print_line(conversation)
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
            option(
                "traces",
                nargs="*",
                metavar="TRACE",
                help="trace files, folders or globs, of any format (default: those of the suites, else traces/)",
            ),
            *FORMAT,
            JSON_TABLE,
            option("--sources", action="store_true", help="count arguments that come from nowhere; takes longer"),
        ],
        """examples:
  evalgate traces
  evalgate traces recordings/
  evalgate traces 'logs/**/*.jsonl' --json
""",
    ),
    "show": Command(
        show_trace,
        [
            option("trace", nargs="?", metavar="TRACE", help=TRACE_HELP),
            *FORMAT,
            option("--full", action="store_true", help="print long texts, arguments and results whole"),
            option("--sources", action="store_true", help="print where each argument came from"),
        ],
        """examples:
  evalgate show traces/refund.json
  evalgate show traces.jsonl:3 --full
  evalgate show 'airline.json#102'
  evalgate show refund-in-window           the first of its trials in the last run that did not pass
""",
    ),
}
