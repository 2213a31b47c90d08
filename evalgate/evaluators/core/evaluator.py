"""What every evaluator is: frozen settings that compile into a function from a trace to a finding."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from evalgate.declarations import Closed, Field
from evalgate.models.run.dimension import Dimension

if TYPE_CHECKING:
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace


class Finding(NamedTuple):
    """What a check found on one trace. `score` None means 1 where it passed and 0 elsewhere."""

    outcome: Outcome
    reason: str
    evidence: dict[str, Any] | None = None
    score: float | None = None


Check = Callable[["Trace"], Finding]


class EvaluatorSettings(Closed):
    """What every assertion may carry. Unknown fields, loose types and non-finite numbers are refused.

    `weight` is its share of the trial's score (>= 0), `required` makes its failure a hard fail,
    `on_missing` says whether lacking evidence counts against the trial or is left out, `negate` swaps passed
    and failed and nothing else. `dimension` is the one of a golden that the assertion judges.
    """

    type: str
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    weight: Annotated[float, Field(ge=0)] = 1.0
    required: bool = False
    on_missing: Literal["fail", "skip"] = "fail"
    negate: bool = False
    dimension: Dimension | None = None


class Evaluator(EvaluatorSettings):
    """Settings of one kind of check.

    `version` is a whole number from 1; it rises when the same trace could be judged otherwise.
    """

    version: ClassVar[int] = 1

    @abstractmethod
    def compile(self) -> Check:
        """The check itself; raises FieldProblemError where a field can't be meant."""

    @abstractmethod
    def label(self) -> str:
        """A short name for reports, where the suite gives none."""
