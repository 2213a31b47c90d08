"""`evalgate query`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from evalgate.cli.shell import Shell
    from evalgate.measures.queries import Query
    from evalgate.models.trace import Trace

EXAMPLES = """examples:
  evalgate query traces/refund.json                          what expressions can see
  evalgate query 'tool_calls[].name' traces/refund.json
  evalgate query metadata.cost_usd 'traces/*.jsonl'          one line a trace
"""


# What JSON leaves raw but a terminal may obey or hide: controls, marks of direction, blanks of no width.
_INVISIBLE = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.usage = "evalgate query [-h] [--format NAME] [--number N] [EXPR] TRACE"
    parser.epilog = EXAMPLES
    parser.add_argument(
        "words", nargs="+", metavar="[EXPR] TRACE", help="an expression, and a trace file or glob"
    )
    parser.add_argument(
        "--format", metavar="NAME", default="auto", help="trace format, if detection should not decide"
    )
    parser.add_argument("--number", type=int, metavar="N", help="only the N-th trace, counting from 1")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Prints what is found as JSON: indented for one trace, a line each for several."""
    from evalgate import bootstrap
    from evalgate.errors import SettingError
    from evalgate.models.trace import DamagedTrace, Trace

    *expressions, pattern = arguments.words
    if len(expressions) > 1:
        raise SettingError("query takes one expression and one trace; quote the expression")
    query = _compiled(expressions[0]) if expressions else None
    records = bootstrap.trace_files(shell.cwd).read([pattern], ".", arguments.format)
    number, damaged, found = 0, 0, list[Trace]()
    for number, record in enumerate(records, 1):
        if arguments.number not in (None, number):
            continue
        if isinstance(record, DamagedTrace):
            damaged += 1
            shell.note(f"error: {_place(record)}: {record.reason}")
        else:
            found.append(record)
    if not found and not damaged:
        few = f"no trace number {arguments.number} at {pattern!r}, it ends with number {number}"
        raise SettingError(few if number else f"no trace file at {pattern!r}")
    _print(found, query, shell)
    return 2 if damaged else 0


def _compiled(expression: str) -> Query:
    from evalgate.errors import SettingError
    from evalgate.measures.queries import Query, QueryError

    try:
        return Query(expression)
    except QueryError as error:
        place = f" (character {error.position})" if error.position else ""
        raise SettingError(f"bad expression: {error}{place}") from None


def _print(traces: list[Trace], query: Query | None, shell: Shell) -> None:
    import orjson

    from evalgate.measures.redaction import redact_value

    option = orjson.OPT_INDENT_2 if len(traces) == 1 else 0
    for trace, value in _values(traces, query, shell):
        for warning in trace.warnings:
            shell.note(f"warning: {warning['code']}: {warning['message']}")
        shell.say(_INVISIBLE.sub(_escaped, orjson.dumps(redact_value(value), option=option).decode()))


def _values(traces: list[Trace], query: Query | None, shell: Shell) -> Iterator[tuple[Trace, Any]]:
    from evalgate.measures.queries import QueryFailedError
    from evalgate.models.trace_view import view_of

    for trace in traces:
        if query is None:
            yield trace, view_of(trace).whole()
            continue
        try:
            value = query.search(view_of(trace))
        except QueryFailedError as error:
            shell.note(f"error: {trace.source.path}: {error}")
            continue
        if value is None:
            shell.note(f"note: {trace.source.path}: the path found nothing")
        yield trace, value


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _place(record: Any) -> str:
    source = record.source
    return source.path if source.line is None else f"{source.path}:{source.line}"
