"""Where checks of text read it from, and what they say where there is none."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.core.field_access import Look, answer_of, looking
from evalgate.evaluators.core.shorthands import DEFAULT_PATH
from evalgate.evaluators.kinds.run.jmespath import compile_query
from evalgate.measures.jmespath.query import QueryFailedError
from evalgate.measures.text.patterns import PatternFailedError
from evalgate.measures.text.text_similarity import TooLongError
from evalgate.measures.values.json_values import kind, shorten, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.trace.trace import Trace


class TextEvaluator(Evaluator):
    """A check of the text that `path` finds, by default the final answer.

    No text is not_evaluable; a value that is no text fails; passing a limit is an error.
    """

    path: str = DEFAULT_PATH

    @abstractmethod
    def wanted(self) -> str:
        """What is asked of the text, as the rest of a sentence about it."""

    @abstractmethod
    def judging(self) -> Callable[[str], Finding]:
        """From the text to what was found; raises FieldProblemError where a field can't be meant."""

    def subject(self) -> str:
        """What people call the text."""
        return "answer" if self.path == DEFAULT_PATH else shorten(" ".join(self.path.split()), 60)

    def label(self) -> str:
        """The check in words."""
        return f"{self.subject()} {self.wanted()}"

    def compile(self) -> Check:
        """The look for the text, then the check of it; raises FieldProblemError."""
        judge, read, subject = self.judging(), self._reader(), self.subject()
        is_answer = self.path == DEFAULT_PATH
        missing = "the trace has no final answer" if is_answer else f"{subject}: path found nothing"
        nothing = Finding("not_evaluable", missing)

        def check(trace: Trace) -> Finding:
            try:
                text = read(trace)
                if text is None:
                    return nothing
                if not isinstance(text, str):
                    return Finding("failed", f"{subject} is {kind(text)} {show(text)}, which is no text")
                return judge(text)
            except (QueryFailedError, PatternFailedError, TooLongError) as error:
                return Finding("error", f"{subject}: {error}")

        return check

    def _reader(self) -> Look:
        return answer_of if self.path == DEFAULT_PATH else looking(compile_query(self.path, "path"))


class TextCondition(TextEvaluator):
    """A check that holds or does not."""

    @abstractmethod
    def wrong_with(self) -> Callable[[str], str | None]:
        """From the text to what is wrong with it, None where it is right; raises FieldProblemError."""

    def judging(self) -> Callable[[str], Finding]:
        """The condition as a finding."""
        wrong_with, passed, subject = self.wrong_with(), Finding("passed", self.label()), self.subject()

        def judge(text: str) -> Finding:
            wrong = wrong_with(text)
            return passed if wrong is None else Finding("failed", f"{subject} {wrong}")

        return judge


def looked_at(text: str) -> str:
    """The text as the end of a reason."""
    return show(text, 120)
