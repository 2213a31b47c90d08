"""Compiles a scenario's assertions, once for all variants in which they are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.errors import Problem
from evalgate.evaluators.core.field_problems import MOST_TOLD, FieldProblem, Path
from evalgate.evaluators.core.parse import Parser
from evalgate.suite.scheduled_tool import ScheduledTool

if TYPE_CHECKING:
    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.suite.diagnostics import Document
    from evalgate.suite.models import Variant
    from evalgate.suite.schema.suite_file import ScenarioEntry


class Checks:
    """The assertions of one entry, its `expected_tool` first.

    `problems` are mistakes, each reported once; `used_variants` are those whose tool or action a check uses.
    """

    def __init__(self, document: Document, entry: ScenarioEntry, path: Path) -> None:
        self._document, self._entry, self._path = document, entry, path
        self._compiled: dict[tuple[int, ScheduledTool | None], Assertion | None] = {}
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.taken: list[Variant] = []
        self._has_demand = "expected_tool" in entry.model_fields_set
        if not self._has_demand and entry.min_calls is not None:
            self._tell(
                FieldProblem(
                    (*path, "min_calls"), "`min_calls` counts calls of `expected_tool`, which is missing"
                )
            )

    def of(self, variant: Variant | None) -> list[Assertion]:
        """Compiles the assertions for one variant; those with mistakes are left out."""
        subject = ScheduledTool(self._entry.expected_tool)
        if variant is not None:
            subject = subject._replace(tool=variant.tool, action=variant.action)
        found = [self._demand(subject, variant)]
        takes = self._has_demand
        for index, raw in enumerate(self._entry.assertions):
            written = subject.written_into(raw)
            same = written is raw
            takes = takes or not same
            found.append(self._check(index, written, None if same else subject))
        if takes and variant is not None:
            self.taken.append(variant)
        return [each for each in found if each is not None]

    def _demand(self, subject: ScheduledTool, variant: Variant | None) -> Assertion | None:
        if not self._has_demand:
            return None
        if variant is not None and subject.expected is None and subject.action and not subject.tool:
            message = f"variant `{variant.name}` has an `action` of no tool, where a scenario expects no tool"
            self._keep(Problem(message, variant.location, "give the variant its `tool`"))
            return None
        raw = subject.demand(self._entry.min_calls)
        return self._once((-1, subject), raw, (*self._path, "expected_tool", 0))

    def _check(self, index: int, raw: Any, subject: ScheduledTool | None) -> Assertion | None:
        if len(self.problems) > MOST_TOLD:
            return None
        if len(self.problems) == MOST_TOLD:
            self._tell(
                FieldProblem((*self._path, "assertions"), "too many mistakes to read the other assertions")
            )
            return None
        return self._once((index, subject), raw, (*self._path, "assertions", index))

    def _once(self, key: tuple[int, ScheduledTool | None], raw: Any, path: Path) -> Assertion | None:
        if key not in self._compiled:
            parser = Parser(self._document.at)
            found = self._compiled[key] = parser.assertion(raw, path)
            for flaw in parser.flaws:
                self._tell(flaw)
            if found is not None and found.warning:
                self.warnings.append(Problem(found.warning, found.location))
        return self._compiled[key]

    def _tell(self, flaw: FieldProblem) -> None:
        self._keep(Problem(flaw.message, self._document.at(flaw.path), flaw.hint))

    def _keep(self, problem: Problem) -> None:
        if problem not in self.problems:
            self.problems.append(problem)
