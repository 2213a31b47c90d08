"""The verb `export`: writes evaluations of the store to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from evalgate.application.goldens.evaluation_export import EvaluationExport
    from evalgate.cli.shell import Shell
    from evalgate.reporting.dataset.metrics import MetricsRequest

FORMATS = {
    "jsonl": "a line for each judged turn",
    "csv": "a row for each evaluation",
    "json": "one summary of all of them",
}
EXAMPLES = """examples:
  evalgate export jsonl --since 2026-01-01             .evalgate/evaluation_<time>.jsonl
  evalgate export csv --suite refunds -o refunds.csv
  evalgate export json -o -
"""
STDOUT = "-"
FOLDER = ".evalgate/"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.store.store_flags import add_period, add_store

    parser.epilog = EXAMPLES
    help_text = ", ".join(f"{form}: {meaning}" for form, meaning in FORMATS.items())
    parser.add_argument("form", choices=FORMATS, metavar="jsonl|csv|json", help=help_text)
    add_period(parser)
    parser.add_argument("--suite", metavar="NAME", help="only evaluations of this suite")
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        default=FOLDER,
        help=f"a file, a folder for a file named after the time, or - for stdout (default {FOLDER})",
    )
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Writes the evaluations to one file or to stdout."""
    from evalgate.application.goldens.evaluation_export import collect_export
    from evalgate.bootstrap import export_files
    from evalgate.cli.store.store_flags import open_store, parse_period
    from evalgate.reporting.dataset.metrics import MetricsRequest
    from evalgate.reporting.text.escaping import escape_terminal
    from evalgate.reporting.text.wording import pluralize

    request = MetricsRequest(*parse_period(arguments), arguments.suite)
    with open_store(arguments, shell) as store:
        gathered = collect_export(store, suite=request.suite, since=request.since, until=request.until)
    parts = _render_parts(arguments.form, gathered, request)
    if arguments.output == STDOUT:
        for line in b"".join(parts).decode().splitlines():
            shell.print_line(escape_terminal(line, None) if arguments.form == "csv" else line)
        return 0
    path = export_files.export(
        parts, arguments.output, arguments.form, cwd=shell.cwd, source_date_epoch=shell.environ.get("SOURCE_DATE_EPOCH")
    )
    shell.print_line(escape_terminal(f"{pluralize(len(gathered.evaluations), 'evaluation')} written to {path}", None))
    return 0


def _render_parts(form: str, gathered: EvaluationExport, request: MetricsRequest) -> Iterable[bytes]:
    if form == "jsonl":
        from evalgate.reporting.dataset.evaluation_jsonl import encode_evaluations

        return encode_evaluations(gathered.evaluations)
    if form == "csv":
        from evalgate.reporting.dataset.evaluation_csv import encode_evaluation_csv

        return [encode_evaluation_csv(gathered.evaluations).encode()]
    from evalgate.reporting.dataset.ascii_json import encode_json_page
    from evalgate.reporting.dataset.metrics import compute_metrics

    return [encode_json_page(compute_metrics(gathered.evaluations, gathered.goldens, request))]
