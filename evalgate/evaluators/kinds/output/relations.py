"""The six comparisons of an output with a target."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from evalgate.declarations import BeforeValidator
from evalgate.evaluators.core.operators import resolve_alias

if TYPE_CHECKING:
    from collections.abc import Callable


def _resolve_spelling(given: Any) -> Any:
    return resolve_alias(given) if isinstance(given, str) else given


Relation = Annotated[Literal["eq", "ne", "lt", "lte", "gt", "gte"], BeforeValidator(_resolve_spelling)]

COMPARE: dict[str, Callable[[float, float], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
}
