"""The verb `run`: judges traces, compares with a baseline, writes the reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.application.history.run_recorder import RunRecorder
    from evalgate.application.judge.judge import Tools
    from evalgate.application.messages.request import Judgement, JudgeRequest
    from evalgate.bootstrap.evaluation_pools import ParallelOptions
    from evalgate.cli.shell import Shell
    from evalgate.errors import OverLimit
    from evalgate.ports import OutputFolder
    from evalgate.reporting.terminal.run_table import Verbosity

EXAMPLES = """examples:
  evalgate run                                     evalgate.yaml, else evals/**/*.yaml
  evalgate run evals/refunds.yaml --traces 'traces/**/*.json'
  evalgate run --baseline .evalgate/saved/baseline.zip    saved by `evalgate baseline save`
"""
OUTPUT_DIR = ".evalgate"
SAVED = f"{OUTPUT_DIR}/saved/baseline.zip"
"""Where `baseline save` writes by default, and no run."""
BASELINE, RESULTS = "baseline.zip", "results.json"
HOW_TO_KEEP = "keep a baseline where no run writes: evalgate baseline save"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.run.worker_flags import add_workers
    from evalgate.cli.shell import add_limits, add_plugins

    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("configs", nargs="*", metavar="CONFIG", help="project or suite file, or a folder or glob of them")
    add("--traces", action="append", metavar="GLOB", help="read these traces, not those that suites name (repeatable)")
    add("--format", metavar="NAME", help="trace format (default: detect it)")
    add_decision(parser)
    add_workers(parser)
    add_limits(parser)
    add_plugins(parser)
    add_outputs(parser)


def add_decision(parser: argparse.ArgumentParser) -> None:
    """Adds the options that decide the outcome of a run."""
    from evalgate.cli.shell import parse_words

    add = parser.add_argument
    add("--baseline", metavar="PATH", default="none", help="baseline.zip or results.json to compare with, or none")
    add(
        "--fail-on",
        type=parse_words,
        metavar="A,B",
        help="what fails the gate; overrides every policy (default hard_fail)",
    )
    add(
        "--on-weakening",
        choices=["ignore", "warn", "fail"],
        help="what to do if suites or policy require less than the baseline's; overrides every policy",
    )
    add(
        "--commit",
        metavar="SHA",
        help="the commit that is judged (default $GITHUB_SHA, else that of the git repository)",
    )
    add("--report-only", action="store_true", help="exit 0 where the gate would exit 1, 3 or 4")


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Adds the options for written files and printed output."""
    add = parser.add_argument
    add("--output-dir", metavar="DIR", default=OUTPUT_DIR, help=f"where files are written (default {OUTPUT_DIR})")
    add(
        "--store-url",
        metavar="URL",
        help="record the run in this store: a file, or postgresql://..., or none (default"
        " $EVALGATE_STORE_URL, else `store` of evalgate.yaml, else none)",
    )
    add("--no-baseline-zip", action="store_true", help="don't write baseline.zip (makes long runs much faster)")
    add("--sarif", action="store_true", help="also write results.sarif, for code scanning")
    add("--template", metavar="FILE", help="a template for parts of comment.md (docs/templates.md)")
    add("--json", action="store_true", help="print results.json instead of the table")
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="print the summary line only")
    loudness.add_argument("-v", "--verbose", action="store_true", help="print every scenario and warning")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Judges the traces or one shard of them, writes the files, prints the table."""
    from evalgate.cli.run.worker_flags import parse_parallel_options, run_shard

    tools = build_tools(arguments, shell, parse_parallel_options(arguments))
    if arguments.shard is not None:
        return run_shard(arguments, shell, _build_request(arguments, shell), tools)
    return judge_and_report(arguments, shell, tools)


def build_tools(arguments: argparse.Namespace, shell: Shell, parallel: ParallelOptions | None = None) -> Tools:
    """Builds what the judge works with from the flags."""
    from evalgate.bootstrap import shell_verbs
    from evalgate.bootstrap.store import shell_store_opener
    from evalgate.settings.limits import parse_limits

    shell_verbs.require_other_folder(arguments.output_dir, SAVED, shell.cwd)
    shell_verbs.use_plugin_evaluators(arguments.plugin, shell.cwd)
    return shell_verbs.build_shell_tools(
        shell.cwd,
        arguments.output_dir,
        parse_limits(arguments.limit),
        source_date_epoch=shell.environ.get("SOURCE_DATE_EPOCH"),
        progress_to=None if arguments.quiet else shell.err,
        parallel=parallel,
        store=shell_store_opener(arguments.store_url, shell.environ, shell.cwd),
    )


def judge_and_report(arguments: argparse.Namespace, shell: Shell, tools: Tools) -> int:
    """Judges with these tools, then writes, prints and stores the result."""
    from evalgate.application.judge.judge import judge
    from evalgate.application.messages.request import write_outputs
    from evalgate.bootstrap.run_recording import open_shell_recorder
    from evalgate.records import replace

    recorder = open_shell_recorder(arguments.store_url, shell.environ, shell.cwd)
    request = _build_request(arguments, shell)
    request = replace(request, kept=_find_own_baseline(request, tools.output))
    judgement = judge(request if recorder is None else recorder.load(request), tools)
    if not judgement.problems:  # wrong input leaves the files of the last run as they are
        write_outputs(judgement, tools.output, keep=request.kept)
    _print_result(judgement, arguments, shell, request.kept)
    if recorder is not None:
        _save_to_store(judgement, recorder, shell, is_quiet=arguments.quiet)
    return judgement.exit_code


def _find_own_baseline(request: JudgeRequest, folder: OutputFolder) -> str | None:
    """The file that this run is compared with and would replace."""
    path = None if request.baseline is None else request.baseline.path
    written = [*([BASELINE] if request.make_baseline_zip else []), RESULTS]
    return next((name for name in written if path is not None and folder.holds(name, path)), None)


def _save_to_store(judgement: Judgement, recorder: RunRecorder, shell: Shell, *, is_quiet: bool) -> None:
    """Saves the run in the store and notes the outcome, which does not change the exit code."""
    message = recorder.save(judgement)
    if message and not is_quiet:
        shell.note(message)
    for warning in recorder.warnings:
        shell.note(f"warning: {warning}")


def over_limit(arguments: argparse.Namespace, shell: Shell, error: OverLimit) -> int:
    """Reports a run that exceeded the limits of its process as invalid."""
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.bootstrap.limited_process import render_invalid_judgement

    request = JudgeRequest(report_only=arguments.report_only, commit=arguments.commit)
    epoch = shell.environ.get("SOURCE_DATE_EPOCH")
    judgement = render_invalid_judgement(request, error, arguments.output_dir, shell.cwd, epoch)
    _print_result(judgement, arguments, shell)
    return judgement.exit_code


def _build_request(arguments: argparse.Namespace, shell: Shell) -> JudgeRequest:
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.bootstrap import run_recording, shell_verbs
    from evalgate.models.comparison.comparison import BaselineInfo

    path = None if arguments.baseline == "none" else arguments.baseline
    commit, branch = run_recording.find_commit_and_branch(arguments.commit, shell.environ, shell.cwd)
    return JudgeRequest(
        configs=arguments.configs,
        traces=arguments.traces,
        form=None if arguments.format == "auto" else arguments.format,
        baseline=BaselineInfo("given", path=path) if path is not None else None,
        baseline_required=True,
        fail_on=arguments.fail_on,
        on_weakening=arguments.on_weakening,
        report_only=arguments.report_only,
        make_baseline_zip=not arguments.no_baseline_zip,
        sarif=arguments.sarif,
        template=shell_verbs.read_template(arguments.template, shell.cwd) if arguments.template is not None else None,
        approvals=shell_verbs.read_approvals(shell.cwd),
        commit=commit,
        branch=branch,
        run_id=shell.environ.get("GITHUB_RUN_ID"),
    )


def _print_result(judgement: Judgement, arguments: argparse.Namespace, shell: Shell, kept: str | None = None) -> None:
    """Prints what was found and written; `kept` is the file that is the run's baseline."""
    from evalgate.models.run.chunks import join_chunks
    from evalgate.reporting.terminal.run_table import render_table

    loudness: Verbosity = "quiet" if arguments.quiet else "verbose" if arguments.verbose else "normal"

    shell.report_problems(judgement.problems)
    for warning in judgement.warnings:
        shell.note(f"warning: {warning}")
    if kept is not None and not judgement.problems:
        path = f"{arguments.output_dir.rstrip('/')}/{kept}"
        shell.note(f"note: {path} is the baseline of this run and was not replaced ({HOW_TO_KEEP})")
    if arguments.json:
        shell.print_line(join_chunks(judgement.files["results.json"]).decode().rstrip())
        return
    if judgement.problems:
        return
    shell.print_line(
        render_table(
            judgement.results,
            width=shell.width,
            colour=shell.has_colour,
            wraps_notes=shell.is_terminal,
            verbosity=loudness,
        )
    )
    if not arguments.quiet:
        written = [*judgement.files, *([BASELINE] if judgement.baseline_zip else [])]
        shell.note(f"written to {arguments.output_dir}: {', '.join(name for name in written if name != kept)}")
