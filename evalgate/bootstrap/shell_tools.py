"""Builds what the shell's commands work with; the paths that a user names are trusted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, TextIO

from evalgate.bootstrap.sources import (
    allow_packages,
    build_baseline_files,
    build_fingerprints,
    build_suite_files,
    build_trace_files,
    build_trace_limits,
    build_workspace,
    calibrate_history,
    find_price_list,
    make_mutation_comparer,
)
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.application.judge.backtest import BacktestTools
    from evalgate.application.judge.judge import Tools
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.bootstrap.evaluation_pools import ParallelOptions
    from evalgate.models.approvals.approval import ApprovalFile
    from evalgate.models.github import TemplateFile
    from evalgate.ports import Progress
    from evalgate.ports.store import GoldenStore
    from evalgate.settings.limits import Limits
    from evalgate.suite.models import Configuration

RESULTS = "results.json"
BASELINE_FILES = ("baseline.zip", "manifest.json", RESULTS)
"""What holds a run in a folder, the file with the traces first; a manifest is that of a baseline unpacked there."""


class Place(NamedTuple):
    """Where a run reads and writes; `epoch` is the value of SOURCE_DATE_EPOCH, which is its time."""

    cwd: str
    output_dir: str
    epoch: str | None = None


def build_shell_tools(
    place: Place,
    bounds: Limits,
    *,
    progress_to: TextIO | None,
    parallel: ParallelOptions | None = None,
    store: Callable[[], GoldenStore] | None = None,
) -> Tools:
    """The judge's tools in a shell.

    `parallel` chooses the workers, None for this process only; `store` opens the store with goldens.
    """
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.files.disk_spool import DiskSpool
    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.adapters.files.wrapped_files import CachedFiles
    from evalgate.adapters.formats.open.trace_files import TraceFiles
    from evalgate.adapters.progress import SilentProgress, progress_for
    from evalgate.application.judge.judge import Tools
    from evalgate.bootstrap.evaluation_pools import ConfiguredPools, choose_files
    from evalgate.bootstrap.outputs import load_any_output
    from evalgate.bootstrap.process import current_file

    allow_packages()
    cwd = place.cwd
    files, limits = CachedFiles(choose_files(build_workspace(cwd), parallel)), build_trace_limits(bounds)
    progress: Progress = SilentProgress()
    if progress_to is not None:
        progress = progress_for(progress_to, quiet=False, share=files.read_fraction)
    return Tools(
        build_suite_files(cwd, None, bounds, store),
        TraceFiles(files, limits),
        build_baseline_files(cwd),
        OutputFolder(place.output_dir, cwd),
        SystemClock(place.epoch),
        current_file.wrap_progress(progress),
        DiskSpool,
        load_any_output,
        make_mutation_comparer,
        find_price_list(),
        build_fingerprints(cwd),
        None if parallel is None else ConfiguredPools(files, limits, parallel),
        calibrate=calibrate_history,
    )


def build_backtest_tools(cwd: str, store: Callable[[], GoldenStore], *, progress_to: TextIO) -> BacktestTools:
    """The tools of a backtest in a shell; `store` opens the store with goldens."""
    from evalgate.adapters.formats.open.stored_traces import read_stored_traces
    from evalgate.adapters.progress import progress_for
    from evalgate.application.judge.backtest import BacktestTools

    return BacktestTools(
        build_suite_files(cwd, store=store),
        build_baseline_files(cwd),
        read_stored_traces,
        progress_for(progress_to, quiet=False),
        find_price_list(),
    )


def use_plugin_evaluators(modules: Sequence[str], cwd: str) -> None:
    """Lets suites use plugin evaluators of the modules and of installed packages. Never in a job."""
    from evalgate.adapters.plugins import PluginEvaluators
    from evalgate.evaluators.core.registry import use_plugins

    use_plugins(PluginEvaluators(modules, cwd))


def check_formats(configuration: Configuration) -> None:
    """Raises SettingError for a suite's `format` that does not exist."""
    from evalgate.application.evaluation.run_checks import format_problems

    problems = format_problems(configuration, build_trace_files("."))
    if problems:
        raise SettingError(*problems)


def build_run_request(configs: Sequence[str], baseline: str, cwd: str, commit: str | None) -> JudgeRequest:
    """The request of a run in a shell, before its options; `baseline` is the path of one, or `none`."""
    from evalgate.application.messages.request import (
        ApprovalInputs,
        BaselinePlan,
        JudgeRequest,
        SourceChoice,
    )
    from evalgate.models.comparison.comparison import BaselineInfo
    from evalgate.ports.outputs import RunSubject

    path = None if baseline == "none" else find_baseline(baseline, cwd)
    info = BaselineInfo("given", path=path) if path is not None else None
    return JudgeRequest(
        SourceChoice(configs),
        approvals=ApprovalInputs(read_approvals(cwd)),
        subject=RunSubject(commit),
        baseline=BaselinePlan(info, is_required=True),
    )


def find_baseline(path: str, cwd: str) -> str:
    """The file of a folder that holds a run as a baseline, best with its traces; any other path as it is."""
    for name in BASELINE_FILES if path else ():
        inner = os.path.join(path, name)  # noqa: PTH118  (keeps the user's spelling)
        if is_file(inner, cwd):
            return inner
    return path


def find_run(path: str, cwd: str) -> str:
    """The `results.json` of a RUN, a folder, else what it holds as a baseline; a file as it is.

    Raises SettingError without a run there. An empty path is left to its reader, which names it.
    """
    inner = os.path.join(path, RESULTS)  # noqa: PTH118  (keeps the user's spelling)
    return inner if path and is_file(inner, cwd) else find_stored_run(path, cwd)


def is_file(path: str, cwd: str) -> bool:
    """Whether a path of the user is that of a file."""
    return os.path.isfile(os.path.join(cwd, path))  # noqa: PTH113, PTH118


def find_stored_run(path: str, cwd: str) -> str:
    """As `find_run`, but the file with the traces and suites of the run before its results, also for `results.json`."""
    folder, name = os.path.split(path)
    found = find_baseline(folder or "." if name == RESULTS else path, cwd)
    place = os.path.join(cwd, found)  # noqa: PTH118
    if found and (os.path.isdir(place) or not os.path.lexists(place)):  # noqa: PTH112
        raise SettingError(Problem(f"there is no finished run at {path}", None, "run `evalgate run` first"))
    return found


def read_template(path: str, cwd: str) -> TemplateFile:
    """Reads a user's comment template from a named file."""
    from evalgate.adapters.files.project_files import LocalTemplate

    return LocalTemplate(build_workspace(cwd), path).read()


def read_approvals(cwd: str) -> ApprovalFile | None:
    """The approvals file of the working directory, which a shell trusts; None if it has none."""
    from evalgate.adapters.files.project_files import LocalApprovals

    return LocalApprovals(build_workspace(cwd)).read()


def require_other_folder(folder: str, saved: str, cwd: str) -> None:
    """Raises SettingError if a run would write into the folder of the saved baseline, or has none to write to."""
    from os.path import realpath
    from pathlib import Path

    if not folder:
        raise SettingError("--output-dir is empty")
    if realpath(Path(cwd, folder)) == realpath(Path(cwd, saved).parent):
        message = f"--output-dir {folder} is where `evalgate baseline save` writes, and no run"
        raise SettingError(Problem(message, None, "choose another folder"))


def make_output_folder(path: str, cwd: str) -> None:
    """Makes the folder of a file that is written there by default."""
    from evalgate.adapters.files.output_folder import OutputFolder

    folder, _, name = path.rpartition("/")
    OutputFolder(folder, cwd).path(name)
