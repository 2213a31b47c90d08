"""The verb `query`: evaluates a JMESPath expression on traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from evalgate.application.evaluation.pricing import Pricer
    from evalgate.cli.shell import Shell
    from evalgate.cli.traces.format_flags import FormatChoice
    from evalgate.measures.jmespath.query import Query
    from evalgate.models.trace.trace import Trace

TRACE_ENDINGS = (".json", ".jsonl", ".ndjson", ".gz")
EXAMPLES = """examples:
  evalgate query traces/refund.json                          the fields that expressions can use
  evalgate query 'tool_calls[].name' traces/refund.json
  evalgate query metadata.cost_usd 'traces/*.jsonl'          one line per trace
  evalgate query --config evals/logs.yaml logs/1.json        read by `custom` of the suite
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.traces.format_flags import add_format

    parser.usage = (
        "evalgate query [-h] [--format NAME] [--config SUITE] [--plugin MODULE] [--number N] "
        "[--limit NAME=VALUE] [EXPR] TRACE"
    )
    parser.epilog = EXAMPLES
    parser.add_argument("words", nargs="+", metavar="[EXPR] TRACE", help="an expression, and a trace file or glob")
    add_format(parser)
    parser.add_argument("--number", type=int, metavar="N", help="only the N-th trace, counting from 1")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Prints the values as JSON: indented for one trace, one line per trace for several."""
    from evalgate.bootstrap import sources
    from evalgate.cli.shell import format_location
    from evalgate.cli.traces.format_flags import choose_format
    from evalgate.errors import Problem, SettingError
    from evalgate.models.trace.trace import DamagedTrace, Trace
    from evalgate.settings.limits import parse_limits

    *expressions, pattern = arguments.words
    if len(expressions) > 1:
        raise SettingError("query takes one expression and one trace file or glob: put each in quotes")
    hint = _find_order_hint(arguments.words)
    query = _compile_query(expressions[0], hint) if expressions else None
    choice = choose_format(arguments, shell)
    records = sources.build_trace_files(shell.cwd, None, parse_limits(arguments.limit)).read(
        [pattern], ".", choice.trace_format
    )
    pricer, number, damaged, found = _build_pricer(choice), 0, 0, list[Trace]()
    for number, record in enumerate(records, 1):
        if arguments.number not in (None, number):
            continue
        if isinstance(record, DamagedTrace):
            damaged += 1
            shell.note(f"error: {format_location(record.source)}: {record.reason}")
        else:
            pricer.price(record)
            found.append(record)
    if not found and not damaged:
        message = f"no trace number {arguments.number} at {pattern!r}, the last one is number {number}"
        raise SettingError(Problem(message if number else f"no trace file at {pattern!r}", hint=hint))
    _print_values(found, query, shell)
    return 2 if damaged else 0


def _build_pricer(choice: FormatChoice) -> Pricer:
    """A pricer that uses the suite's prices, if there is a suite, as a run does."""
    from evalgate.application.evaluation.pricing import Pricer
    from evalgate.bootstrap import shell_verbs, sources

    if choice.suite is None:
        return shell_verbs.build_pricer()
    return Pricer(choice.suite.prices, sources.find_price_list())


def _find_order_hint(words: list[str]) -> str | None:
    """A hint if the trace seems to come before the expression."""
    is_file = [word.endswith(TRACE_ENDINGS) for word in words]
    return "the expression comes first, then the trace" if is_file == [True, False] else None


def _compile_query(expression: str, hint: str | None) -> Query:
    from evalgate.errors import Problem, SettingError
    from evalgate.measures.jmespath.query import Query, QueryError

    try:
        return Query(expression)
    except QueryError as error:
        place = f" (character {error.position})" if error.position else ""
        raise SettingError(Problem(f"invalid expression: {error}{place}", hint=hint)) from None


def _print_values(traces: list[Trace], query: Query | None, shell: Shell) -> None:
    import orjson

    from evalgate.cli.shell import escape_invisible
    from evalgate.measures.redaction.redact import redact_value

    option = orjson.OPT_INDENT_2 if len(traces) == 1 else 0
    for trace, value in _iter_values(traces, query, shell):
        for warning in trace.warnings:
            shell.note(f"warning: {warning['code']}: {warning['message']}")
        shell.print_line(escape_invisible(orjson.dumps(redact_value(value), option=option).decode()))


def _iter_values(traces: list[Trace], query: Query | None, shell: Shell) -> Iterator[tuple[Trace, Any]]:
    from evalgate.measures.jmespath.query import QueryFailedError
    from evalgate.models.trace.trace_view import get_view

    for trace in traces:
        if query is None:
            yield trace, get_view(trace).whole()
            continue
        try:
            value = query.search(get_view(trace))
        except QueryFailedError as error:
            shell.note(f"error: {trace.source.path}: {error}")
            continue
        if value is None:
            shell.note(f"note: {trace.source.path}: the expression found nothing")
        yield trace, value
