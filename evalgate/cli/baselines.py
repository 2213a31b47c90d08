"""The verbs `baseline` and `compare`, which read finished runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalgate.bootstrap.shell_tools import find_stored_run, is_file
from evalgate.cli.command import (
    PROCESS_LIMITS,
    RUN,
    RUN_HELP,
    Command,
    option,
    parse_words,
)
from evalgate.cli.run import SAVED
from evalgate.cli.shell import is_stdout
from evalgate.errors import Problem, SettingError
from evalgate.models.results.document_names import OUTPUT_FOLDER
from evalgate.reporting.text.escaping import escape_terminal

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell

SHOWN_FIELDS = ("commit", "branch", "run", "created_at", "evalgate_version", "config_hash")


def save(arguments: Namespace, shell: Shell) -> int:
    """Copies the baseline.zip of a finished run to where no run writes."""
    from evalgate.adapters.file_writer import open_named
    from evalgate.bootstrap.shell_tools import make_output_folder
    from evalgate.bootstrap.sources import build_baseline_files
    from evalgate.reporting.markdown.heading import build_heading

    run = _choose_folder(arguments.run, arguments.output_dir, shell.cwd)
    results, content = build_baseline_files(shell.cwd).read_finished(run)
    path = arguments.output
    if path is None:
        path = SAVED
        make_output_folder(path, shell.cwd)
    with open_named(path, shell.cwd) as stream:
        stream.write(content)
    if not is_stdout(path):
        shell.print_safe(f"saved: {path}, of a run that {build_heading(results).sentence}")
    if results["verdict"] == "fail":
        shell.note("warning: the saved run failed; what fails in a baseline can't count as broken later")
    return 0


def _choose_folder(run: str | None, old: str | None, cwd: str) -> str:
    """The folder of the run that the argument or its old flag names; raises SettingError for both."""
    if run is not None and old is not None:
        raise SettingError(Problem(f"two runs are named, {run} and --output-dir {old}", None, "name one"))
    chosen = next((each for each in (run, old) if each is not None), OUTPUT_FOLDER)
    return (os.path.dirname(chosen) or ".") if is_file(chosen, cwd) else chosen  # noqa: PTH120


def create(arguments: Namespace, shell: Shell) -> int:
    """Creates a baseline from the output folder of a run."""
    from evalgate.adapters.file_writer import open_named
    from evalgate.bootstrap.sources import build_baseline_files

    with open_named(arguments.output, shell.cwd) as stream:
        warnings = build_baseline_files(shell.cwd).create(arguments.folder, arguments.output, stream)
    shell.report_problems(warnings, "warning")
    if not is_stdout(arguments.output):
        shell.print_safe(f"written: {arguments.output}")
    return 0


def show(arguments: Namespace, shell: Shell) -> int:
    """Prints the manifest of a baseline, and the table of its run."""
    from evalgate.bootstrap.sources import build_baseline_files

    baseline = build_baseline_files(shell.cwd).load(find_stored_run(arguments.run, shell.cwd))
    if arguments.json:
        shell.print_json({"manifest": baseline.manifest, "summary": baseline.results["summary"]})
        return 0
    manifest = baseline.manifest or {"commit": baseline.results["commit"], "created_at": baseline.results["created_at"]}
    for name in SHOWN_FIELDS:
        if manifest.get(name):
            shell.print_line(f"{name:17} {escape_terminal(str(manifest[name]))}")
    traces = manifest.get("traces")
    if isinstance(traces, dict):
        shell.print_line(f"{'traces':17} {traces.get('kept', 0)} kept, {traces.get('left_out', 0)} left out")
    shell.print_results(baseline.results)
    return 0


def compare(arguments: Namespace, shell: Shell) -> int:
    """Compares and prints; returns the exit code of the decision with `--fail-on`, else 0."""
    from evalgate.application.judge.compare_finished import compare_finished
    from evalgate.bootstrap.sources import build_baseline_files, build_trace_files
    from evalgate.reporting.results.results_json import dump_results

    files, traces = build_baseline_files(shell.cwd), build_trace_files(shell.cwd)
    base, head = (find_stored_run(path, shell.cwd) for path in (arguments.base, arguments.head))
    results = compare_finished(files, traces, base, head, arguments.fail_on)
    if arguments.json:
        shell.print_line(dump_results(results).decode().rstrip())
    else:
        shell.print_results(results)
    return results["exit_code"]


COMMANDS = {
    "baseline": Command(
        examples="""examples:
  evalgate baseline save                           the last run, to .evalgate/saved/baseline.zip
  evalgate baseline create .evalgate -o baseline.zip
  evalgate baseline show baseline.zip
""",
        metavar="save|create|show",
        actions={
            "save": Command(
                save,
                [
                    option("run", nargs="?", metavar="RUN", help=f"the run: {RUN_HELP} (default {OUTPUT_FOLDER})"),
                    option("--output-dir", metavar="DIR", help="the old way to name RUN"),
                    option(
                        "-o", "--output", metavar="PATH", help=f"the zip to write, or - for stdout (default {SAVED})"
                    ),
                    PROCESS_LIMITS,
                ],
                purpose="copy the baseline.zip of a finished run to where no run writes",
            ),
            "create": Command(
                create,
                [
                    option("folder", metavar="RESULTS_DIR", help="the --output-dir of a finished run"),
                    option("-o", "--output", metavar="PATH", required=True, help="the zip to write, or - for stdout"),
                    PROCESS_LIMITS,
                ],
                purpose="create a baseline from the output folder of a run",
            ),
            "show": Command(
                show,
                [
                    RUN,
                    PROCESS_LIMITS,
                    option("--json", action="store_true", help="print manifest and summary as JSON"),
                ],
                purpose="show what a baseline contains",
            ),
        },
    ),
    "compare": Command(
        compare,
        [
            PROCESS_LIMITS,
            option("base", metavar="BASE", help=f"the earlier run: {RUN_HELP}"),
            option(
                "head",
                nargs="?",
                metavar="HEAD",
                default=OUTPUT_FOLDER,
                help=f"the later run: {RUN_HELP} (default {OUTPUT_FOLDER})",
            ),
            option("--fail-on", type=parse_words, metavar="A,B", help="what fails the gate (default: exit 0 always)"),
            option("--json", action="store_true", help="print a results document instead of the table"),
        ],
        """examples:
  evalgate compare .evalgate/saved       the saved run and the last one
  evalgate compare before.zip after.zip --fail-on broken,regression
""",
    ),
}
