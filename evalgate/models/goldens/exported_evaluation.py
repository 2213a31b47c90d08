"""An evaluation as exports contain it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from evalgate.models.goldens.feedback import Feedback
    from evalgate.models.run.golden import GoldenEvaluation

ENTRY_SCHEMA = "evalgate.evaluation/1"
METRICS_SCHEMA = "evalgate.metrics/1"


class GoldenSummary(Struct, frozen=True):
    """What an export contains of the golden besides its id, so that a line is clear without the store."""

    title: str
    intent: str
    stance: str
    conversation_id: str | None = None


class ExportedEvaluation(Struct, frozen=True):
    """One evaluation, its golden, and people's feedback on the conversation."""

    evaluation: GoldenEvaluation
    golden: GoldenSummary
    feedback: tuple[Feedback, ...] = ()
