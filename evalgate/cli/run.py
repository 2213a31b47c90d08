"""The verbs `run` and `merge`: judge traces or shards of a run, compare with a baseline, write the reports."""

from __future__ import annotations

import posixpath
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from evalgate.bootstrap.features import feature_settings, load_port
from evalgate.cli.command import ANY_LIMITS, PLUGINS, TRACE_SOURCE, Command, flag, one_of, option, parse_words
from evalgate.errors import Problem, SettingError
from evalgate.models.results.document_names import OUTPUT_FOLDER
from evalgate.settings.inputs import Inputs

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from evalgate.application.judge.judge import Tools
    from evalgate.application.messages.request import BaselinePlan, Judgement, JudgeRequest
    from evalgate.bootstrap.evaluation_pools import ParallelOptions
    from evalgate.bootstrap.outputs import ShellOutputs
    from evalgate.cli.shell import Shell
    from evalgate.errors import OverLimit
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_sections import InputsDoc
    from evalgate.ports import OutputFolder
    from evalgate.ports.shards import Shard
    from evalgate.ports.store import RunStore
    from evalgate.reporting.terminal.run_table import Verbosity

HERE = "the working directory"
MAX_JOBS = 256
DIGITS = 4
NONE = "none"
BASELINE_VARIABLE = "EVALGATE_BASELINE"
"""The input of the component for GitLab, which variables of a pipeline, project or group replace."""
SAVED = f"{OUTPUT_FOLDER}/saved/baseline.zip"
"""Where `baseline save` writes by default, and no run."""
BASELINE, RESULTS = "baseline.zip", "results.json"
HOW_TO_KEEP = "keep a baseline where no run writes: evalgate baseline save"


def run(arguments: Namespace, shell: Shell) -> int:
    """Judges the traces or one shard of them, writes the files, prints the table."""
    if arguments.track and (arguments.watch or arguments.shard is not None):
        raise SettingError(Problem("--track publishes a whole run", None, "leave it out with --watch and --shard"))
    if arguments.watch:
        return _watch(arguments, shell)
    if arguments.failed:
        raise SettingError(Problem("--failed belongs to --watch", None, "evalgate run --watch --failed"))
    tools = _build_tools(arguments, shell, _parse_parallel_options(arguments))
    if arguments.shard is not None:
        return _run_shard(arguments, shell, tools)
    return _judge_and_report(arguments, shell, tools)


def _watch(arguments: Namespace, shell: Shell) -> int:
    """Judges again and again, and writes the reports each time; no run is stored or becomes a baseline."""
    from evalgate.cli.watch import watch

    def judge_scenarios(scenarios: Sequence[str]) -> ResultsDoc | None:
        arguments.scenarios = [*scenarios]
        tools = _build_tools(arguments, shell, _parse_parallel_options(arguments))
        judgement = _judge_and_write(arguments, shell, tools).judgement
        shell.report_problems(judgement.problems)
        return None if judgement.problems else judgement.results

    arguments.quiet = arguments.no_baseline_zip = True  # a line a run, which takes a third less time
    return watch(arguments, shell, judge_scenarios)


def merge(arguments: Namespace, shell: Shell) -> int:
    """Merges the shards, writes the files of one run, prints the table."""
    from evalgate.bootstrap.evaluation_pools import open_shards

    shards = open_shards(arguments.shards, shell.cwd)
    head = shards[0].head
    arguments.traces, arguments.format, arguments.scenarios = head.traces, head.format, head.scenarios
    return _judge_and_report(arguments, shell, replace(_build_tools(arguments, shell), shards=shards))


