"""Reports a job that judged nothing, also where its settings are invalid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.features import all_settings
from evalgate.bootstrap.job import report_failure
from evalgate.bootstrap.private_temp_dir import private_temp_dir
from evalgate.errors import SettingError
from evalgate.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.adapters.http import RequestDeadline
    from evalgate.errors import EvalGateError
    from evalgate.ports import StepOutput

REPORTING = (
    *("github-token", "comment-key", "matrix", "legs"),
    *("comment", "check-run", "job-summary", "mode", "upload-report"),
)
"""The inputs that say where a report is posted."""


def report_failed_job(
    error: EvalGateError, step: StepOutput, environ: Mapping[str, str], deadline: RequestDeadline | None
) -> None:
    """Reports on the pull request that its commit was not judged, and why, so that no older report stands for it.

    If the job itself can't be read, only its log has the reason.
    """
    settings = _find_settings(environ)
    if settings is None or settings.is_approving or settings.inputs.mode == "publish":
        return
    with private_temp_dir(settings.job.temp) as downloads:
        report_failure(error, settings, step, downloads, environ, deadline)


def _find_settings(environ: Mapping[str, str]) -> Settings | None:
    """The settings with those inputs that are valid; None if the job itself can't be read."""
    return _read(environ, [name for name in REPORTING if _read(environ, [name]) is not None])


def _read(environ: Mapping[str, str], inputs: Sequence[str]) -> Settings | None:
    kept = {f"INPUT_{name.upper()}" for name in inputs}
    plain = {name: value for name, value in environ.items() if not name.startswith("INPUT_") or name in kept}
    try:
        return Settings.from_environ(plain, all_settings())
    except SettingError:
        return None
