"""The one place that picks adapters and joins them to the use cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.adapters.baseline_zip import BaselineZips
    from evalgate.adapters.suite_files import SuiteFiles
    from evalgate.adapters.trace_formats.source import TraceFiles
    from evalgate.adapters.workspace import Workspace
    from evalgate.application.judge import Tools
    from evalgate.suite.models import Configuration

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes that are read at most. `traces` holds for a whole run; None is no limit."""

    suite: int = MB
    record: int = 25 * MB
    traces: int | None = None


LIMITS: Mapping[str, str] = {
    "suite": "a suite file, default 1MB",
    "record": "one trace record, or a document of several, default 25MB",
    "traces": "all traces of a run together, default none in a shell, 2GB in the Action",
}
_UNITS = {"KB": 1_000, "MB": MB, "GB": 1_000 * MB, "B": 1, "": 1}
IN_ACTION = Limits(traces=2_000 * MB)


def limits(given: Sequence[str], base: Limits | None = None) -> Limits:
    """Limits from `name=value` texts such as `record=50MB`; raises SettingError with every mistake."""
    from dataclasses import replace

    values: dict[str, int] = {}
    problems = []
    for text in given:
        name, _, value = text.partition("=")
        size = _size(value)
        if name not in LIMITS:
            problems.append(Problem(f"unknown limit {name!r}", None, f"known: {', '.join(LIMITS)}"))
        elif size is None:
            problems.append(Problem(f"limit {name}: {value!r} is no size", None, "for example record=50MB"))
        else:
            values[name] = size
    if problems:
        raise SettingError(*problems)
    changed: Callable[..., Limits] = replace
    return changed(base or Limits(), **values)


def _size(text: str) -> int | None:
    digits = text.rstrip("BKMGbkmg")
    unit = _UNITS.get(text[len(digits) :].upper())
    if unit is None or not digits.isascii() or not digits.isdigit() or len(digits) > 15:  # noqa: PLR2004
        return None
    return int(digits) * unit or None


def workspace(cwd: str, root: str | None = None) -> Workspace:
    """The file system: a shell's, or a job's with everything outside `root` refused."""
    from evalgate.adapters.workspace import Workspace

    return Workspace(root, cwd)


def suite_files(cwd: str, root: str | None = None, bounds: Limits | None = None) -> SuiteFiles:
    """Where suites come from."""
    from evalgate.adapters.suite_files import SuiteFiles

    return SuiteFiles(workspace(cwd, root), (bounds or Limits()).suite)


def trace_files(cwd: str, root: str | None = None, bounds: Limits | None = None) -> TraceFiles:
    """Where traces come from."""
    from evalgate.adapters.trace_formats.limits import TraceLimits
    from evalgate.adapters.trace_formats.source import TraceFiles

    bounds = bounds or Limits()
    return TraceFiles(
        workspace(cwd, root), TraceLimits(record_bytes=bounds.record, total_bytes=bounds.traces)
    )


def baseline_files(cwd: str, root: str | None = None) -> BaselineZips:
    """Where baselines are read and written."""
    from evalgate.adapters.baseline_zip import BaselineZips

    return BaselineZips(workspace(cwd, root))


def check_formats(configuration: Configuration) -> None:
    """Raises SettingError for a suite's `format` that does not exist."""
    from evalgate.application.judge import format_problems

    problems = format_problems(configuration, trace_files("."))
    if problems:
        raise SettingError(*problems)


def shell_tools(
    cwd: str,
    output_dir: str,
    bounds: Limits,
    *,
    source_date_epoch: str | None,
    progress_to: TextIO | None,
) -> Tools:
    """What the judge works with in a shell, where what a person names is trusted."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.export_files import OutputFolder
    from evalgate.adapters.terminal import Quiet, progress_for
    from evalgate.application.judge import Tools

    return Tools(
        suite_files(cwd, None, bounds),
        trace_files(cwd, None, bounds),
        baseline_files(cwd),
        OutputFolder(output_dir),
        SystemClock(source_date_epoch),
        Quiet() if progress_to is None else progress_for(progress_to, quiet=False),
    )


def action_tools(
    root: str, cwd: str, output_dir: str, bounds: Limits, *, source_date_epoch: str | None
) -> Tools:
    """What the judge works with in a job: nothing outside the workspace `root`, no symbolic links."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.export_files import OutputFolder
    from evalgate.adapters.terminal import Quiet
    from evalgate.application.judge import Tools

    return Tools(
        suite_files(cwd, root, bounds),
        trace_files(cwd, root, bounds),
        baseline_files(cwd),  # the artifact lies in the runner's own folder
        OutputFolder(output_dir, root),
        SystemClock(source_date_epoch),
        Quiet(),
    )
