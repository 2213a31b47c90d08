"""Vally (Copilot Evals): results of trials, and trajectories. Entry points: `VALLY`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object


def is_trajectory(value: Any) -> bool:
    """True for the record of one run."""
    return isinstance(value, dict) and isinstance(value.get("events"), list) and {"stimulus", "output"} <= value.keys()


def _claims_vally(value: Any) -> bool:
    first = first_object(value)
    return is_trajectory(first) or (first.get("type") == "trial-result" and "stimulus" in first)


VALLY = Format(
    name="vally",
    needs="lines of `type` trial-result with a `trajectory`, or a trajectory with `stimulus`, `events` and `output`",
    claims=_claims_vally,
    module="vally.reader",
)
