"""The verbs `export` and `import`, for evaluations of the store, and `feedback` of people on conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.cli.command import STORE, Command, one_of, option
from evalgate.cli.shell import is_stdout
from evalgate.errors import SettingError
from evalgate.features.store.cli.pages import PAGE, PERIOD, note_more_results, open_store, parse_page, parse_period
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable

    from evalgate.cli.shell import Shell
    from evalgate.features.store.application.goldens.evaluation_export import EvaluationExport
    from evalgate.features.store.reporting.dataset.metrics import MetricsRequest
    from evalgate.models.goldens import Sentiment

FOLDER = ".evalgate/"
MAX_PROBLEMS = 20
SENTIMENTS = ("positive", "negative", "neutral")
MAX_COMMENT, MAX_WORD, MAX_ISSUES = 10_000, 512, 100


def _render_jsonl(gathered: EvaluationExport, _: MetricsRequest) -> Iterable[bytes]:
    from evalgate.features.store.reporting.dataset.evaluation_jsonl import encode_evaluations

    return encode_evaluations(gathered.evaluations)


def _render_csv(gathered: EvaluationExport, _: MetricsRequest) -> Iterable[bytes]:
    from evalgate.features.store.reporting.dataset.evaluation_csv import encode_evaluation_csv

    return [encode_evaluation_csv(gathered.evaluations).encode()]


def _render_json(gathered: EvaluationExport, request: MetricsRequest) -> Iterable[bytes]:
    from evalgate.features.store.reporting.dataset.golden_document import encode_json_page
    from evalgate.features.store.reporting.dataset.metrics import compute_metrics

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


def export_evaluations(arguments: Namespace, shell: Shell) -> int:
    """Writes the evaluations to one file or to stdout."""
    from evalgate.features.store.application.goldens.evaluation_export import collect_export
    from evalgate.features.store.bootstrap.exports import export
    from evalgate.features.store.reporting.dataset.metrics import MetricsRequest

    request = MetricsRequest(*parse_period(arguments), arguments.suite)
    with open_store(arguments, shell) as store:
        gathered = collect_export(store, suite=request.suite, since=request.since, until=request.until)
    export_format = FORMATS[arguments.form]
    parts = export_format.render(gathered, request)
    if is_stdout(arguments.output):
        for line in b"".join(parts).splitlines():  # of bytes: a text would also be split at U+2028 and others
            (shell.print_line if export_format.is_ascii else shell.print_safe)(line.decode())
        return 0
    path = export(parts, arguments.output, arguments.form, cwd=shell.cwd, source_date_epoch=shell.epoch)
    shell.print_safe(f"{pluralize(len(gathered.evaluations), 'evaluation')} written to {path}")
    return 0


def import_evaluations(arguments: Namespace, shell: Shell) -> int:
    """Stores evaluations that are new; reports those that can't be imported, and then returns 2."""
    from evalgate.features.store.application.goldens import evaluation_export
    from evalgate.features.store.bootstrap.exports import read_export

    contents = [read_export(path, shell.cwd) for path in arguments.files]
    found = [each for one in contents for each in one.found]
    with open_store(arguments, shell, create=True) as store:
        imported = evaluation_export.import_evaluations(found, store)
        new, existing = (pluralize(each, "evaluation") for each in (imported.evaluations, imported.existing))
        feedback = pluralize(imported.feedback, "feedback record")
        shell.print_line(f"imported: {new} and {feedback}; {existing} already stored")
        shell.note(f"in the store {store.display_url}")
    problems = [*(problem for one in contents for problem in one.problems), *imported.problems]
    shell.report_problems(problems[:MAX_PROBLEMS])
    if len(problems) > MAX_PROBLEMS:
        shell.note(f"error: and {len(problems) - MAX_PROBLEMS:,} more")
    return 2 if problems else 0


def add_feedback(arguments: Namespace, shell: Shell) -> int:
    """Stores feedback on a conversation."""
    from evalgate.features.store.application.goldens import stored_goldens
    from evalgate.models.goldens import Feedback

    _check_lengths(arguments)
    feedback = Feedback(
        "",
        arguments.conversation,
        arguments.rating,
        arguments.feedback or _default_sentiment(arguments.rating),
        arguments.comment,
        tuple(arguments.issue),
        arguments.user_id,
        arguments.message_id,
        arguments.golden,
    )
    with open_store(arguments, shell, create=True) as store:
        shell.print_line(f"added: {stored_goldens.add_feedback(feedback, store).id}")
        shell.note(f"in the store {store.display_url}")
    return 0


