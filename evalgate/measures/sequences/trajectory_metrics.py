"""Metrics of how close a list of calls comes to a reference, in [0, 1]; 1 is best.

Calls count as a bag in `precision`, `recall` and `f1` (C. van Rijsbergen, "Information retrieval", 1979):
with m = the sum over names of min(times called, times in the reference), they are m / calls, m / references
and 2m / (calls + references). `lcs` is the length of the longest common subsequence over the longer of both
lists (D. Bakkelund, "An LCS-based string metric", 2009), so that missing and extra calls both lower it.
`exact`, `in_order` and `any_order` are 1 or 0: the same list, the reference as a subsequence, as a bag.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Metric = Callable[[Sequence[str], Sequence[str]], float]


def precision(reference: Sequence[str], called: Sequence[str]) -> float:
    """Share of the calls that are in the reference; 0 without calls."""
    return _count_common(reference, called) / len(called) if called else 0.0


def recall(reference: Sequence[str], called: Sequence[str]) -> float:
    """Share of the reference (not empty) that was called."""
    return _count_common(reference, called) / len(reference)


def f1(reference: Sequence[str], called: Sequence[str]) -> float:
    """Harmonic mean of precision and recall."""
    return 2 * _count_common(reference, called) / (len(reference) + len(called))


def _count_common(reference: Sequence[str], called: Sequence[str]) -> int:
    return (Counter(reference) & Counter(called)).total()


def lcs(reference: Sequence[str], called: Sequence[str]) -> float:
    """Longest common subsequence over the longer of both."""
    return lcs_length(reference, called) / max(len(reference), len(called))


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence.

    H. Hyyrö, "Bit-parallel LCS-length computation revisited" (2004): a column of the table is one number of
    len(first) bits, in which a zero marks a row where the length grows.
    """
    everything = (1 << len(first)) - 1
    places: dict[str, int] = {}
    for index, name in enumerate(first):
        places[name] = places.get(name, 0) | 1 << index
    column = everything
    for name in second:
        matching = column & places.get(name, 0)
        column = ((column + matching) | (column - matching)) & everything
    return len(first) - column.bit_count()


def exact(reference: Sequence[str], called: Sequence[str]) -> float:
    """1 if both lists are equal, else 0."""
    return float(list(reference) == list(called))


def in_order(reference: Sequence[str], called: Sequence[str]) -> float:
    """1 if the reference is a subsequence of the calls, else 0."""
    rest = iter(called)
    return float(all(name in rest for name in reference))


def any_order(reference: Sequence[str], called: Sequence[str]) -> float:
    """1 if each name was called at least as often as it is in the reference, else 0."""
    return float(Counter(reference) <= Counter(called))


METRICS: dict[str, Metric] = {
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "lcs": lcs,
    "exact": exact,
    "in_order": in_order,
    "any_order": any_order,
}
