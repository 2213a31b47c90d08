"""Compiles the `match` entries of a suite into criteria for traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.evaluators.core.field_problems import FieldProblem, FieldProblemError, Path
from evalgate.evaluators.core.queries import compile_query
from evalgate.measures.text.globs import GlobError, compile_path_glob
from evalgate.suite.models import Match, Variant
from evalgate.suite.schema.suite_file import MatchEntry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.measures.jmespath.query import Query
    from evalgate.suite.diagnostics import Diagnostics, Document
    from evalgate.suite.schema.golden_file import GoldenEntry
    from evalgate.suite.schema.suite_file import ScenarioEntry, VariantEntry


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

    def compile_expression(self, expression: str, path: Path) -> Query | None:
        """A compiled expression; None if it has an error, which is added."""
        try:
            return compile_query(expression, str(path[-1]))
        except FieldProblemError as error:
            self._diagnostics.add_problem(self._document, FieldProblem(path, error.problem.message))
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
