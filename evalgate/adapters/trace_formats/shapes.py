"""What every reader offers: how a format is recognised, split into records and read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalgate.adapters.trace_formats.fields import identifier, whole
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.trace import Trace

Identity = tuple[str | None, int | None]


def only_one(value: Any) -> Sequence[Any]:
    """The records of a value that is one trace."""
    return [value]


@dataclass(frozen=True, slots=True)
class Reader:
    """One format. `claims` says whether a decoded document or line is of it; `needs` tells what that takes.

    `split` makes records of a document; `build` makes a trace of a record or raises TraceError; `identify`
    tells the scenario id and trial of a record that `build` refused, as far as they can be read.
    """

    name: str
    needs: str
    claims: Callable[[Any], bool]
    build: Callable[[Any], Trace]
    identify: Callable[[Any], Identity]
    split: Callable[[Any], Sequence[Any]] = only_one


def identity(scenario_id: Any, trial: Any) -> Identity:
    """Both as far as they are what they should be."""
    try:
        known = identifier(scenario_id, "")
    except TraceError:
        known = None
    try:
        return known, whole(trial, "")
    except TraceError:
        return known, None
