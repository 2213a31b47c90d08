"""Base classes of evaluators: frozen settings that compile into a function from a trace to a finding."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from evalgate.models.run.golden import Dimension
from evalgate.models.run.run import Required
from evalgate.strict_model import StrictModel

if TYPE_CHECKING:
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace


class Finding(NamedTuple):
    """The result of a check on one trace. `score` None means 1 if it passed and 0 otherwise."""

    outcome: Outcome
    reason: str
    evidence: dict[str, Any] | None = None
    score: float | None = None


MAX_TOOLS = 200
"""Names of tools that a field may list to forbid calls of any."""
Check = Callable[["Trace"], Finding]
Order = Literal["at_most", "at_least"]


class EvaluatorSettings(StrictModel):
    """Settings of every assertion. Unknown fields, wrong types and non-finite numbers are rejected.

    `weight` (>= 0) is its weight in the trial's score, `required` makes its failure a hard fail (`always`: even if
    the scenario's pass rate is met), `on_missing` decides whether lacking evidence fails or is skipped, `negate`
    swaps passed and failed and no other outcome. `dimension` is the dimension of a golden that it judges.
    """

    type: str
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    weight: Annotated[float, Field(ge=0)] = 1.0
    required: Required = False
    on_missing: Literal["fail", "skip"] = "fail"
    negate: bool = False
    dimension: Dimension | None = None


class Evaluator(EvaluatorSettings):
    """Settings of one evaluator type.

    `version` is a whole number from 1; increase it when the same trace could get another finding.
    `orders` says which fields are stricter the lower (`at_most`) or the higher (`at_least`) they are: loosening
    one is a weakening, tightening it is not. Of any other field each change is one.
    """

    version: ClassVar[int] = 1
    orders: ClassVar[dict[str, Order]] = {}

    @abstractmethod
    def compile(self) -> Check:
        """Returns the check; raises FieldProblemError if a field is invalid."""

    @abstractmethod
    def label(self) -> str:
        """Returns a short name for reports, used if the suite gives none."""
