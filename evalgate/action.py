"""Entry point of the GitHub Action: environment in, exit code out."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from evalgate.adapters.github.workflow_step import WorkflowStep
from evalgate.application.action.step_outputs import UNFINISHED, unset
from evalgate.errors import InvalidInput, JudgeCrashed
from evalgate.models.github.annotation import Annotation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from evalgate.adapters.github.connection import RequestDeadline
    from evalgate.adapters.sandbox.preforked import ReadyJudge
    from evalgate.bootstrap.judge_context import JobJudge
    from evalgate.settings.settings import Settings

BUG = 70
ENDED_BY_SIGNAL = 128
MOST_PROBLEMS = 50


def main(judge: ReadyJudge | None = None) -> int:
    """Runs the gate for the job of this process. Never raises: every outcome is an exit code.

    `judge` is a judge process that was started before this process held any secrets.
    """
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    step = WorkflowStep(sys.stdout, os.getenv("GITHUB_OUTPUT", ""), os.getenv("GITHUB_STEP_SUMMARY", ""))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, partial(_end, step))
    from evalgate.bootstrap import process

    process.settle_python()
    try:
        return run(os.environ, step, ready=judge)
    finally:
        if judge is not None:
            judge.dismiss()


def run(
    environ: Mapping[str, str],
    step: WorkflowStep,
    budget: RequestDeadline | None = None,
    *,
    is_apart: bool = True,
    ready: ReadyJudge | None = None,
) -> int:
    """Runs the gate once and sets all step outputs however it ends. `deadline` bounds requests to GitHub.

    With `is_sandboxed` the judge runs in a separate process: `ready_judge` if given, else a new one.
    """
    try:
        return _run(environ, step, budget, is_apart=is_apart, ready=ready)
    finally:
        step.outputs(unset(step.told))


def _run(
    environ: Mapping[str, str],
    step: WorkflowStep,
    budget: RequestDeadline | None,
    *,
    is_apart: bool,
    ready: ReadyJudge | None,
) -> int:
    try:
        return _gate(environ, step, budget, is_apart=is_apart, ready=ready)
    except InvalidInput as mistake:
        return _refuse(environ, step, mistake)
    except Exception as bug:  # noqa: BLE001  (the only place that handles bugs of EvalGate)
        for line in report(bug):
            step.log(line)
        step.annotate([Annotation("error", "EvalGate", f"a bug of EvalGate: {_kind(bug)}; see the log")])
        return _unfinished(step, BUG)


def _gate(
    environ: Mapping[str, str],
    step: WorkflowStep,
    budget: RequestDeadline | None,
    *,
    is_apart: bool,
    ready: ReadyJudge | None,
) -> int:
    from evalgate.application.action.run_gate import run_gate
    from evalgate.bootstrap import gate, judge_context
    from evalgate.bootstrap.private_temp_dir import folder_of_our_own
    from evalgate.settings.settings import Settings

    settings = Settings.from_environ(environ)
    _hide_secrets(settings, environ, step)
    with folder_of_our_own(settings.job.temp) as downloads:
        judge = (
            _judge(settings, step, downloads, ready)
            if is_apart
            else judge_context.make_judge_context(settings)
        )
        if settings.approves:
            from evalgate.application.action.approve_from_comment import approve
            from evalgate.bootstrap import approving

            to_do = approving.approve_task(settings)
            return approve(to_do, approving.approve_world(settings, step, judge, downloads, budget))
        if settings.inputs.mode == "publish":
            from evalgate.application.action.publish import publish
            from evalgate.bootstrap import publishing

            task = publishing.publish_task(settings)
            return publish(task, publishing.publish_world(settings, step, judge, downloads, budget))
        return run_gate(
            gate.action_task(settings), gate.action_world(settings, step, judge, downloads, budget)
        )


def _judge(settings: Settings, step: WorkflowStep, downloads: str, ready: ReadyJudge | None) -> JobJudge:
    """Makes a judge that runs in a separate process."""
    from evalgate.bootstrap.judge_context import make_judge_context
    from evalgate.bootstrap.sandboxed_judge import SandboxedJudge

    log = step.log if settings.inputs.debug or settings.job.debug else None
    return SandboxedJudge(make_judge_context(settings), Path(downloads), log, ready)


def _hide_secrets(settings: Settings, environ: Mapping[str, str], step: WorkflowStep) -> None:
    """Has the runner mask tokens it may not know, and redacts all secrets of this job in every output."""
    from evalgate.measures.redaction.redact import hide
    from evalgate.settings.secret_variables import secret_values
    from evalgate.settings.store_path import secrets_in

    tokens = (settings.inputs.github_token, settings.job.runtime_token)
    own = [secret for secret in (*tokens, *secrets_in(settings.inputs.store_url)) if secret]
    for secret in own:
        step.hide(secret)
    hide([*own, *secret_values(environ)])


def _refuse(environ: Mapping[str, str], step: WorkflowStep, mistake: InvalidInput) -> int:
    """Reports each problem of invalid settings, and writes results.json if there is a workspace."""
    from evalgate.bootstrap import gate

    told = [Annotation("error", "EvalGate", str(problem)) for problem in mistake.problems[:MOST_PROBLEMS]]
    step.annotate(told)
    for problem in mistake.problems[:MOST_PROBLEMS]:
        step.log(f"error: {problem}")
    path = gate.leave_invalid(environ.get("GITHUB_WORKSPACE", ""), mistake)
    step.outputs({"verdict": "invalid", "exit-code": str(mistake.exit_code), "results-path": path})
    return mistake.exit_code


def _unfinished(step: WorkflowStep, code: int) -> int:
    step.outputs({**UNFINISHED, "exit-code": str(code)})
    return code


def report(bug: Exception) -> list[str]:
    """Lines to paste into a bug report: where the error happened, without any input data."""
    import platform

    from evalgate.bootstrap.process import places_of
    from evalgate.version import __version__

    places = bug.places if isinstance(bug, JudgeCrashed) else places_of(bug)
    versions = f"evalgate {__version__}, Python {platform.python_version()}"
    first = f"EvalGate has a bug: {_kind(bug)} ({versions}). Please report these lines:"
    return [first, *(f"  {place}" for place in places)]


def _kind(bug: Exception) -> str:
    return bug.kind if isinstance(bug, JudgeCrashed) else type(bug).__name__


def _end(step: WorkflowStep, number: int, _: FrameType | None) -> NoReturn:
    """Ends a cancelled run and keeps the outputs set so far.

    It exits instead of raising: an exception while a compiled library is loading may crash it. It blocks
    further signals, so that a second one does not interrupt what the first one writes.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
    _in_passing("evalgate.adapters.sandbox.judge_process", "end_all")
    code = int(step.told["exit-code"]) if "verdict" in step.told else ENDED_BY_SIGNAL + number
    if "verdict" not in step.told:
        _unfinished(step, code)
    step.outputs(unset(step.told))
    _in_passing("evalgate.bootstrap.private_temp_dir", "remove_all")
    os._exit(code)


def _in_passing(module: str, ending: str) -> None:
    """Calls a cleanup function of a module if that module was loaded."""
    loaded = sys.modules.get(module)
    if hasattr(loaded, ending):
        getattr(loaded, ending)()
