"""The order and the numbers of a scenario's trials."""

from __future__ import annotations

import pytest

from evalgate.application.evaluation.scenario_trials import order_trials


@pytest.mark.parametrize(
    ("recorded", "started", "order", "numbers"),
    [
        ([], [], [], []),
        ([None], [None], [0], [0]),
        ([5, 3, 4], [None] * 3, [1, 2, 0], [3, 4, 5]),
        ([3, 5, 9], ["2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", None], [0, 1, 2], [3, 5, 9]),
        ([-3, 1], [None] * 2, [0, 1], [-3, 1]),
        ([3, 3], ["2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"], [1, 0], [0, 1]),
        ([3, 3], ["2026-01-02T00:00:00Z", None], [0, 1], [0, 1]),
        ([None, 1], ["2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00Z"], [1, 0], [0, 1]),
        ([None, None], ["2026-01-01T00:00:00Z"] * 2, [0, 1], [0, 1]),
    ],
)
def test_trials_are_ordered_by_recorded_number_else_by_time_else_as_read(recorded, started, order, numbers):
    assert [list(each) for each in order_trials(recorded, started)] == [order, numbers]
