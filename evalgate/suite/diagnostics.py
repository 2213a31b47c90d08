"""Mistakes of suite files, each with its place; a file is read to its end before any of them is told."""

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
    """A loaded file: its content, and where each part of it stands."""

    value: Any

    def at(self, path: Path) -> Location:
        """The place of the part that `path` leads to, or of the nearest part around it."""


class Diagnostics:
    """Problems found so far."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, document: Document, flaw: FieldProblem) -> None:
        """Keeps one flaw with its place in the file."""
        self.problems.append(Problem(flaw.message, document.at(flaw.path), flaw.hint))

    def read(self, document: Document, model: type[FileModel]) -> FileModel | None:
        """The file as one of our models, or None with its mistakes kept."""
        try:
            return model.model_validate(document.value)
        except refusal() as error:
            for flaw in flaws_of(error, model):
                self.add(document, _with_remedy(flaw))
            return None

    def assertions(self, document: Document, raw: Any, path: Path) -> list[Assertion]:
        """The assertions at `path` of the file, those without mistakes."""
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
