"""The verb `export`: writes evaluations of the store to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from evalgate.application.goldens.evaluation_export import EvaluationExport
    from evalgate.cli.shell import Shell
    from evalgate.reporting.dataset.metrics import MetricsRequest

EXAMPLES = """examples:
  evalgate export jsonl --since 2026-01-01             .evalgate/evaluation_<time>.jsonl
  evalgate export csv --suite refunds -o refunds.csv
  evalgate export json -o -
"""
FOLDER = ".evalgate/"


def _render_jsonl(gathered: EvaluationExport, _: MetricsRequest) -> Iterable[bytes]:
    from evalgate.reporting.dataset.evaluation_jsonl import encode_evaluations

    return encode_evaluations(gathered.evaluations)


def _render_csv(gathered: EvaluationExport, _: MetricsRequest) -> Iterable[bytes]:
    from evalgate.reporting.dataset.evaluation_csv import encode_evaluation_csv

    return [encode_evaluation_csv(gathered.evaluations).encode()]


def _render_json(gathered: EvaluationExport, request: MetricsRequest) -> Iterable[bytes]:
    from evalgate.reporting.dataset.golden_document import encode_json_page
    from evalgate.reporting.dataset.metrics import compute_metrics

    return [encode_json_page(compute_metrics(gathered.evaluations, gathered.goldens, request))]


class ExportFormat(NamedTuple):
    """A format of exports; text that is not ASCII alone is escaped when it is printed."""

    help: str
    render: Callable[[EvaluationExport, MetricsRequest], Iterable[bytes]]
    is_ascii: bool = False


FORMATS = {
    "jsonl": ExportFormat("a line for each judged turn", _render_jsonl, is_ascii=True),
    "csv": ExportFormat("a row for each evaluation", _render_csv),
    "json": ExportFormat("one summary of all of them", _render_json, is_ascii=True),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.store.store_flags import add_period, add_store

    parser.epilog = EXAMPLES
    help_text = ", ".join(f"{name}: {each.help}" for name, each in FORMATS.items())
    parser.add_argument("form", choices=FORMATS, metavar="|".join(FORMATS), help=help_text)
    add_period(parser)
    parser.add_argument("--suite", metavar="NAME", help="only evaluations of this suite")
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        default=FOLDER,
        help=f"a file, a folder (the file is named after the time), or - for stdout (default {FOLDER})",
    )
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Writes the evaluations to one file or to stdout."""
    from evalgate.application.goldens.evaluation_export import collect_export
    from evalgate.bootstrap import export_files
    from evalgate.cli.shell import is_stdout
    from evalgate.cli.store.store_flags import open_store, parse_period
    from evalgate.reporting.dataset.metrics import MetricsRequest
    from evalgate.reporting.text.escaping import escape_terminal
    from evalgate.reporting.text.wording import pluralize

    request = MetricsRequest(*parse_period(arguments), arguments.suite)
    with open_store(arguments, shell) as store:
        gathered = collect_export(store, suite=request.suite, since=request.since, until=request.until)
    export_format = FORMATS[arguments.form]
    parts = export_format.render(gathered, request)
    if is_stdout(arguments.output):
        for line in b"".join(parts).decode().splitlines():
            shell.print_line(line if export_format.is_ascii else escape_terminal(line, None))
        return 0
    path = export_files.export(
        parts, arguments.output, arguments.form, cwd=shell.cwd, source_date_epoch=shell.environ.get("SOURCE_DATE_EPOCH")
    )
    shell.print_line(escape_terminal(f"{pluralize(len(gathered.evaluations), 'evaluation')} written to {path}", None))
    return 0
