"""The verb `baseline`: saves, creates or shows a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate baseline save                           the last run, to .evalgate/saved/baseline.zip
  evalgate baseline create .evalgate -o baseline.zip
  evalgate baseline show baseline.zip
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the three actions of the verb."""
    from evalgate.cli.run.run import OUTPUT_DIR, SAVED
    from evalgate.cli.shell import add_limits

    parser.epilog = EXAMPLES
    actions = parser.add_subparsers(dest="action", metavar="save|create|show", required=True)
    keep = "copy the baseline.zip of a finished run to where no run writes"
    make, look = "create a baseline from the output folder of a run", "show what a baseline contains"
    save = actions.add_parser("save", help=keep, description=f"{keep.capitalize()}.")
    save.add_argument(
        "--output-dir", metavar="DIR", default=OUTPUT_DIR, help=f"the --output-dir of the run (default {OUTPUT_DIR})"
    )
    save.add_argument("-o", "--output", metavar="PATH", help=f"the zip to write, or - for stdout (default {SAVED})")
    create = actions.add_parser("create", help=make, description=f"{make.capitalize()}.")
    create.add_argument("folder", metavar="RESULTS_DIR", help="the --output-dir of a finished run")
    create.add_argument("-o", "--output", metavar="PATH", required=True, help="the zip to write, or - for stdout")
    show = actions.add_parser("show", help=look, description=f"{look.capitalize()}.")
    show.add_argument("path", metavar="PATH", help="baseline.zip or results.json")
    for action in (save, create, show):
        add_limits(action, of_the_process=True)
    show.add_argument("--json", action="store_true", help="print manifest and summary as JSON")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Saves, makes or shows a baseline."""
    return {"save": _save, "create": _create, "show": _show}[arguments.action](arguments, shell)


def _save(arguments: argparse.Namespace, shell: Shell) -> int:
    from evalgate.bootstrap import shell_verbs, sources
    from evalgate.cli.run.run import SAVED
    from evalgate.cli.shell import is_stdout
    from evalgate.reporting.markdown.heading import build_heading
    from evalgate.reporting.text.escaping import escape_terminal

    results, content = sources.build_baseline_files(shell.cwd).read_finished(arguments.output_dir)
    path = arguments.output
    if path is None:
        path = SAVED
        shell_verbs.make_output_folder(path, shell.cwd)
    with shell_verbs.open_output(path, shell.cwd) as stream:
        stream.write(content)
    if not is_stdout(path):
        shell.print_line(escape_terminal(f"saved: {path}, of a run that {build_heading(results).text}", None))
    if results["verdict"] == "fail":
        shell.note("warning: the saved run failed; what fails in a baseline can't count as broken later")
    return 0


def _create(arguments: argparse.Namespace, shell: Shell) -> int:
    from evalgate.bootstrap import shell_verbs, sources
    from evalgate.cli.shell import is_stdout
    from evalgate.reporting.text.escaping import escape_terminal

    with shell_verbs.open_output(arguments.output, shell.cwd) as stream:
        warnings = sources.build_baseline_files(shell.cwd).create(arguments.folder, arguments.output, stream)
    shell.report_problems(warnings, "warning")
    if not is_stdout(arguments.output):
        shell.print_line(escape_terminal(f"written: {arguments.output}", None))
    return 0


def _show(arguments: argparse.Namespace, shell: Shell) -> int:
    import orjson

    from evalgate.bootstrap import sources
    from evalgate.reporting.terminal.run_table import render_table
    from evalgate.reporting.text.escaping import escape_terminal

    baseline = sources.build_baseline_files(shell.cwd).load(arguments.path)
    if arguments.json:
        content = {"manifest": baseline.manifest, "summary": baseline.results["summary"]}
        shell.print_line(orjson.dumps(content, option=orjson.OPT_INDENT_2).decode())
        return 0
    manifest = baseline.manifest or {"commit": baseline.results["commit"], "created_at": baseline.results["created_at"]}
    for name in ("commit", "branch", "run", "created_at", "evalgate_version", "config_hash"):
        if manifest.get(name):
            shell.print_line(f"{name:17} {escape_terminal(str(manifest[name]))}")
    traces = manifest.get("traces")
    if isinstance(traces, dict):
        shell.print_line(f"{'traces':17} {traces.get('kept', 0)} kept, {traces.get('left_out', 0)} left out")
    shell.print_line(
        render_table(
            baseline.results,
            width=shell.width,
            colour=shell.has_colour,
            wraps_notes=shell.is_terminal,
            verbosity="normal",
        )
    )
    return 0
