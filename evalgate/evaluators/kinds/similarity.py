"""Checks of a text that compare it with others: `similarity`, whose metric is the score, and `is_refusal`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import Finding, Order
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.kinds.texts import TextEvaluator, quote
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.text.plain_text import simplify
from evalgate.measures.text.refusals import PHRASES, find_phrase, flatten_text
from evalgate.measures.text.text_similarity import METRICS, TooLongError, words
from evalgate.measures.values.json_values import format_distinct, mark_value, show
from evalgate.strict_model import described

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.run.run import Outcome

Metric = Literal["jaccard", "levenshtein", "rouge_l", "bleu"]


class Similarity(TextEvaluator):
    """The similarity of the text to `reference`, measured by `metric`, is at least `min_score` (0 to 1)."""

    type: Literal["similarity"]
    version = 2  # typographic blanks, hyphens and apostrophes are plain ones
    other_names = ("similar", "levenshtein", "rouge-n", "rouge", "bleu", "gleu", "meteor")
    is_graded = True
    orders: ClassVar[dict[str, Order]] = {"min_score": "at_least"}
    metric: Annotated[Metric, described("How similarity is measured.", "rouge_l")]
    reference: Annotated[str, Field(min_length=1), described("The text to compare with.", "Your refund is on its way.")]
    min_score: Annotated[float, Field(ge=0, le=1), described("The score, 0 to 1, from which it passes.", 0.8)]

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return f"is like {show(self.reference, 40)} ({self.metric} >= {self.min_score:g})"

    def build_judge(self) -> Callable[[str], Finding]:
        """Builds a comparison of the metric with its limit; raises FieldProblemError for a bad reference."""
        self._check_reference()
        measure, reference, least = METRICS[self.metric], simplify(self.reference), self.min_score
        metric = self.metric

        def judge(text: str) -> Finding:
            score = measure(simplify(text), reference)
            outcome: Outcome = "passed" if round(least - score, DIGITS) <= 0 else "failed"
            found, needed = format_distinct(score, least)
            reason = f"{metric} {found}, expected at least {needed}"
            if outcome == "failed":
                reason += f": {quote(text)} compared with {mark_value(self.reference)}"
            return Finding(outcome, reason, {"metric": metric, "score": score}, score=score)

        return judge

    def _check_reference(self) -> None:
        try:
            found = words(self.reference)
        except TooLongError as error:
            raise FieldProblemError("reference", str(error)) from None
        if not found and self.metric != "levenshtein":
            raise FieldProblemError(
                "reference", f"`{self.metric}` compares words, but there are no words in {show(self.reference, 40)}"
            )


class IsRefusal(TextEvaluator):
    """The text contains one of `phrases`; case, blanks, style of quotes and emphasis do not matter.

    Phrases given here replace the built-in ones.
    """

    type: Literal["is_refusal"]
    version = 3  # 2: other hyphens; 3: emphasis, letters that look the same
    other_names = ("refusal", "guardrails")
    phrases: Annotated[
        Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(min_length=1, max_length=1_000)]
        | None,
        described("Phrases of a refusal, in place of the built-in ones.", ["I can't help with"]),
    ] = None

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return "is a refusal"

    def build_judge(self) -> Callable[[str], Finding]:
        """Builds a search for the phrases; raises FieldProblemError for a blank phrase."""
        phrases = self._prepare_phrases()
        subject = self.mark_subject()

        def judge(text: str) -> Finding:
            found = find_phrase(text, phrases)
            if found is None:
                return Finding("failed", f"expected {subject} to be a refusal, got {quote(text)}")
            return Finding("passed", f"{subject} contains the phrase {mark_value(found)}", {"phrase": found})

        return judge

    def _prepare_phrases(self) -> tuple[str, ...]:
        if self.phrases is None:
            return PHRASES
        flat = tuple(flatten_text(phrase) for phrase in self.phrases)
        if not all(flat):
            raise FieldProblemError("phrases", "a phrase must not be blank")
        return flat
