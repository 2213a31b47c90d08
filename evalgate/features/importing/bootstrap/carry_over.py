"""Carries a file of another tool over: reads it, writes the suite, and drops what the loader of suites refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import Location, Problem, SettingError, SuiteError
from evalgate.features.importing.models import ImportedLine, ImportedScenario
from evalgate.features.importing.reporting.suite_text import write_suite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.features.importing.models import ImportedSuite
    from evalgate.settings.limits import Limits

MAX_ROUNDS = 20


class ImportOptions(NamedTuple):
    """The file, whose it is, the traces that its suite judges, and where the suite is to be: empty for stdout.

    `data` are files of the rows of an eval; with `has_scores` the traces hold the grades of models.
    """

    path: str
    tool: str
    traces: Sequence[str]
    output: str = ""
    data: Sequence[str] = ()
    has_scores: bool = False


def carry_over(options: ImportOptions, cwd: str, bounds: Limits) -> tuple[ImportedSuite, str]:
    """The suite of a file, and its text, which `validate` accepts: empty if nothing is carried over.

    Raises InvalidInput.
    """
    from evalgate.bootstrap.sources import build_suite_files, build_workspace
    from evalgate.features.importing.adapters.origin_files import DiskOriginFiles
    from evalgate.features.importing.application.formats import name_suite, read_origin

    files = DiskOriginFiles(build_workspace(cwd), build_workspace(cwd, cwd), bounds.suite)
    rows = [files.read_named(path) for path in options.data]
    suite = read_origin(files.read_named(options.path), files, options.tool, rows)
    if options.has_scores:
        suite.use_scores()
    suite.name = name_suite(options.output) if options.output else suite.name
    loader = build_suite_files(cwd, None, bounds)
    for _ in range(MAX_ROUNDS):
        written = write_suite(suite, options.traces)
        if not any(line.entry is not None for line in suite.list_lines()):
            return suite, ""
        try:
            loader.parse_text(written.text, f"{suite.name}.yaml")
        except SuiteError as error:
            dropped = [_drop(problem, written.places) for problem in error.problems]
            if not any(dropped):
                raise
        else:
            return suite, written.text
    raise SettingError(Problem("its checks can't be written as a suite", Location(options.path)))


def _drop(problem: Problem, places: dict[int, ImportedLine | ImportedScenario]) -> bool:
    """Drops the check that a problem is about, or gives the scenario another id, or drops it; False if neither."""
    line = problem.location.line if problem.location else None
    found = places.get(line or 0)
    if isinstance(found, ImportedLine) and found.entry is not None:
        found.refuse(problem.message)
    elif isinstance(found, ImportedScenario) and found.spare_id:
        found.use_spare_id()
    elif isinstance(found, ImportedScenario) and found.is_carried:
        for each in found.lines:
            each.refuse(problem.message)
    else:
        return False
    return True
