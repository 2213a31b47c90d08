"""Entry point of the GitHub Action: environment in, exit code out."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from evalgate.adapters.github.workflow_step import WorkflowStep
from evalgate.application.action.step_outputs import UNFINISHED, empty_outputs
from evalgate.errors import EvalGateError, InvalidInput, JudgeCrashed
from evalgate.models.github import Annotation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from evalgate.adapters.http import RequestDeadline
    from evalgate.adapters.sandbox.judge_process import ReadyJudge
    from evalgate.bootstrap.judge_context import JobJudge
    from evalgate.settings.settings import Settings

BUG = 70
ENDED_BY_SIGNAL = 128
MAX_PROBLEMS = 50
LOG = "the log of this job has the lines to report"


def main(judge: ReadyJudge | None = None) -> int:
    """Runs the gate for the job of this process. Never raises: every outcome is an exit code.

    `judge` is a judge process that was started before this process held any secrets.
    """
    console = sys.stdout or StringIO()  # None if it was closed
    if isinstance(console, TextIOWrapper):
        console.reconfigure(encoding="utf-8", errors="backslashreplace")
    step = WorkflowStep(console, os.getenv("GITHUB_OUTPUT", ""), os.getenv("GITHUB_STEP_SUMMARY", ""))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, partial(_end_on_signal, step))
    from evalgate.bootstrap import process

    process.configure_python()
    try:
        return run(os.environ, step, ready_judge=judge)
    finally:
        if judge is not None:
            judge.dismiss()


def run(
    environ: Mapping[str, str],
    step: WorkflowStep,
    deadline: RequestDeadline | None = None,
    *,
    is_sandboxed: bool = True,
    ready_judge: ReadyJudge | None = None,
) -> int:
    """Runs the gate once and sets all step outputs however it ends; 70 if they can't be written.

    `deadline` bounds requests to GitHub. With `is_sandboxed` the judge runs in a separate process: `ready_judge`
    if given, else a new one.
    """
    try:
        code = _run_mode(environ, step, deadline, is_sandboxed=is_sandboxed, ready_judge=ready_judge)
    except InvalidInput as error:
        code = _report_invalid_input(environ, step, error)
        _post_failure(error, environ, step, deadline)
    except Exception as bug:  # noqa: BLE001  (the only place that handles bugs in EvalGate)
        for line in describe_bug(bug):
            step.log(line)
        step.annotate([Annotation("error", "EvalGate", f"a bug in EvalGate: {_exception_kind(bug)}; see the log")])
        code = _report_unfinished(step, BUG)
        _post_failure(EvalGateError(f"a {_exception_kind(bug)} was raised; {LOG}"), environ, step, deadline)
    finally:
        step.outputs(empty_outputs(step.values))
    return BUG if step.has_lost_outputs else code


def _run_mode(
    environ: Mapping[str, str],
    step: WorkflowStep,
    deadline: RequestDeadline | None,
    *,
    is_sandboxed: bool,
    ready_judge: ReadyJudge | None,
) -> int:
    from evalgate.bootstrap.features import all_settings
    from evalgate.bootstrap.job import run_job
    from evalgate.bootstrap.judge_context import make_judge_context
    from evalgate.bootstrap.private_temp_dir import private_temp_dir
    from evalgate.settings.settings import Settings

    settings = Settings.from_environ(environ, all_settings())
    _hide_secrets(settings, environ, step)
    with private_temp_dir(settings.job.temp) as downloads:
        judge: JobJudge = make_judge_context(settings)
        if is_sandboxed:
            from evalgate.bootstrap.sandboxed_judge import ELSEWHERE, SandboxedJudge

            if sys.platform != "linux":
                step.annotate([Annotation("notice", "EvalGate", ELSEWHERE)])
            log = step.log if settings.logs_details else None
            judge = SandboxedJudge(make_judge_context(settings), Path(downloads), log, ready_judge)
        return run_job(settings, step, judge, downloads, environ, deadline)


def _hide_secrets(settings: Settings, environ: Mapping[str, str], step: WorkflowStep) -> None:
    """Has the runner mask tokens it may not know, and redacts all secrets of this job in every output."""
    from evalgate.bootstrap.features import all_settings
    from evalgate.measures.redaction.redact import hide_secrets
    from evalgate.settings.secret_variables import find_secret_values

    tokens = (settings.inputs.github_token, settings.job.runtime_token)
    found = [secret for each in all_settings() for secret in each.find_secrets(settings.inputs.values)]
    secrets = [secret for secret in (*tokens, *found) if secret]
    for secret in secrets:
        step.hide(secret)
    hide_secrets([*secrets, *find_secret_values(environ)])


def _report_invalid_input(environ: Mapping[str, str], step: WorkflowStep, error: InvalidInput) -> int:
    """Reports each problem of invalid settings, and writes results.json if there is a workspace."""
    from evalgate.bootstrap.job import write_invalid_results

    annotations = [Annotation("error", "EvalGate", str(problem)) for problem in error.problems[:MAX_PROBLEMS]]
    step.annotate(annotations)
    for problem in error.problems[:MAX_PROBLEMS]:
        step.log(f"error: {problem}")
    path = write_invalid_results(environ.get("GITHUB_WORKSPACE", ""), error)
    step.outputs({"verdict": "invalid", "exit-code": str(error.exit_code), "results-path": path})
    return error.exit_code


def _post_failure(
    error: EvalGateError, environ: Mapping[str, str], step: WorkflowStep, deadline: RequestDeadline | None
) -> None:
    """Replaces what the pull request shows of an older commit; whatever goes wrong here is only logged."""
    from evalgate.bootstrap.failed_job import report_failed_job

    try:
        report_failed_job(error, step, environ, deadline)
    except Exception as trouble:  # noqa: BLE001  (the exit code stands already)
        step.log(f"the pull request shows no report of this: {_exception_kind(trouble)}")


def _report_unfinished(step: WorkflowStep, code: int) -> int:
    step.outputs({**UNFINISHED, "exit-code": str(code)})
    return code


def describe_bug(bug: Exception) -> list[str]:
    """Lines to paste into a bug report: where the error happened, without any input data."""
    import platform

    from evalgate.bootstrap.process import describe_frames
    from evalgate.version import __version__

    places = bug.places if isinstance(bug, JudgeCrashed) else describe_frames(bug)
    versions = f"evalgate {__version__}, Python {platform.python_version()}"
    first = f"EvalGate has a bug: {_exception_kind(bug)} ({versions}). Please report these lines:"
    return [first, *(f"  {place}" for place in places)]


def _exception_kind(bug: Exception) -> str:
    return bug.kind if isinstance(bug, JudgeCrashed) else type(bug).__name__


def _end_on_signal(step: WorkflowStep, number: int, _: FrameType | None) -> NoReturn:
    """Ends a cancelled run; outputs that are already set remain.

    It exits instead of raising: an exception while a compiled library is loading may crash it. It blocks
    further signals, so that a second one does not interrupt what the first one writes.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
    _call_if_loaded("evalgate.adapters.sandbox.judge_process", "end_all")
    code = int(step.values["exit-code"]) if "verdict" in step.values else ENDED_BY_SIGNAL + number
    if "verdict" not in step.values:
        _report_unfinished(step, code)
    step.outputs(empty_outputs(step.values))
    _call_if_loaded("evalgate.bootstrap.private_temp_dir", "remove_all")
    os._exit(code)


def _call_if_loaded(module: str, function: str) -> None:
    loaded = sys.modules.get(module)
    if hasattr(loaded, function):
        getattr(loaded, function)()