def over_limit(arguments: Namespace, shell: Shell, error: OverLimit) -> int:
    """Reports a run that exceeded the limits of its process as invalid; deletes the files that it left unfinished."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.application.judge.report import render_invalid
    from evalgate.application.messages.request import REPORTS, JudgeRequest, RuleOptions
    from evalgate.ports.outputs import RunSubject

    OutputFolder(arguments.output_dir, shell.cwd).remove_drafts((BASELINE, RESULTS, *REPORTS))
    request = JudgeRequest(rules=RuleOptions(report_only=arguments.report_only), subject=RunSubject(arguments.commit))
    judgement = render_invalid(request, error, SystemClock(shell.epoch).now())
    _print_result(judgement, arguments, shell)
    return judgement.exit_code


def _build_tools(arguments: Namespace, shell: Shell, parallel: ParallelOptions | None = None) -> Tools:
    """Builds what the judge works with from the flags."""
    from evalgate.bootstrap.named_store import shell_store_opener
    from evalgate.bootstrap.shell_tools import Place, build_shell_tools, require_other_folder, use_plugin_evaluators
    from evalgate.settings.limits import parse_limits

    require_other_folder(arguments.output_dir, SAVED, shell.cwd)
    use_plugin_evaluators(arguments.plugin, shell.cwd)
    return build_shell_tools(
        Place(shell.cwd, arguments.output_dir, shell.epoch),
        parse_limits(arguments.limit),
        progress_to=None if arguments.quiet else shell.err,
        parallel=parallel,
        store=shell_store_opener(arguments.store_url, shell.environ, shell.cwd),
    )


def _build_request(arguments: Namespace, shell: Shell) -> JudgeRequest:
    from evalgate.adapters.files.git_head import find_commit_and_branch
    from evalgate.application.messages.request import RuleOptions, SourceChoice
    from evalgate.bootstrap.shell_tools import build_run_request, read_template
    from evalgate.ports.outputs import RenderOptions, RunSubject

    commit, branch = find_commit_and_branch(arguments.commit, shell.environ, shell.cwd)
    request = build_run_request(arguments.configs, arguments.baseline, shell.cwd, commit)
    makes_zip = not (arguments.no_baseline_zip or arguments.scenarios)
    template = None if arguments.template is None else read_template(arguments.template, shell.cwd)
    return replace(
        request,
        sources=SourceChoice(
            arguments.configs,
            arguments.traces,
            arguments.scenarios,
            None if arguments.format == "auto" else arguments.format,
        ),
        rules=RuleOptions(
            arguments.fail_on,
            arguments.on_weakening,
            report_only=arguments.report_only,
            by_rules_of_base=arguments.policy_from == "base",
        ),
        approvals=replace(
            request.approvals,
            of_baseline=arguments.approvals_from == "base",
            is_off=arguments.approvals_from == "none",
        ),
        inputs=_list_deciding_flags(arguments) if arguments.approvals_from == "none" else None,
        subject=RunSubject(
            commit, branch, shell.environ.get("GITHUB_RUN_ID"), event=shell.environ.get("GITHUB_EVENT_NAME")
        ),
        baseline=replace(_complete_baseline(request.baseline, arguments.baseline, shell), makes_zip=makes_zip),
        render=RenderOptions(template=template),
    )


def _list_deciding_flags(arguments: Namespace) -> InputsDoc:
    """The flags that decide in place of suites and policies, as reports of a workflow name its inputs."""
    from evalgate.reporting.results.clean_values import clean_text

    found: InputsDoc = {"approvals_from": arguments.approvals_from}
    if arguments.traces:
        found["traces"] = sorted(map(clean_text, arguments.traces))
    if arguments.fail_on:
        found["fail_on"] = list(arguments.fail_on)
    if arguments.on_weakening:
        found["on_weakening"] = arguments.on_weakening
    return found


def _complete_baseline(plan: BaselinePlan, given: str, shell: Shell) -> BaselinePlan:
    """Adds how the file was got, or that the variable of a job turned the comparison off."""
    from evalgate.models.comparison.comparison import BaselineInfo

    if given == NONE:
        is_off = shell.environ.get(BASELINE_VARIABLE) == NONE
        return replace(plan, info=BaselineInfo("off", off_by=f"{BASELINE_VARIABLE}={NONE}")) if is_off else plan
    if "CI_JOB_NAME" not in shell.environ:  # no job on GitLab
        return plan
    return replace(plan, fetch_command=load_port("baseline_fetch_command")(given, shell.environ))


class _WrittenRun(NamedTuple):
    """A judgement whose files are written; `kept` is the file that is the run's baseline."""

    judgement: Judgement
    kept: str | None
    outputs: ShellOutputs
    store: RunStore | None


