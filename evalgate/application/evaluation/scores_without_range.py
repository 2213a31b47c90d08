"""Finds recorded scores on another scale than 0 to 1 whose check states no `range`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.evaluators.core.shorthands import iter_checks
from evalgate.evaluators.kinds.whole_run import is_on_unit_scale
from evalgate.measures.values.json_values import mark_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.trace.trace import Trace, Warning_
    from evalgate.suite.models import Suite

CODE = "score_without_range"


class ScoresWithoutRange:
    """The recorded scores that a suite checks without a range, by name, and whether each `min` is from 0 to 1."""

    def __init__(self, suite: Suite) -> None:
        self._on_unit_scale: dict[str, bool] = {}
        checks = (
            check
            for scenario in suite.scenarios
            for assertion in scenario.assertions
            for check, _ in iter_checks(assertion.written)
        )
        for check in checks:
            if check["type"] == "recorded_score" and check.get("range") is None:
                is_usual = is_on_unit_scale(check.get("min", 1.0))
                self._on_unit_scale[check["name"]] = self._on_unit_scale.get(check["name"], True) and is_usual

    def find_warnings(self, trace: Trace) -> Iterator[Warning_]:
        """A warning for each such score of the trace on another scale."""
        scores = trace.scores if self._on_unit_scale and trace.evaluations else {}
        for name, is_usual in self._on_unit_scale.items():
            value = scores.get(name)
            if value is not None and not (is_usual and is_on_unit_scale(value)):
                message = (
                    f"the recorded score {mark_name(name)} is not on a scale from 0 to 1, so that it counts as 1 or 0: "
                    "give its check the scale, such as `range: [1, 5]`"
                )
                yield {"code": CODE, "message": message, "where": None}
