"""Builds the sources that shell and job share; `root` is the folder that a job must not leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.settings.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.adapters.archives.baseline_zip import BaselineZips
    from evalgate.adapters.files.project_files import FileFingerprints
    from evalgate.adapters.files.workspace import Workspace
    from evalgate.adapters.formats.core.format import TraceLimits
    from evalgate.adapters.formats.open.trace_files import TraceFiles
    from evalgate.adapters.suites import SuiteFiles
    from evalgate.models.results.results_sections import CalibrationDoc
    from evalgate.ports import MutationComparer, PriceTable
    from evalgate.ports.store import GoldenStore


def build_workspace(cwd: str, root: str | None = None) -> Workspace:
    """The file system of a shell, or with `root` that of a job, which refuses everything outside it."""
    from evalgate.adapters.files.workspace import Workspace
    from evalgate.bootstrap.process import current_file

    return Workspace(root, cwd, on_open=current_file)


def build_suite_files(
    cwd: str, root: str | None = None, bounds: Limits | None = None, store: Callable[[], GoldenStore] | None = None
) -> SuiteFiles:
    """The source of suites; `store` opens the store with goldens that suites may name."""
    from evalgate.adapters.suites import SuiteFiles

    return SuiteFiles(build_workspace(cwd, root), (bounds or Limits()).suite, store)


def build_trace_files(cwd: str, root: str | None = None, bounds: Limits | None = None) -> TraceFiles:
    """The source of traces."""
    from evalgate.adapters.formats.open.trace_files import TraceFiles

    if root is None:
        allow_packages()
    return TraceFiles(build_workspace(cwd, root), build_trace_limits(bounds or Limits()))


def allow_packages() -> None:
    """Lets a shell read the formats of installed packages."""
    from evalgate.adapters.formats.open.installed import allow_installed_formats

    allow_installed_formats()


def build_trace_limits(bounds: Limits) -> TraceLimits:
    """The limits on reading traces."""
    from evalgate.adapters.formats.core.format import TraceLimits

    return TraceLimits(
        record_bytes=bounds.record,
        whole_file_bytes=bounds.together,
        unpacked_file_bytes=bounds.unpacked,
        total_bytes=bounds.traces,
        messages=bounds.messages,
    )


def build_baseline_files(cwd: str, root: str | None = None) -> BaselineZips:
    """Reads and writes baselines."""
    from evalgate.adapters.archives.baseline_zip import BaselineZips

    return BaselineZips(build_workspace(cwd, root))


def build_fingerprints(cwd: str, root: str | None = None) -> FileFingerprints:
    """Computes fingerprints of files."""
    from evalgate.adapters.files.project_files import FileFingerprints

    return FileFingerprints(build_workspace(cwd, root))


def apply_project_redaction(cwd: str) -> None:
    """Activates the redaction of the working directory's project file in this process."""
    from evalgate.adapters.suites.project_file import apply_project_redaction as hide

    hide(build_workspace(cwd))


def find_price_list() -> PriceTable | None:
    """The price list of models, None if the extra is not installed."""
    from evalgate.adapters.price_list import find_price_list

    return find_price_list()


def make_mutation_comparer(*of: Any) -> MutationComparer:
    """The comparer of the feature that has one; only a run that asks for it loads it."""
    from evalgate.bootstrap.features import load_port

    comparer: MutationComparer = load_port("mutation_comparer")(*of)
    return comparer


def calibrate_history(*of: Any) -> CalibrationDoc | None:
    """How often the gate is red by chance, by the feature that finds it; only a run with a long history loads it."""
    from evalgate.bootstrap.features import load_port

    found: CalibrationDoc | None = load_port("calibrate_history")(*of)
    return found
