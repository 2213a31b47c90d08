"""Collects mistakes in suite files, each with its location; a file is read to its end first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from evalgate.declarations import Closed, refusal
from evalgate.errors import Location, Problem
from evalgate.evaluators.core.field_problems import FieldProblem, Path, flaws_of
from evalgate.evaluators.core.parse import Parser

if TYPE_CHECKING:
    from evalgate.evaluators.core.assertion import Assertion

FileModel = TypeVar("FileModel", bound=Closed)
HOW_TO_BEGIN = "a suite has `scenarios`, a project has `suites`"


class Document(Protocol):
    """A loaded file: its content, and the location of each part."""

    value: Any

    def at(self, path: Path) -> Location:
        """The location of the part that `path` leads to, or of the nearest part around it."""


class Diagnostics:
    """Problems found so far."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, document: Document, flaw: FieldProblem) -> None:
        """Adds one problem with its location in the file."""
        self.problems.append(Problem(flaw.message, document.at(flaw.path), flaw.hint))

    def read(self, document: Document, model: type[FileModel]) -> FileModel | None:
        """Parses the file as a model; None if it has mistakes, which are added."""
        try:
            return model.model_validate(document.value)
        except refusal() as error:
            for flaw in flaws_of(error, model):
                self.add(document, _with_remedy(flaw))
            return None

    def assertions(self, document: Document, raw: Any, path: Path) -> list[Assertion]:
        """The assertions at `path` of the file that have no mistakes; mistakes of the others are added."""
        parser = Parser(document.at)
        parsed = parser.assertions(raw, path)
        for flaw in parser.flaws:
            self.add(document, flaw)
        return parsed


def _with_remedy(flaw: FieldProblem) -> FieldProblem:
    if flaw.path[-1:] == ("fail_on",) and "at least" in flaw.message:
        return flaw._replace(
            message="`fail_on` can't be empty", hint="to never fail the check use report-only"
        )
    if not flaw.path and "mapping" in flaw.message:
        return flaw._replace(message="the file is empty or no mapping", hint=HOW_TO_BEGIN)
    return flaw
