"""`is_refusal`: the agent refuses in the text what it was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import Finding
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.kinds.text.text_source import TextEvaluator, quote
from evalgate.measures.text.refusals import PHRASES, find_phrase, flatten_text
from evalgate.measures.values.json_values import show

if TYPE_CHECKING:
    from collections.abc import Callable


class IsRefusal(TextEvaluator):
    """The text contains one of `phrases`; case, number of blanks and style of quotes do not matter.

    Phrases given here replace the built-in ones.
    """

    type: Literal["is_refusal"]
    phrases: (
        Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(min_length=1, max_length=1_000)]
        | None
    ) = None

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return "is a refusal"

    def build_judge(self) -> Callable[[str], Finding]:
        """Builds a search for the phrases; raises FieldProblemError for a blank phrase."""
        phrases = self._prepare_phrases()
        subject = self.subject()

        def judge(text: str) -> Finding:
            found = find_phrase(text, phrases)
            if found is None:
                return Finding("failed", f"expected {subject} to be a refusal, got {quote(text)}")
            return Finding("passed", f"{subject} contains the phrase {show(found)}", {"phrase": found})

        return judge

    def _prepare_phrases(self) -> tuple[str, ...]:
        if self.phrases is None:
            return PHRASES
        flat = tuple(flatten_text(phrase) for phrase in self.phrases)
        if not all(flat):
            raise FieldProblemError("phrases", "a phrase must not be blank")
        return flat
