"""Writes exports to files, and reads exports and files of goldens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.sources import build_workspace
from evalgate.errors import Location, Problem, SettingError, SuiteError, TraceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.features.store.reporting.dataset.evaluation_jsonl import ReadEvaluations
    from evalgate.models.run.golden import Golden
    from evalgate.suite.diagnostics import Document

MOST_BYTES = 256_000_000


def export(parts: Iterable[bytes], path: str, suffix: str, *, cwd: str, source_date_epoch: str | None) -> str:
    """Writes an export atomically; returns its path, in a folder a name made of the time. Raises SettingError."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.file_writer import open_named
    from evalgate.adapters.files.output_folder import OutputFolder, is_folder
    from evalgate.features.store.reporting.dataset.golden_document import format_file_time

    if is_folder(path, cwd):
        name = f"evaluation_{format_file_time(SystemClock(source_date_epoch).now())}.{suffix}"
        OutputFolder(path, cwd).path(name)  # makes the folder
        path = f"{path.rstrip('/')}/{name}"
    with open_named(path, cwd) as file:
        file.writelines(parts)
    return path


def read_export(path: str, cwd: str) -> ReadEvaluations:
    """Reads an export by its file extension; raises SettingError, RefusedPath or OverLimit."""
    content = build_workspace(cwd).read(path, MOST_BYTES, what="export")
    if path.endswith(".jsonl"):
        from evalgate.features.store.reporting.dataset.evaluation_jsonl import read_evaluation_lines

        return read_evaluation_lines(content.split(b"\n"), path)
    if not path.endswith(".csv"):
        hint = "for goldens use `evalgate store goldens import`"
        raise SettingError(Problem("the name of an export must end in .jsonl or .csv", Location(path), hint))
    from evalgate.features.store.reporting.dataset.evaluation_csv import read_evaluation_csv

    try:
        return read_evaluation_csv(content.decode("utf-8-sig"), path)
    except UnicodeDecodeError:
        raise SettingError(Problem("an export must be UTF-8 text", Location(path))) from None


def load_goldens(patterns: Sequence[str], cwd: str) -> Sequence[Golden]:
    """The goldens in files and globs. Raises SuiteError with every error, SettingError or OverLimit."""
    from evalgate.adapters.formats.adk import ADK_EVALSET
    from evalgate.adapters.suites.golden_files import GoldenFiles
    from evalgate.features.store.application.goldens.golden_import import goldens_in

    golden_documents: list[Document] = []
    found: list[Golden] = []
    for document in GoldenFiles(build_workspace(cwd)).load_named(patterns):
        if ADK_EVALSET.claims(document.value):
            found += _load_expected(document)
        else:
            golden_documents.append(document)
    return [*found, *goldens_in(golden_documents)]


def _load_expected(document: Document) -> Sequence[Golden]:
    from evalgate.adapters.formats.adk.evals import expected_traces
    from evalgate.features.store.application.goldens.golden_import import expected_goldens

    try:
        return expected_goldens(expected_traces(document.value))
    except TraceError as error:
        reasons = "; ".join(problem.message for problem in error.problems)
        raise SuiteError(Problem(reasons, document.locate(()))) from None
