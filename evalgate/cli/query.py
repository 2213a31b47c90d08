"""The verbs `query` and `convert`, which read traces without judging them."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from evalgate.cli.command import FORMAT, OUTPUT, Command, choose_format, option
from evalgate.cli.shell import escape_invisible, format_location, is_stdout
from evalgate.cli.trace_place import TRACE_HELP, describe_missing, find_place, looks_like_file
from evalgate.cli.traces import build_pricer, read_traces
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from evalgate.cli.shell import Shell
    from evalgate.measures.jmespath.query import Query
    from evalgate.models.trace.trace import Trace


class _LineWriter:
    """Writes lines to stdout, made safe for a terminal."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def write(self, line: bytes) -> None:
        self._shell.print_line(escape_invisible(line.decode().rstrip("\n")))


def convert(arguments: Namespace, shell: Shell) -> int:
    """Writes one line per trace and reports traces that can't be read; returns 2 if there are any."""
    from evalgate.adapters.file_writer import open_named
    from evalgate.adapters.formats.writers import convert_traces, get_writer

    if arguments.full and arguments.to != "native":
        raise SettingError("--full applies to native traces only")
    trace_format, _ = choose_format(arguments, shell)
    records = read_traces(arguments, arguments.traces, trace_format, shell)
    writer, to_stdout = get_writer(arguments.to, full=arguments.full), is_stdout(arguments.output)
    written, damaged = 0, 0
    with nullcontext(_LineWriter(shell)) if to_stdout else open_named(arguments.output, shell.cwd) as out:
        for line in convert_traces(records, writer, redact=not arguments.no_redact):
            if isinstance(line, bytes):
                out.write(line)
                written += 1
            else:
                damaged += 1
                shell.note(f"error: {format_location(line.source)}: {line.reason}")
        if not written and not damaged:
            raise SettingError(describe_missing(arguments.traces, shell.cwd))
    if not to_stdout:
        shell.note(f"{written:,} traces written to {arguments.output}")
    return 2 if damaged else 0


def query(arguments: Namespace, shell: Shell) -> int:
    """Prints the values of a JMESPath expression as JSON: indented for one trace, one line per trace for several."""
    from evalgate.models.trace.trace import DamagedTrace, Trace

    *expressions, pattern = arguments.words
    if len(expressions) > 1:
        raise SettingError("query takes one expression and one trace file or glob: put each in quotes")
    hint = _find_order_hint(arguments.words)
    expression = _compile_query(expressions[0], hint) if expressions else None
    place = find_place(pattern, arguments, shell)
    trace_format, suite = choose_format(arguments, shell)
    pricer, count, damaged, found = build_pricer(suite), 0, 0, list[Trace]()
    for count, record in enumerate(read_traces(arguments, [place.path], trace_format, shell), 1):
        if arguments.number not in (None, count) or not (place.is_file or place.matches(record.source, count)):
            continue
        if isinstance(record, DamagedTrace):
            damaged += 1
            shell.note(f"error: {format_location(record.source)}: {record.reason}")
        else:
            pricer.price(record)
            found.append(record)
    if not found and not damaged:
        wanted = place._replace(number=arguments.number or place.number)
        raise SettingError(Problem(wanted.describe_absence(count), hint=hint))
    _print_values(found, expression, shell)
    return 2 if damaged else 0


def _find_order_hint(words: list[str]) -> str | None:
    """A hint if the trace seems to come before the expression."""
    is_file = list(map(looks_like_file, words))
    return "the expression comes first, then the trace" if is_file == [True, False] else None


def _compile_query(expression: str, hint: str | None) -> Query:
    from evalgate.evaluators.core.queries import JSON_FIELDS
    from evalgate.measures.jmespath.query import Query, QueryError

    try:
        return Query(expression, JSON_FIELDS)
    except QueryError as error:
        place = f" (character {error.position})" if error.position else ""
        raise SettingError(Problem(f"invalid expression: {error}{place}", hint=hint)) from None


def _print_values(traces: list[Trace], expression: Query | None, shell: Shell) -> None:
    from evalgate.measures.redaction.redact import redact_value

    for trace, value in _iter_values(traces, expression, shell):
        for warning in trace.warnings:
            shell.note(f"warning: {warning['code']}: {warning['message']}")
        shell.print_json(redact_value(value), indent=len(traces) == 1)


def _describe_nothing(query: Query) -> str:
    """What to print where an expression found nothing: names the field that a misspelt one at its start may mean."""
    from evalgate.evaluators.core.field_problems import suggest
    from evalgate.evaluators.core.queries import FOUND_NOTHING
    from evalgate.measures.jmespath.parse_tree import root_fields
    from evalgate.models.trace.trace_view import SECTIONS

    hints = (suggest(name, SECTIONS) for name in sorted(root_fields(query.tree) - SECTIONS.keys()))
    return f"the {'; '.join([FOUND_NOTHING, *filter(None, hints)][:2])}"


def _iter_values(traces: list[Trace], expression: Query | None, shell: Shell) -> Iterator[tuple[Trace, Any]]:
    from evalgate.measures.jmespath.query import QueryFailedError
    from evalgate.models.trace.trace_view import get_view

    nothing = "" if expression is None else _describe_nothing(expression)
    for trace in traces:
        if expression is None:
            yield trace, get_view(trace).whole()
            continue
        try:
            value, *others = [each.search(get_view(trace)) for each in expression.list_readings()]
        except QueryFailedError as error:
            shell.note(f"error: {trace.source.path}: {error}")
            continue
        if others and others != [value]:
            shell.note(f"note: {trace.source.path}: a comparison of text with a number decides what it finds")
        if value is None:
            shell.note(f"note: {trace.source.path}: {nothing}")
        yield trace, value


COMMANDS = {
    "query": Command(
        query,
        [
            option("words", nargs="+", metavar="[EXPR] TRACE", help=f"an expression, and {TRACE_HELP}; or a glob"),
            *FORMAT,
            option("--number", type=int, metavar="N", help="only the N-th trace, counting from 1"),
        ],
        """examples:
  evalgate query traces/refund.json                          the fields that expressions can use
  evalgate query 'tool_calls[].name' traces/refund.json
  evalgate query 'tool_calls[0]' traces.jsonl:3              the trace of line 3, as `evalgate show` takes it
  evalgate query response.content refund-in-window           of a trial of the last run
  evalgate query metadata.cost_usd 'traces/*.jsonl'          one line per trace
  evalgate query --config evals/logs.yaml logs/1.json        read by `custom` of the suite
""",
        usage="evalgate query [-h] [--format NAME] [--config SUITE] [--plugin MODULE] [--number N] "
        "[--limit NAME=VALUE] [EXPR] TRACE",
    ),
    "convert": Command(
        convert,
        [
            option("traces", nargs="+", metavar="TRACE", help="trace files or globs, of any format"),
            *FORMAT,
            option("--to", choices=("native", "otlp"), default="native", help="format to write (default native)"),
            OUTPUT,
            option(
                "--full",
                action="store_true",
                help="write full native traces: calls joined with their results, no short form",
            ),
            option("--no-redact", action="store_true", help="don't redact what looks like a secret"),
        ],
        """examples:
  evalgate convert logs/run.json                               native traces, one per line
  evalgate convert 'logs/**/*.json' --output traces.jsonl
  evalgate convert --to otlp traces.jsonl -o spans.jsonl       for tools that read OpenTelemetry
""",
    ),
}
