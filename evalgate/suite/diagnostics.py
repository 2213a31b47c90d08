"""Collects errors in suite files, each with its location, to the end of a file; compiles `match` entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import ValidationError

from evalgate.errors import Location, Problem
from evalgate.evaluators.core.field_problems import FieldProblem, FieldProblemError, Path, problems_from_error
from evalgate.evaluators.core.parse import Parser
from evalgate.evaluators.core.queries import Reads, compile_query
from evalgate.measures.text.globs import GlobError, compile_path_glob
from evalgate.strict_model import StrictModel
from evalgate.suite.models import Match, Variant
from evalgate.suite.suite_file import MatchEntry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.measures.jmespath.query import Query
    from evalgate.suite.golden_file import GoldenEntry
    from evalgate.suite.suite_file import ScenarioEntry, VariantEntry

FileModel = TypeVar("FileModel", bound=StrictModel)
START_HINT = "a suite has `scenarios`, a project has `suites`"


class Document(Protocol):
    """A loaded file: its content, and the location of each part."""

    value: Any

    def locate(self, path: Path) -> Location:
        """The location of the part that `path` leads to, or of the nearest part around it."""


class Diagnostics:
    """Problems found so far."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add_problem(self, document: Document, problem: FieldProblem) -> None:
        """Adds one problem with its location in the file."""
        self.problems.append(Problem(problem.message, document.locate(problem.path), problem.hint))

    def read_model(self, document: Document, model: type[FileModel]) -> FileModel | None:
        """Parses the file as a model; None if it has errors, which are added."""
        try:
            return model.model_validate(document.value)
        except ValidationError as error:
            for problem in problems_from_error(error, model):
                self.add_problem(document, _add_hint(problem))
            return None

    def parse_assertions(self, document: Document, raw: Any, path: Path) -> list[Assertion]:
        """The assertions at `path` of the file that have no errors; errors of the others are added."""
        parser = Parser(document.locate)
        parsed = parser.parse_assertions(raw, path)
        for problem in parser.problems:
            self.add_problem(document, problem)
        return parsed


def _add_hint(problem: FieldProblem) -> FieldProblem:
    if problem.path[-1:] == ("fail_on",) and "at least one entry" in problem.message:
        return problem._replace(message="`fail_on` can't be empty", hint="to never fail the check, use report-only")
    if not problem.path and "mapping" in problem.message:
        return problem._replace(message="the file is empty or not a mapping", hint=START_HINT)
    return problem


class TraceMatcher:
    """Compiles the expressions and patterns of one file; adds errors with their location."""

    def __init__(self, document: Document, diagnostics: Diagnostics) -> None:
        self._document, self._diagnostics = document, diagnostics

    def build_scenario_match(self, entry: ScenarioEntry | GoldenEntry, path: Path) -> Match:
        """Without `match` the trace's id decides; a glob id always selects its scenarios by id."""
        match = entry.match
        if match is None or match == MatchEntry.from_defaults():
            return Match(entry.id)
        glob = entry.id if "*" in entry.id else None
        return self._build_match(match, match.scenario_id or glob, (*path, "match"))

    def build_variants(self, entries: Mapping[str, VariantEntry], path: Path) -> list[Variant]:
        """The variants at `path`, in the order of the file."""
        return [
            Variant(
                name,
                self._build_match(entry.match, entry.match.scenario_id, (*path, name, "match")),
                entry.tool,
                entry.action,
                self._document.locate((*path, name)),
            )
            for name, entry in entries.items()
        ]

    def compile_expression(self, expression: str, path: Path, reads: Reads = "trace") -> Query | None:
        """A compiled expression; None if it has an error, which is added."""
        try:
            return compile_query(expression, str(path[-1]), reads)
        except FieldProblemError as error:
            self._diagnostics.add_problem(self._document, error.problem._replace(path=path))
            return None

    def _build_match(self, match: MatchEntry, scenario_id: str | None, path: Path) -> Match:
        return Match(
            scenario_id=scenario_id,
            path=self._compile_path_pattern(match.path, (*path, "path")) if match.path else None,
            tags=frozenset(match.tags),
            where=self.compile_expression(match.where, (*path, "where")) if match.where else None,
        )

    def _compile_path_pattern(self, pattern: str, path: Path) -> Any:
        try:
            return compile_path_glob(pattern)
        except GlobError as error:
            self._diagnostics.add_problem(self._document, FieldProblem(path, str(error)))
            return None
