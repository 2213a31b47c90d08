"""The Action's front door: environment in, exit code out."""

from __future__ import annotations

import base64
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from evalgate.adapters.github.commands import mask
from evalgate.adapters.github.step import Step
from evalgate.application.step_outputs import UNFINISHED
from evalgate.errors import InvalidInput
from evalgate.models.annotation import Annotation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from evalgate.settings.settings import Settings

BUG = 70
ENDED_BY_SIGNAL = 128
FRAMES = 6
MOST_PROBLEMS = 50


def main() -> int:
    """Runs the gate for the job this process belongs to. Nothing escapes but an exit code."""
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    return run(
        os.environ, Step(sys.stdout, os.getenv("GITHUB_OUTPUT", ""), os.getenv("GITHUB_STEP_SUMMARY", ""))
    )


def run(environ: Mapping[str, str], step: Step) -> int:
    """One run of the gate. Outputs are set however it ends."""
    try:
        return _gate(environ, step)
    except InvalidInput as mistake:
        return _refuse(environ, step, mistake)
    except SystemExit as end:  # a signal: what is known by now stands
        if "verdict" in step.told:
            return int(step.told["exit-code"])
        return _unfinished(step, end.code if isinstance(end.code, int) else BUG)
    except Exception as bug:  # noqa: BLE001  (the one place where a bug of ours ends)
        for line in report(bug):
            step.log(line)
        step.annotate(
            [Annotation("error", "EvalGate", f"a bug of EvalGate: {type(bug).__name__}; see the log")]
        )
        return _unfinished(step, BUG)


def _gate(environ: Mapping[str, str], step: Step) -> int:
    from evalgate import bootstrap
    from evalgate.application.gate_in_action import gate_in_action
    from evalgate.settings.settings import Settings

    settings = Settings.from_environ(environ)
    _hide_secrets(settings, step)
    folder = settings.job.temp if Path(settings.job.temp or "/nowhere").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="evalgate-", dir=folder) as downloads:
        return gate_in_action(
            bootstrap.action_task(settings), bootstrap.action_world(settings, step, downloads)
        )


def _hide_secrets(settings: Settings, step: Step) -> None:
    for secret in filter(None, (settings.inputs.github_token, settings.job.runtime_token)):
        step.command(mask(secret))
        step.command(mask(base64.b64encode(secret.encode()).decode()))


def _refuse(environ: Mapping[str, str], step: Step, mistake: InvalidInput) -> int:
    """Settings that can't be meant: each told, and results.json left where there is a place for it."""
    from evalgate import bootstrap

    told = [Annotation("error", "EvalGate", str(problem)) for problem in mistake.problems[:MOST_PROBLEMS]]
    step.annotate(told)
    for problem in mistake.problems[:MOST_PROBLEMS]:
        step.log(f"error: {problem}")
    path = bootstrap.leave_invalid(environ.get("GITHUB_WORKSPACE", ""), mistake)
    step.outputs({"verdict": "invalid", "exit-code": str(mistake.exit_code), "results-path": path})
    return mistake.exit_code


def _unfinished(step: Step, code: int) -> int:
    step.outputs({**UNFINISHED, "exit-code": str(code)})
    return code


def report(bug: Exception) -> list[str]:
    """A few lines to paste into a report: where it happened, and nothing that was read."""
    import platform
    import traceback

    from evalgate.version import __version__

    frames = traceback.extract_tb(bug.__traceback__)[-FRAMES:]
    places = [f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames]
    versions = f"evalgate {__version__}, Python {platform.python_version()}"
    return [f"EvalGate has a bug: {type(bug).__name__} ({versions}). Please report these lines:", *places]


def _end(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(ENDED_BY_SIGNAL + number)
