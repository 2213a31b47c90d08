"""Collects errors in suite files, each with its location; a file is read to its end first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import ValidationError

from evalgate.errors import Location, Problem
from evalgate.evaluators.core.field_problems import FieldProblem, Path, problems_from_error
from evalgate.evaluators.core.parse import Parser
from evalgate.strict_model import StrictModel

if TYPE_CHECKING:
    from evalgate.evaluators.core.assertion import Assertion

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
    if problem.path[-1:] == ("fail_on",) and "or more entries" in problem.message:
        return problem._replace(message="`fail_on` can't be empty", hint="to never fail the check, use report-only")
    if not problem.path and "mapping" in problem.message:
        return problem._replace(message="the file is empty or not a mapping", hint=START_HINT)
    return problem
