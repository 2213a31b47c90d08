"""The verb `view`, which writes a finished run as one HTML file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalgate.bootstrap.shell_tools import RESULTS, find_baseline, find_run
from evalgate.cli.command import PROCESS_LIMITS, RUN, Command, one_of, option
from evalgate.cli.shell import is_stdout
from evalgate.errors import SettingError
from evalgate.models.results.document_names import OUTPUT_FOLDER

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell

REPORT = "report.html"
DEFAULT_MB, MAX_MB = 10, 1_000


def view(arguments: Namespace, shell: Shell) -> int:
    """Writes the page, prints its path, and opens it if asked; returns 0."""
    from evalgate.adapters.file_writer import open_named
    from evalgate.bootstrap.shell_tools import make_output_folder
    from evalgate.bootstrap.sources import build_baseline_files, build_trace_files
    from evalgate.features.page.application.view_run import PageOptions, view_run
    from evalgate.reporting.text.wording import pluralize

    if not 0 < arguments.max_mb <= MAX_MB:
        raise SettingError(f"--max-mb is a number from 1 to {MAX_MB:,}")
    source, path = find_run(arguments.run, shell.cwd), arguments.output
    baseline = None if arguments.baseline is None else find_baseline(arguments.baseline, shell.cwd)
    options = PageOptions(None if arguments.full else arguments.max_mb * 1_000_000, arguments.summary)
    page = view_run(build_baseline_files(shell.cwd), build_trace_files(shell.cwd), source, options, baseline)
    is_own = path is None
    if path is None:
        folder = os.path.dirname(source) if os.path.basename(source) == RESULTS else OUTPUT_FOLDER  # noqa: PTH119, PTH120
        path = os.path.join(folder, REPORT)  # noqa: PTH118  (keeps the user's spelling)
        make_output_folder(path, shell.cwd)
    with open_named(path, shell.cwd, is_own=is_own) as stream:
        stream.write(page.html.encode())
    if page.left_out:
        left = pluralize(page.left_out, "conversation")
        shell.note(
            f"note: {left} of the least changed scenarios left out: the file is limited to {arguments.max_mb} MB"
        )
    if is_stdout(path):
        return 0
    shell.print_safe(f"written: {path} ({pluralize(page.held, 'conversation')}, {len(page.html.encode()):,} bytes)")
    if arguments.open:
        _open_in_browser(os.path.abspath(os.path.join(shell.cwd, path)), shell)  # noqa: PTH100, PTH118
    return 0


def _open_in_browser(path: str, shell: Shell) -> None:
    import webbrowser
    from pathlib import Path

    if not webbrowser.open(Path(path).as_uri()):
        shell.note("note: no browser was found; open the file yourself")


COMMANDS = {
    "view": Command(
        view,
        [
            RUN,
            option(
                "-o",
                "--output",
                metavar="PATH",
                help=f"the file to write, or - for stdout (default {REPORT} in the folder of the run)",
            ),
            option(
                "--baseline",
                metavar="RUN",
                help="the run that it was compared with, to show its conversations beside the run's",
            ),
            one_of(
                option("--full", action="store_true", help="include every conversation, however large the file gets"),
                option("--summary", action="store_true", help="include no conversation"),
            ),
            option(
                "--max-mb",
                type=int,
                metavar="N",
                default=DEFAULT_MB,
                help=f"leave out conversations, of passing scenarios first, above this size (default {DEFAULT_MB})",
            ),
            option("--open", action="store_true", help="open the file in a browser"),
            PROCESS_LIMITS,
        ],
        """examples:
  evalgate view                              the last run, as .evalgate/report.html
  evalgate view baseline.zip -o report.html  a run that was downloaded
  evalgate view --summary -o - > report.html
""",
    ),
}
