"""How well an agent chooses its skills: precision and recall over the trials of scenarios with `expected_skill`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from evalgate.measures.numeric.means import DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COUNTS = ("right", "wrong", "missed")
MOST = 1_000
"""Skills of one kind of one trial that count."""


class Routing(TypedDict):
    """The trials that were judged, expected skills that were used and that were not, and others that were used."""

    trials: int
    right: int
    wrong: int
    missed: int
    precision: float | None
    recall: float | None


def measure_routing(evidence: Iterable[Mapping[str, Any]]) -> Routing | None:
    """The figures of all checks of `expected_skill` that passed or failed, by their evidence; None without one.

    Precision is the share of the skills that were used which were expected, recall that of the expected ones which
    were used; None where there is none.

    >>> measure_routing([{"right": 1, "wrong": 1, "missed": 0}, {"right": 0, "wrong": 0, "missed": 1}])["precision"]
    0.5
    """
    found = [each for each in evidence if all(_is_count(each.get(name)) for name in COUNTS)]
    if not found:
        return None
    right, wrong, missed = (sum(each[name] for each in found) for name in COUNTS)
    return {
        "trials": len(found),
        "right": right,
        "wrong": wrong,
        "missed": missed,
        "precision": round(right / (right + wrong), DIGITS) if right + wrong else None,
        "recall": round(right / (right + missed), DIGITS) if right + missed else None,
    }


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST
