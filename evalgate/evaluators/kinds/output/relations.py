"""The six comparisons of an output with a target."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator

from evalgate.evaluators.core.operators import resolve_alias

if TYPE_CHECKING:
    from collections.abc import Callable


Relation = Annotated[Literal["eq", "ne", "lt", "lte", "gt", "gte"], BeforeValidator(resolve_alias)]

COMPARE: dict[str, Callable[[float, float], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
}