def _judge_and_report(arguments: Namespace, shell: Shell, tools: Tools) -> int:
    """Judges with these tools, then writes, prints, stores and publishes the result."""
    run = _judge_and_write(arguments, shell, tools)
    _print_result(run.judgement, arguments, shell, run.kept, run.outputs)
    run.outputs.deliver_late(run.judgement, tools.output, run.store)
    return run.judgement.exit_code


def _judge_and_write(arguments: Namespace, shell: Shell, tools: Tools) -> _WrittenRun:
    from evalgate.application.judge.judge import judge
    from evalgate.application.messages.request import with_history, write_outputs
    from evalgate.bootstrap.named_store import open_shell_store
    from evalgate.bootstrap.outputs import ShellOutputs, options_for_judge

    store = open_shell_store(arguments.store_url, shell.environ, shell.cwd)
    request = _build_request(arguments, shell)
    outputs = ShellOutputs(vars(arguments), shell.environ, shell.cwd, request.subject.branch, shell.note)
    own_baseline = _find_own_baseline(request, tools.output)
    request = replace(
        request,
        baseline=replace(request.baseline, kept=own_baseline),
        outputs=options_for_judge(outputs.asked),
    )
    judgement = judge(request if store is None else with_history(request, store), tools)
    if not judgement.problems:  # wrong input leaves the files of the last run as they are
        write_outputs(judgement, tools.output, omit=(own_baseline, *outputs.unkept))
        outputs.write_named(judgement)
    return _WrittenRun(judgement, own_baseline, outputs, store)


def _find_own_baseline(request: JudgeRequest, folder: OutputFolder) -> str | None:
    """The file that this run is compared with and would replace."""
    path = None if request.baseline.info is None else request.baseline.info.path
    written = [*([BASELINE] if request.baseline.makes_zip else []), RESULTS]
    return next((name for name in written if path is not None and folder.holds(name, path)), None)


def _print_result(
    judgement: Judgement,
    arguments: Namespace,
    shell: Shell,
    kept: str | None = None,
    outputs: ShellOutputs | None = None,
) -> None:
    """Prints what was found and written; `kept` is the file that is the run's baseline."""
    from evalgate.models.run.chunks import join_chunks

    shell.report_problems(judgement.problems)
    for warning in judgement.warnings:
        shell.note(f"warning: {warning}")
    if kept is not None and not judgement.problems:
        path = f"{arguments.output_dir.rstrip('/')}/{kept}"
        shell.note(f"note: {path} is the baseline of this run and was not replaced ({HOW_TO_KEEP})")
    if arguments.json:
        shell.print_line(join_chunks(judgement.files[RESULTS]).decode().rstrip())
        return
    if judgement.problems:
        return
    verbosity: Verbosity = "quiet" if arguments.quiet else "verbose" if arguments.verbose else "normal"
    shell.print_results(judgement.results, verbosity, judgement.grouped)
    if not arguments.quiet:
        _suggest_one_scenario(judgement, shell)
        _suggest_other_folder(judgement, shell)
        written = [*judgement.files, *([BASELINE] if judgement.baseline_zip else [])]
        unkept = () if outputs is None else outputs.unkept
        names = ", ".join(name for name in written if name not in (kept, *unkept))
        shell.note(f"written to {arguments.output_dir}: {names}")
        for line in () if outputs is None else outputs.cautions:
            shell.note(f"written: {line}")


