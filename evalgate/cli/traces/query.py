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
  evalgate query traces/refund.json                          what expressions can see
  evalgate query 'tool_calls[].name' traces/refund.json
  evalgate query metadata.cost_usd 'traces/*.jsonl'          one line a trace
  evalgate query --config evals/ours.yaml logs/1.json        read as `custom` of the suite says
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.traces.format_flags import add_format

    parser.usage = (
        "evalgate query [-h] [--format NAME] [--config SUITE] [--plugin MODULE] [--number N] "
        "[--limit NAME=VALUE] [EXPR] TRACE"
    )
    parser.epilog = EXAMPLES
    parser.add_argument(
        "words", nargs="+", metavar="[EXPR] TRACE", help="an expression, and a trace file or glob"
    )
    add_format(parser)
    parser.add_argument("--number", type=int, metavar="N", help="only the N-th trace, counting from 1")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Prints the values as JSON: indented for one trace, one line per trace for several."""
    from evalgate.bootstrap import sources
    from evalgate.cli.shell import place_of
    from evalgate.cli.traces.format_flags import chosen_format
    from evalgate.errors import Problem, SettingError
    from evalgate.models.trace.trace import DamagedTrace, Trace
    from evalgate.settings.limits import limits_from

    *expressions, pattern = arguments.words
    if len(expressions) > 1:
        raise SettingError("query takes one expression and one trace; quote the expression")
    hint = _order(arguments.words)
    query = _compiled(expressions[0], hint) if expressions else None
    chosen = chosen_format(arguments, shell)
    records = sources.trace_files(shell.cwd, None, limits_from(arguments.limit)).read(
        [pattern], ".", chosen.form
    )
    pricer, number, damaged, found = _pricer(chosen), 0, 0, list[Trace]()
    for number, record in enumerate(records, 1):
        if arguments.number not in (None, number):
            continue
        if isinstance(record, DamagedTrace):
            damaged += 1
            shell.note(f"error: {place_of(record.source)}: {record.reason}")
        else:
            pricer.price(record)
            found.append(record)
    if not found and not damaged:
        few = f"no trace number {arguments.number} at {pattern!r}, it ends with number {number}"
        raise SettingError(Problem(few if number else f"no trace file at {pattern!r}", hint=hint))
    _print(found, query, shell)
    return 2 if damaged else 0


def _pricer(chosen: FormatChoice) -> Pricer:
    """A pricer that uses the suite's prices, if there is a suite, as a run does."""
    from evalgate.application.evaluation.pricing import Pricer
    from evalgate.bootstrap import shell_verbs, sources

    if chosen.suite is None:
        return shell_verbs.pricer()
    return Pricer(chosen.suite.prices, sources.price_list())


def _order(given: list[str]) -> str | None:
    """A hint if the trace seems to come before the expression."""
    is_file = [word.endswith(TRACE_ENDINGS) for word in given]
    return "the expression comes first, then the trace" if is_file == [True, False] else None


def _compiled(expression: str, hint: str | None) -> Query:
    from evalgate.errors import Problem, SettingError
    from evalgate.measures.jmespath.query import Query, QueryError

    try:
        return Query(expression)
    except QueryError as error:
        place = f" (character {error.position})" if error.position else ""
        raise SettingError(Problem(f"bad expression: {error}{place}", hint=hint)) from None


def _print(traces: list[Trace], query: Query | None, shell: Shell) -> None:
    import orjson

    from evalgate.cli.shell import visible_json
    from evalgate.measures.redaction.redact import redact_value

    option = orjson.OPT_INDENT_2 if len(traces) == 1 else 0
    for trace, value in _values(traces, query, shell):
        for warning in trace.warnings:
            shell.note(f"warning: {warning['code']}: {warning['message']}")
        shell.say(visible_json(orjson.dumps(redact_value(value), option=option).decode()))


def _values(traces: list[Trace], query: Query | None, shell: Shell) -> Iterator[tuple[Trace, Any]]:
    from evalgate.measures.jmespath.query import QueryFailedError
    from evalgate.models.trace.trace_view import view_of

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
