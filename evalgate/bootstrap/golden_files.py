"""Loads goldens from named files: EvalGate's format, or eval sets of ADK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.sources import workspace
from evalgate.errors import Problem, SuiteError, TraceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.run.golden import Golden
    from evalgate.suite.diagnostics import Document


def golden_files(patterns: Sequence[str], cwd: str) -> Sequence[Golden]:
    """The goldens in files and globs. Raises SuiteError with every mistake, SettingError or OverLimit."""
    from evalgate.adapters.formats.adk import ADK_EVALSET
    from evalgate.adapters.suites.golden_files import GoldenFiles
    from evalgate.application.goldens.golden_import import goldens_in

    own: list[Document] = []
    found: list[Golden] = []
    for document in GoldenFiles(workspace(cwd)).named(patterns):
        if ADK_EVALSET.claims(document.value):
            found += _expected(document)
        else:
            own.append(document)
    return [*found, *goldens_in(own)]


def _expected(document: Document) -> Sequence[Golden]:
    from evalgate.adapters.formats.adk.evalset_reader import expected_traces
    from evalgate.application.goldens.golden_import import expected_goldens

    try:
        return expected_goldens(expected_traces(document.value))
    except TraceError as error:
        reasons = "; ".join(problem.message for problem in error.problems)
        raise SuiteError(Problem(reasons, document.at(()))) from None
