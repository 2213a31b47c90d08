"""The verb `export`: writes evaluations of the store to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from evalgate.application.goldens.evaluation_export import Gathered
    from evalgate.cli.shell import Shell
    from evalgate.reporting.dataset.metrics import MetricsRequest

FORMS = {
    "jsonl": "a line for every turn that was judged",
    "csv": "a row for every evaluation",
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
    told = ", ".join(f"{form}: {meaning}" for form, meaning in FORMS.items())
    parser.add_argument("form", choices=FORMS, metavar="jsonl|csv|json", help=told)
    add_period(parser)
    parser.add_argument("--suite", metavar="NAME", help="only evaluations of this suite")
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        default=FOLDER,
        help=f"a file, a folder to name one in, or - for stdout (default {FOLDER})",
    )
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Writes the evaluations to one file or to stdout."""
    from evalgate.application.goldens.evaluation_export import gather
    from evalgate.bootstrap import export_files
    from evalgate.cli.store.store_flags import opened, period_of
    from evalgate.reporting.dataset.metrics import MetricsRequest
    from evalgate.reporting.text.escaping import terminal
    from evalgate.reporting.text.wording import counted

    asked = MetricsRequest(*period_of(arguments), arguments.suite)
    with opened(arguments, shell) as store:
        gathered = gather(store, suite=asked.suite, since=asked.since, until=asked.until)
    parts = _parts(arguments.form, gathered, asked)
    if arguments.output == STDOUT:
        for line in b"".join(parts).decode().splitlines():
            shell.say(terminal(line, None) if arguments.form == "csv" else line)
        return 0
    path = export_files.write(
        parts,
        arguments.output,
        arguments.form,
        cwd=shell.cwd,
        source_date_epoch=shell.environ.get("SOURCE_DATE_EPOCH"),
    )
    shell.say(terminal(f"{counted(len(gathered.found), 'evaluation')} written to {path}", None))
    return 0


def _parts(form: str, gathered: Gathered, asked: MetricsRequest) -> Iterable[bytes]:
    """Renders the export in parts."""
    if form == "jsonl":
        from evalgate.reporting.dataset.evaluation_jsonl import evaluation_lines

        return evaluation_lines(gathered.found)
    if form == "csv":
        from evalgate.reporting.dataset.evaluation_csv import evaluation_rows

        return [evaluation_rows(gathered.found).encode()]
    from evalgate.reporting.dataset.ascii_json import ascii_page
    from evalgate.reporting.dataset.metrics import metrics

    return [ascii_page(metrics(gathered.found, gathered.goldens, asked))]