def list_feedback(arguments: Namespace, shell: Shell) -> int:
    """Lists feedback: all, or on one conversation or golden."""
    from evalgate.features.store.reporting.dataset.golden_document import build_feedback_document
    from evalgate.features.store.reporting.golden_tables import render_feedback_table

    page = parse_page(arguments)
    with open_store(arguments, shell) as store:
        found = store.feedback.list(page, conversation_id=arguments.conversation, golden_id=arguments.golden)
    if arguments.json:
        shell.print_json([build_feedback_document(feedback) for feedback in found])
    elif found:
        shell.print_line(render_feedback_table(found, shell.width))
    note_more_results(shell, len(found), page, "feedback")
    return 0


def _default_sentiment(rating: int) -> Sentiment:
    return "positive" if rating > 3 else "negative" if rating < 3 else "neutral"  # noqa: PLR2004


def _check_lengths(arguments: Namespace) -> None:
    """Raises SettingError for texts that are empty or too long, and for too many issues."""
    if len(arguments.comment) > MAX_COMMENT:
        raise SettingError(f"--comment must have at most {MAX_COMMENT:,} characters")
    words = {"--message-id": arguments.message_id, "--golden": arguments.golden}
    words |= {f"--issue {number}": text for number, text in enumerate(arguments.issue, 1)}
    for name, text in {"CONVERSATION": arguments.conversation, **words}.items():
        if text is not None and not 0 < len(text.strip()) <= MAX_WORD:
            raise SettingError(f"{name} must have 1 to {MAX_WORD} characters")
    if len(arguments.issue) > MAX_ISSUES:
        raise SettingError(f"--issue may be given at most {MAX_ISSUES} times")


COMMANDS = {
    "export": Command(
        export_evaluations,
        [
            option(
                "form",
                choices=FORMATS,
                metavar="|".join(FORMATS),
                help=", ".join(f"{name}: {each.help}" for name, each in FORMATS.items()),
            ),
            *PERIOD,
            option("--suite", metavar="NAME", help="only evaluations of this suite"),
            option(
                "-o",
                "--output",
                metavar="PATH",
                default=FOLDER,
                help=f"a file, a folder (the file is named after the time), or - for stdout (default {FOLDER})",
            ),
            STORE,
        ],
        """examples:
  evalgate store export jsonl --since 2026-01-01             .evalgate/evaluation_<time>.jsonl
  evalgate store export csv --suite refunds -o refunds.csv
  evalgate store export json -o -
""",
    ),
    "import": Command(
        import_evaluations,
        [option("files", nargs="+", metavar="FILE", help="files that `evalgate store export jsonl|csv` wrote"), STORE],
        """examples:
  evalgate store import evaluation_2025-12-31T22-40-49.jsonl
  evalgate store import old.csv --store-url postgresql://ci@db/evalgate
""",
    ),
    "feedback": Command(
        examples="""examples:
  evalgate store feedback add talk-17 --rating 2 --comment 'asked twice for the order number'
  evalgate store feedback list --conversation talk-17
""",
        metavar="add|list",
        actions={
            "add": Command(
                add_feedback,
                [
                    option("conversation", metavar="CONVERSATION", help="the conversation's id"),
                    option("--rating", type=int, choices=range(1, 6), required=True, help="from 1 (bad) to 5 (good)"),
                    option(
                        "--feedback",
                        choices=SENTIMENTS,
                        help="its sentiment (default: positive from rating 4, negative up to 2)",
                    ),
                    option("--comment", metavar="TEXT", default="", help="the user's comment"),
                    option(
                        "--issue",
                        action="append",
                        metavar="TEXT",
                        default=[],
                        help="something that was wrong (repeatable)",
                    ),
                    option("--user-id", metavar="UUID", help="the user who gave the feedback"),
                    option("--message-id", metavar="ID", help="the message of the conversation that it is about"),
                    option("--golden", metavar="ID", help="the golden that it is about"),
                    STORE,
                ],
                purpose="store user feedback on a conversation",
            ),
            "list": Command(
                list_feedback,
                [
                    one_of(
                        option("--conversation", metavar="ID", help="only for this conversation"),
                        option("--golden", metavar="ID", help="only for this golden"),
                    ),
                    *PAGE,
                    STORE,
                ],
                purpose="list user feedback, oldest first",
            ),
        },
    ),
}
