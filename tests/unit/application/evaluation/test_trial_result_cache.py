"""The number of shared trial results in the cache is bounded by their total size."""

from __future__ import annotations

from run_builders import make_assertion

from evalgate.application.evaluation.trial_result_cache import MOST_ROWS, TrialResultCache
from evalgate.models.run.run import SharedOutcome


def results(rows: int) -> SharedOutcome:
    shared = [make_assertion() for _ in range(rows)]
    for row in shared:
        row.is_shared = True
    return SharedOutcome(shared, "passed", 1.0)


def test_rows_are_counted_in_any_order():
    known, widest = TrialResultCache(), 100
    made = [results(rows) for rows in (*[widest] * 50, *[1] * 5_500, *[widest] * 50)]
    for number, each in enumerate(made):
        known.keep((number,), each)
    kept = [each for number, each in enumerate(made) if known.get((number,)) is each]
    assert kept == [each for each in made if each.is_shared]
    assert MOST_ROWS <= sum(len(each.assertions) for each in kept) < MOST_ROWS + widest


def test_results_with_a_unique_row_are_not_shared():
    known, found = TrialResultCache(), results(3)
    found.assertions[1].is_shared = False
    known.keep((0,), found)
    assert known.get((0,)) is None
    assert not found.is_shared
