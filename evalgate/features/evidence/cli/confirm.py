"""The verb `confirm`: which trials to record again after a run, and what all of them show."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.bootstrap.shell_tools import find_stored_run
from evalgate.cli.command import PROCESS_LIMITS, RUN_HELP, Command, option
from evalgate.errors import EvalGateError, Problem, SettingError
from evalgate.models.comparison.decision import exit_code_of
from evalgate.models.run.arms import MOST_TRIALS, TrialPlan
from evalgate.ports.outputs import COMMENT, JUNIT, RESULTS, STANDARD, SUMMARY

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator, Mapping

    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.cli.shell import Shell
    from evalgate.features.evidence.models import ConfirmedRun
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content


def confirm_run(arguments: Namespace, shell: Shell) -> int:
    """Writes the plan and returns 0; or judges all trials and returns the gate's exit code."""
    if not 1 <= arguments.trials <= MOST_TRIALS:
        raise SettingError(f"--trials is {arguments.trials}, expected 1 to {MOST_TRIALS}")
    return _write_plan(arguments, shell) if arguments.plan else _confirm(arguments, shell)


def _write_plan(arguments: Namespace, shell: Shell) -> int:
    from evalgate.bootstrap.sources import build_baseline_files
    from evalgate.features.evidence.application.plan_trials import plan_trials
    from evalgate.features.evidence.reporting.confirmation_text import render_plan

    if arguments.more is not None or arguments.base_more is not None:
        raise SettingError(
            Problem("--plan takes RUN and --base", None, "MORE and --base-more are recorded by the plan")
        )
    base, head = (find_stored_run(path, shell.cwd) for path in (arguments.base, arguments.run))
    plan, unjudged = plan_trials(build_baseline_files(shell.cwd), base, head, arguments.trials)
    _write(Path(shell.cwd, arguments.out), plan)
    for line in render_plan(plan, unjudged):
        shell.print_line(line)
    return 0


def _write(path: Path, plan: TrialPlan) -> None:
    from msgspec import json

    from evalgate.adapters.file_writer import open_to_write

    try:
        with open_to_write(str(path)) as stream:
            stream.write(json.format(json.encode(plan), indent=2) + b"\n")
    except OSError as error:
        raise SettingError(f"can't write {path.name}: {error.strerror or 'unknown error'}") from None


def _confirm(arguments: Namespace, shell: Shell) -> int:
    from evalgate.bootstrap.sources import build_baseline_files, build_trace_files
    from evalgate.features.evidence.application.confirm import confirm

    if arguments.more is None or arguments.base_more is None:
        raise SettingError(Problem("MORE and --base-more are missing", None, "`--plan` lists what to record for them"))
    paths = arguments.base, arguments.base_more, arguments.run, arguments.more
    folder = None if arguments.output_dir is None else _open_folder(arguments, shell, paths)
    try:
        base, base_more, head, more = (find_stored_run(each, shell.cwd) for each in paths)
        files, traces = build_baseline_files(shell.cwd), build_trace_files(shell.cwd)
        found = confirm(files, traces, (base, base_more), (head, more), arguments.trials)
    except EvalGateError as error:
        if folder is not None:  # the report of an earlier call would be taken for that of this one
            _report_refusal(error, folder, shell)
        raise
    _print(found, arguments, shell)
    if folder is not None:
        folder.replace_all(_render_report(found.document, STANDARD), ())
    _store(found, arguments, shell)
    return exit_code_of(each.code for each in found.reasons)


def _report_refusal(error: EvalGateError, folder: OutputFolder, shell: Shell) -> None:
    from evalgate.adapters.clock import SystemClock
    from evalgate.reporting.results.results_json import build_invalid_document

    document = build_invalid_document(error, commit=None, created_at=SystemClock(shell.epoch).now())
    folder.replace_all(_render_report(document, (RESULTS, COMMENT, SUMMARY)), (JUNIT,))


