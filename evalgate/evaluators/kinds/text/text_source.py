"""Base classes of checks of a text: how they read it, and their findings if it is missing."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.core.evidence import require_evidence
from evalgate.evaluators.core.field_access import FieldGetter, answer_of, build_getter
from evalgate.evaluators.core.query_evidence import query_evidence
from evalgate.evaluators.core.shorthands import DEFAULT_PATH
from evalgate.evaluators.kinds.run.jmespath import compile_query
from evalgate.measures.jmespath.query import QueryFailedError
from evalgate.measures.text.patterns import PatternFailedError
from evalgate.measures.text.text_similarity import TooLongError
from evalgate.measures.values.json_values import shorten, show, show_typed

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.trace.trace import Trace


class TextEvaluator(Evaluator):
    """A check of the text that `path` finds, by default the final answer.

    No value is not_evaluable; a value that is not text fails; exceeding a search limit is an error.
    """

    path: str = DEFAULT_PATH

    @abstractmethod
    def requirement(self) -> str:
        """Returns the requirement in words, as the rest of a sentence about the text."""

    @abstractmethod
    def build_judge(self) -> Callable[[str], Finding]:
        """Builds the function that judges a text; raises FieldProblemError if a field is invalid."""

    def subject(self) -> str:
        """Returns the name of the text for reports."""
        return "answer" if self.path == DEFAULT_PATH else shorten(" ".join(self.path.split()), 60)

    def label(self) -> str:
        """The check in words."""
        return f"{self.subject()} {self.requirement()}"

    def compile(self) -> Check:
        """Returns a check that reads the text and judges it; raises FieldProblemError."""
        judge, subject = self.build_judge(), self.subject()
        is_answer = self.path == DEFAULT_PATH
        query = None if is_answer else compile_query(self.path, "path")
        read: FieldGetter = answer_of if query is None else build_getter(query)
        missing = "the trace has no final answer" if is_answer else f"{subject}: path found nothing"
        nothing = Finding("not_evaluable", missing)

        def check(trace: Trace) -> Finding:
            try:
                text = read(trace)
                if text is None:
                    return nothing
                if not isinstance(text, str):
                    return Finding("failed", f"expected {subject} to be text, got {show_typed(text)}")
                return judge(text)
            except (QueryFailedError, PatternFailedError, TooLongError) as error:
                return Finding("error", f"{subject}: {error}")

        return check if query is None else require_evidence(check, query_evidence(query))


class TextCondition(TextEvaluator):
    """A check of the text that only passes or fails, without a score."""

    @abstractmethod
    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a function that returns what a text fails (`to contain X, got Y`); raises FieldProblemError."""

    def build_judge(self) -> Callable[[str], Finding]:
        """Builds the judge from the condition."""
        find_problem, passed, subject = (self.build_condition(), Finding("passed", self.label()), self.subject())

        def judge(text: str) -> Finding:
            problem = find_problem(text)
            return passed if problem is None else Finding("failed", f"expected {subject} {problem}")

        return judge


def quote(text: str) -> str:
    """Quotes the text for the end of a reason."""
    return show(text, 120)