def _suggest_other_folder(judgement: Judgement, shell: Shell) -> None:
    """Says how to write globs that match files from the working folder, but none from the suite's."""
    from evalgate.bootstrap.sources import build_workspace

    for suite in judgement.results["suites"]:
        globs, _, folder = suite.get("unmatched", "").rpartition(" below ")
        for glob in globs.split(", ") if folder not in ("", HERE) else ():
            if glob and "\u2026" not in glob and "://" not in glob and build_workspace(shell.cwd).expand(glob, "."):
                written = posixpath.relpath(glob, folder)
                shell.note(f"note: paths are relative to the suite: for {glob} in {suite['path']} write {written}")


def _suggest_one_scenario(judgement: Judgement, shell: Shell) -> None:
    """Prints the command that judges only the scenario that fails, if it is the only one of several."""
    from evalgate.reporting.text.commands import build_command
    from evalgate.reporting.text.scenario_sections import sort_scenarios

    if judgement.exit_code:
        results = judgement.results
        sections = judgement.grouped.sections if judgement.grouped else sort_scenarios(results)
        command = build_command(results, sections)
        if command != results.get("command"):
            shell.note(f"to judge only this scenario again: {command}")


def _run_shard(arguments: Namespace, shell: Shell, tools: Tools) -> int:
    """Judges one shard and writes it to the output folder."""
    from evalgate.application.parallel.shards import judge_shard
    from evalgate.bootstrap.evaluation_pools import SHARD, create_shard

    pools: Any = tools.pools
    request = _build_request(arguments, shell)
    tools.output.require_writable()  # fails before the work
    writer = create_shard(lambda: tools.output.path(SHARD))
    try:
        found = judge_shard(request, tools, arguments.shard, pools, writer)
    finally:
        writer.close()
    shell.print_line(
        f"shard {arguments.shard}: {found.traces:,} traces judged, in {found.batches:,} of {found.of_batches:,} batches"
    )
    if not arguments.quiet:
        shell.note(f"written to {arguments.output_dir}: {SHARD}")
    return 0


def _parse_parallel_options(arguments: Namespace) -> ParallelOptions:
    """Parses the flags. Limits on cpu and memory apply to a process: with them one process judges."""
    from evalgate.bootstrap.evaluation_pools import ParallelOptions

    if arguments.scheduler is not None and arguments.engine != "dask":
        raise SettingError("--scheduler requires --engine dask")
    is_limited = any(each.partition("=")[0].strip() in {"cpu", "memory"} for each in arguments.limit)
    count = 1 if is_limited and arguments.jobs is None else arguments.jobs
    return ParallelOptions(
        count,
        dask=arguments.engine == "dask",
        scheduler=arguments.scheduler,
        plugins=tuple(arguments.plugin),
        traces=tuple(arguments.traces or ()),
    )


def parse_jobs(text: str) -> int | None:
    """Parses a number of processes; None for `auto`."""
    if text == "auto":
        return None
    if not _is_number(text) or not 0 < int(text) <= MAX_JOBS:
        raise ArgumentTypeError(f"{text!r} must be auto or a number from 1 to {MAX_JOBS}")
    return int(text)


def _parse_shard(text: str) -> Shard:
    """Parses a shard such as 2/5."""
    from evalgate.ports.shards import MAX_SHARDS, Shard

    number, _, of = text.partition("/")
    if not (_is_number(number) and _is_number(of)) or not 0 < int(number) <= int(of) <= MAX_SHARDS:
        raise ArgumentTypeError(f"{text!r} must be a shard such as 2/5, of at most {MAX_SHARDS:,} shards")
    return Shard(int(number), int(of))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= DIGITS