def _open_folder(arguments: Namespace, shell: Shell, paths: Iterable[str]) -> OutputFolder:
    """Where the report goes; raises SettingError if one of the runs is there, which it would replace."""
    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.bootstrap.shell_tools import BASELINE_FILES

    folder = OutputFolder(arguments.output_dir, shell.cwd)
    if any(folder.holds(name, path) for name in BASELINE_FILES for path in _find_files(paths, shell.cwd)):
        problem = f"--output-dir {arguments.output_dir} holds one of the runs"
        raise SettingError(Problem(problem, None, "choose another folder"))
    folder.require_writable()
    return folder


def _find_files(paths: Iterable[str], cwd: str) -> Iterator[str]:
    """The files of the runs that are there: a folder without one holds nothing that could be lost."""
    for path in paths:
        with suppress(SettingError):
            yield find_stored_run(path, cwd)


def _print(found: ConfirmedRun, arguments: Namespace, shell: Shell) -> None:
    from evalgate.features.evidence.reporting.confirmation_text import build_confirmation_document, render_confirmation

    if arguments.json:
        shell.print_json(build_confirmation_document(found))
    elif arguments.markdown:
        from evalgate.reporting.markdown.render import render_confirmed

        shell.print_line(render_confirmed(found.document) or "Nothing got worse, so nothing was recorded again.")
    else:
        for line in render_confirmation(found):
            shell.print_line(line)


def _render_report(document: ResultsDoc, names: Iterable[str]) -> Mapping[str, Content]:
    """The results with comment and summary, as a run leaves them."""
    from evalgate.application.documents.report_files import load_report_file, make_source, render_outputs
    from evalgate.ports.outputs import RenderOptions, RunSubject

    source = make_source(document, RunSubject(document["commit"]), RenderOptions())
    return render_outputs(dict.fromkeys(names), source, load_report_file)[0]


def _store(found: ConfirmedRun, arguments: Namespace, shell: Shell) -> None:
    """Saves the added trials of this commit as a run, so that a recovery is in the history of each scenario."""
    from evalgate.bootstrap.named_store import open_shell_store
    from evalgate.reporting.results.results_json import dump_results

    store = open_shell_store(arguments.store_url, shell.environ, shell.cwd)
    if store is not None and found.added is not None:
        for note in store.deliver(dump_results(found.added), found.added).notes:
            shell.note(note.text if note.level == "detail" else f"{note.level}: {note.text}")


COMMANDS = {
    "confirm": Command(
        confirm_run,
        [
            PROCESS_LIMITS,
            option("run", metavar="RUN", help=f"the first run, compared with BASE: {RUN_HELP}"),
            option("more", nargs="?", metavar="MORE", help="the run of the trials added on the same commit"),
            option("--base", required=True, metavar="BASE", help="the run that RUN was compared with"),
            option("--base-more", metavar="RUN", help="the run of the trials added on the base"),
            option("--plan", action="store_true", help="write which trials to record again"),
            option("--out", metavar="FILE", default="misses.json", help="where --plan writes (default misses.json)"),
            option(
                "--trials",
                type=int,
                metavar="N",
                default=MOST_TRIALS,
                help=f"trials to add to a scenario on each side, 1 to {MOST_TRIALS} (default {MOST_TRIALS})",
            ),
            option("--json", action="store_true", help="print the findings as JSON"),
            option("--markdown", action="store_true", help="print the findings as in the comment"),
            option(
                "--output-dir",
                metavar="DIR",
                help="also write results.json, comment.md, summary.md and junit.xml of all trials here",
            ),
            option(
                "--store-url",
                metavar="URL",
                help="record the added trials in this store, as `evalgate run` does (default $EVALGATE_STORE_URL)",
            ),
        ],
        """examples:
  evalgate confirm .evalgate --plan --base main/baseline.zip
  evalgate record --suite evals/support.yaml --only misses.json --out more -- python agent.py {prompt}
  evalgate confirm .evalgate more-run --base main/baseline.zip --base-more more-base-run
""",
    ),
}
