"""Loads goldens from named files: EvalGate's format, or eval sets of ADK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.sources import build_workspace
from evalgate.errors import Problem, SuiteError, TraceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.run.golden import Golden
    from evalgate.suite.diagnostics import Document


def load_goldens(patterns: Sequence[str], cwd: str) -> Sequence[Golden]:
    """The goldens in files and globs. Raises SuiteError with every mistake, SettingError or OverLimit."""
    from evalgate.adapters.formats.adk import ADK_EVALSET
    from evalgate.adapters.suites.golden_files import GoldenFiles
    from evalgate.application.goldens.golden_import import goldens_in

    golden_documents: list[Document] = []
    found: list[Golden] = []
    for document in GoldenFiles(build_workspace(cwd)).load_named(patterns):
        if ADK_EVALSET.claims(document.value):
            found += _load_expected(document)
        else:
            golden_documents.append(document)
    return [*found, *goldens_in(golden_documents)]


def _load_expected(document: Document) -> Sequence[Golden]:
    from evalgate.adapters.formats.adk.evalset_reader import expected_traces
    from evalgate.application.goldens.golden_import import expected_goldens

    try:
        return expected_goldens(expected_traces(document.value))
    except TraceError as error:
        reasons = "; ".join(problem.message for problem in error.problems)
        raise SuiteError(Problem(reasons, document.locate(()))) from None
