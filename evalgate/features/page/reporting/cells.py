"""Words with a tone, and sentences whose untrusted parts are shown as code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.features.page.reporting.page_view import CellView
from evalgate.measures.text.plain_text import split_parts
from evalgate.models.comparison.comparison import NOT_MEASURED
from evalgate.reporting.text.escaping import clean_page_text
from evalgate.reporting.text.scenario_sections import FAILS_NOW, NOT_COMPARED, NOT_JUDGED, NOT_RECORDED

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_SENTENCE = 2_000
TONES = {
    **dict.fromkeys(("PASS", "passed", "pass", "fixed", "improved"), "good"),
    **dict.fromkeys(("FAIL", "HARD_FAIL", "ERROR", "MISSING", "failed", "hard_fail", "error", "fail"), "bad"),
    **dict.fromkeys(("broken", FAILS_NOW, NOT_RECORDED, NOT_JUDGED, "regressed", "invalid", "removed"), "bad"),
    **dict.fromkeys(("PARTIAL", "NOT_EVALUABLE", "not_evaluable", "not_measured", "cannot_judge"), "warn"),
    **dict.fromkeys(("may be chance", NOT_MEASURED, NOT_COMPARED, "new"), "warn"),
}


def build_cell(word: str) -> CellView:
    """A word such as a verdict, with its tone; any other word is shown plainly."""
    return CellView(clean_page_text(word.replace("_", " "), 100), TONES.get(word, "plain"))


def split_marks(text: str) -> Sequence[str]:
    """A sentence as parts, of which every second one was marked as untrusted and is shown as code."""
    return split_parts(clean_page_text(text, MAX_SENTENCE))
