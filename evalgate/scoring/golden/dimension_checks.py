"""Makes assertions of a golden's dimensions, so that they are judged, compared and reported like others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evalgate.evaluators.core.assertion import Assertion
from evalgate.models.run.golden import DIMENSION_TYPE
from evalgate.scoring.golden.judging import judge_dimension

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.errors import Location
    from evalgate.scoring.golden.rules import GoldenRules


def dimension_checks(rules: GoldenRules, location: Location | None) -> list[Assertion]:
    """One assertion for each evaluated dimension; one with nothing to judge leaves its weight to others."""
    description = describe_rules(rules)
    return [
        Assertion(
            name=name,
            type=DIMENSION_TYPE,
            weight=rules.weights.dimension_weight(name),
            required=False,
            on_missing_skip=True,
            check=partial(judge_dimension, rules, name),
            location=location,
            written={
                "type": DIMENSION_TYPE,
                "name": name,
                "weight": rules.weights.dimension_weight(name),
                "by": description,
            },
        )
        for name in rules.dimensions
    ]


def describe_rules(rules: GoldenRules) -> Mapping[str, Any]:
    """All that a verdict about the golden depends on, as plain data: equal for equal rules."""
    golden = rules.golden
    return {
        "user_messages": list(golden.user_messages),
        "golden_responses": list(golden.golden_responses),
        "required_memory_recall": list(golden.required_memory_recall),
        "required_tool_usage": list(golden.required_tool_usage),
        "required_refusal": list(golden.required_refusal),
        "strict": rules.is_strict,
        "memory_tools": list(rules.memory_tools),
        "turn_weights": list(rules.turn_weights),
        "passing_score": rules.passing_score,
        "warning_threshold": rules.warning_threshold,
        "assertions": {name: [each.written for each in found] for name, found in rules.assigned.items()},
    }
