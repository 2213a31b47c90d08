"""The verb `track`, which publishes a finished run to trackers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.bootstrap.shell_tools import RESULTS
from evalgate.cli.command import RUN, Command, option, parse_words
from evalgate.errors import Problem, SettingError
from evalgate.features.track.feature import LEVELS, MAX_SECONDS, TRACKERS
from evalgate.models.results.document_names import OUTPUT_FOLDER

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from evalgate.cli.shell import Shell
    from evalgate.features.track.application.track_run import TrackingReport
    from evalgate.features.track.models import PublishedRun
    from evalgate.features.track.ports import Tracker


def track(arguments: Namespace, shell: Shell) -> int:
    """Publishes the run to each tracker; returns 0, or 4 if one refused it or could not be reached."""
    from evalgate.features.track.application.track_run import build_tracking_document
    from evalgate.features.track.bootstrap import load_published_run

    trackers = [] if arguments.dry_run else _build_trackers(arguments, shell)
    run = load_published_run(arguments.run, shell.environ, shell.cwd, arguments.content, arguments.prefix)
    if arguments.dry_run:
        _print_uploads(run, arguments.to or TRACKERS, shell)
        return 0
    reports = _publish(run, trackers, _find_folder(arguments.run, shell.cwd), shell)
    if arguments.json:
        shell.print_json(build_tracking_document(reports))
    else:
        for each in (experiment for report in reports for experiment in report.experiments):
            shell.print_safe(f"{'published' if each.is_new else 'was there'}: {each.name} {each.url}")
    _report_failures(reports, shell)
    return max((report.failure.exit_code for report in reports if report.failure is not None), default=0)


def _find_folder(run: str, cwd: str) -> str:
    """Where it is written what was published: the folder of the run, for a zip that of the last run."""
    if Path(cwd, run).is_dir():
        return run
    return str(Path(run).parent) if Path(run).name == RESULTS else OUTPUT_FOLDER


def _build_trackers(arguments: Namespace, shell: Shell) -> list[Tracker]:
    from evalgate.features.track.bootstrap import build_tracker

    names = dict.fromkeys(arguments.to)
    if not names:
        raise SettingError(Problem("name a tracker", None, f"--to {'|'.join(TRACKERS)}"))
    return [
        build_tracker(name, shell.environ, allow_http=arguments.allow_http, seconds=MAX_SECONDS / len(names))
        for name in names
    ]


def _publish(run: PublishedRun, trackers: Sequence[Tracker], folder: str, shell: Shell) -> list[TrackingReport]:
    import orjson

    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.features.track.application.track_run import TRACKING, build_tracking_document, track_run

    reports = [track_run(run, tracker) for tracker in trackers]
    output = OutputFolder(folder, shell.cwd)
    output.write(TRACKING, orjson.dumps(build_tracking_document(reports), option=orjson.OPT_INDENT_2))
    return reports


def _report_failures(reports: Sequence[TrackingReport], shell: Shell) -> None:
    for report in reports:
        if report.problem is not None:
            shell.note(f"warning: not tracked: {report.problem}")
        for _, message in report.warnings:
            shell.note(f"warning: {message}")


def _print_uploads(run: PublishedRun, trackers: Sequence[str], shell: Shell) -> None:
    from evalgate.features.track.bootstrap import describe_uploads

    shell.print_json({name: describe_uploads(name, run) for name in trackers})


CONTENT_HELP = (
    "which texts leave: none (ids and numbers), final (also prompts, tool names and final answers), or full (also"
    " conversations and reasons); all redacted (default final)"
)
COMMANDS = {
    "track": Command(
        track,
        [
            RUN,
            option("--to", type=parse_words, default=[], metavar="NAME", help=f"trackers: {', '.join(TRACKERS)}"),
            option("--content", choices=LEVELS.words, default="final", help=CONTENT_HELP),
            option(
                "--prefix", metavar="TEXT", default="evalgate", help="how names of experiments begin (default evalgate)"
            ),
            option("--allow-http", action="store_true", help="allow a tracker at http:// on another machine"),
            option(
                "--dry-run",
                action="store_true",
                help="print what each tracker (without --to: all) would be sent, and send nothing",
            ),
            option("--json", action="store_true", help="print tracking.json instead of links"),
        ],
        """examples:
  evalgate track --to langsmith              the last run, with the key in LANGSMITH_API_KEY
  evalgate track --to phoenix,mlflow
  evalgate track .evalgate --dry-run         what would leave
  evalgate track --to langsmith --content none
""",
    ),
}
