"""Compiles a scenario's assertions, once for all variants in which they are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.errors import Problem
from evalgate.evaluators.core.field_problems import MAX_PROBLEMS, FieldProblem, Path
from evalgate.evaluators.core.parse import Parser
from evalgate.suite.scheduled_tool import ScheduledTool

if TYPE_CHECKING:
    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.suite.diagnostics import Document
    from evalgate.suite.models import Variant
    from evalgate.suite.schema.suite_file import ScenarioEntry


class CheckCompiler:
    """The assertions of one entry, its `expected_tool` first.

    `problems` are mistakes, each reported once; `used_variants` are those whose tool or action a check uses.
    """

    def __init__(self, document: Document, entry: ScenarioEntry, path: Path) -> None:
        self._document, self._entry, self._path = document, entry, path
        self._compiled: dict[tuple[int, ScheduledTool | None], Assertion | None] = {}
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.used_variants: list[Variant] = []
        self._has_demand = "expected_tool" in entry.model_fields_set
        if not self._has_demand and entry.min_calls is not None:
            self._add_problem(
                FieldProblem(
                    (*path, "min_calls"), "`min_calls` counts calls of `expected_tool`, which is missing"
                )
            )

    def compile_checks(self, variant: Variant | None) -> list[Assertion]:
        """Compiles the assertions for one variant; those with mistakes are left out."""
        scheduled_tool = ScheduledTool(self._entry.expected_tool)
        if variant is not None:
            scheduled_tool = scheduled_tool._replace(tool=variant.tool, action=variant.action)
        found = [self._compile_demand(scheduled_tool, variant)]
        is_tool_used = self._has_demand
        for index, raw in enumerate(self._entry.assertions):
            written = scheduled_tool.fill_assertion(raw)
            is_unchanged = written is raw
            is_tool_used = is_tool_used or not is_unchanged
            found.append(self._compile_check(index, written, None if is_unchanged else scheduled_tool))
        if is_tool_used and variant is not None:
            self.used_variants.append(variant)
        return [each for each in found if each is not None]

    def _compile_demand(self, scheduled_tool: ScheduledTool, variant: Variant | None) -> Assertion | None:
        if not self._has_demand:
            return None
        if (
            variant is not None
            and scheduled_tool.expected is None
            and scheduled_tool.action
            and not scheduled_tool.tool
        ):
            message = f"variant `{variant.name}` has an `action` of no tool, where a scenario expects no tool"
            self._keep_problem(Problem(message, variant.location, "give the variant its `tool`"))
            return None
        raw = scheduled_tool.build_assertion(self._entry.min_calls)
        return self._compile_once((-1, scheduled_tool), raw, (*self._path, "expected_tool", 0))

    def _compile_check(self, index: int, raw: Any, scheduled_tool: ScheduledTool | None) -> Assertion | None:
        if len(self.problems) > MAX_PROBLEMS:
            return None
        if len(self.problems) == MAX_PROBLEMS:
            self._add_problem(
                FieldProblem((*self._path, "assertions"), "too many mistakes to read the other assertions")
            )
            return None
        return self._compile_once((index, scheduled_tool), raw, (*self._path, "assertions", index))

    def _compile_once(self, key: tuple[int, ScheduledTool | None], raw: Any, path: Path) -> Assertion | None:
        if key not in self._compiled:
            parser = Parser(self._document.locate)
            found = self._compiled[key] = parser.parse_assertion(raw, path)
            for problem in parser.problems:
                self._add_problem(problem)
            if found is not None and found.warning:
                self.warnings.append(Problem(found.warning, found.location))
        return self._compiled[key]

    def _add_problem(self, problem: FieldProblem) -> None:
        self._keep_problem(Problem(problem.message, self._document.locate(problem.path), problem.hint))

    def _keep_problem(self, problem: Problem) -> None:
        if problem not in self.problems:
            self.problems.append(problem)