HEAD_OR_BASE = ("head", "base")
DECISION = (
    flag(Inputs.baseline),
    flag(Inputs.fail_on),
    flag(Inputs.on_weakening),
    option(
        "--policy-from",
        choices=HEAD_OR_BASE,
        default="head",
        help="whose suites and policy decide: those given (default), or the baseline's",
    ),
    option(
        "--approvals-from",
        choices=(*HEAD_OR_BASE, NONE),
        default="head",
        help="which approvals count: all (default), only those that the baseline's run had, or none",
    ),
    option(
        "--commit",
        metavar="SHA",
        help="the commit that is judged (default $GITHUB_SHA, else that of the git repository)",
    ),
    option("--report-only", action="store_true", help="exit 0 where the gate would exit 1, 3 or 4"),
)
"""What decides the outcome of a run."""
WORKERS = (
    option(
        "--jobs",
        type=parse_jobs,
        metavar="N",
        help="number of worker processes (default auto: one below 200 MB of traces, else one per core)",
    ),
    option(
        "--shard",
        type=_parse_shard,
        metavar="I/N",
        help="judge the I-th of N shards and write shard.zip, for `evalgate merge`",
    ),
    option(
        "--engine",
        choices=["local", "dask"],
        default="local",
        help="where workers run: on this machine, or on a Dask cluster (needs evalgate-action[dask])",
    ),
    option("--scheduler", metavar="ADDRESS", help="address of the Dask cluster (default: start one on this machine)"),
)
OUTPUTS = (
    option(
        "--output-dir", metavar="DIR", default=OUTPUT_FOLDER, help=f"where files are written (default {OUTPUT_FOLDER})"
    ),
    option("--no-baseline-zip", action="store_true", help="don't write baseline.zip (saves 10 to 40 %% of the time)"),
    option("--sarif", action="store_true", help="also write results.sarif, for code scanning"),
    option("--code-quality", metavar="PATH", help="also write GitLab's Code Quality report to this file"),
    option(
        "--also",
        type=parse_words,
        default=[],
        metavar="NAME",
        help="also leave these outputs of installed packages (entry points `evalgate.outputs`)",
    ),
    flag(Inputs.template),
    *(flag(setting) for setting in feature_settings() if setting.flag),
    option("--json", action="store_true", help="print results.json instead of the table"),
    one_of(
        option("-q", "--quiet", action="store_true", help="print the summary line only"),
        option("-v", "--verbose", action="store_true", help="print every scenario and warning"),
    ),
)
COMMANDS = {
    "run": Command(
        run,
        [
            option("configs", nargs="*", metavar="CONFIG", help="project or suite file, or a folder or glob of them"),
            *TRACE_SOURCE,
            option(
                "-k",
                "--scenario",
                action="append",
                dest="scenarios",
                metavar="GLOB",
                default=[],
                help="judge only scenarios whose id, or id[variant], matches (or alone begins so); repeatable",
            ),
            option(
                "--watch",
                action="store_true",
                help="judge again whenever suites or traces change, and print a line each time; not in CI",
            ),
            option("--failed", action="store_true", help="with --watch: after a change, judge only what did not pass"),
            *DECISION,
            *WORKERS,
            ANY_LIMITS,
            PLUGINS,
            *OUTPUTS,
        ],
        """examples:
  evalgate run                                     evalgate.yaml, else evals/**/*.yaml
  evalgate run evals/refunds.yaml --traces 'traces/**/*.json'
  evalgate run -k 'refund*'                        only these scenarios: a part of the run, not the gate
  evalgate run --baseline .evalgate/saved/baseline.zip    saved by `evalgate baseline save`
""",
        over_limit=over_limit,
    ),
    "merge": Command(
        merge,
        [
            option("shards", nargs="+", metavar="SHARDS", help="shard.zip files, folders or globs of them"),
            option(
                "--config",
                action="append",
                dest="configs",
                metavar="CONFIG",
                default=[],
                help="the suites that the shards judged, as given to `run` (repeatable)",
            ),
            *DECISION,
            ANY_LIMITS,
            PLUGINS,
            *OUTPUTS,
        ],
        """examples:
  evalgate merge shards/                            every shard.zip below a folder
  evalgate merge 'shards/*/shard.zip' --config evals/refunds.yaml --baseline main/baseline.zip
""",
    ),
}
