"""An unknown key of a check says which key or which check is meant."""

from __future__ import annotations

from typing import Any

import pytest
from assess_assertion import first_problem


@pytest.mark.parametrize(
    ("raw", "hint"),
    [
        ({"type": "max_tool_calls", "tool": "a", "max": 3}, "`tool_calls` counts the calls of one tool"),
        ({"type": "tool_called", "tool": "a", "args": {}}, "`tool_sequence` matches arguments: {type: tool_sequence,"),
        ({"type": "tool_calls", "tool": "a", "min": 1, "arguments": {}}, "`tool_sequence` matches arguments"),
        ({"type": "latency_limit", "max_seconds": 1, "max": 3}, "did you mean `max_seconds`?"),
        ({"type": "cost_limit", "max_usd": 1, "usd": 3}, "did you mean `max_usd`?"),
        ({"type": "output_contains", "text": "a"}, "did you mean `value`?"),
        ({"type": "output_contains", "valeu": "a"}, "did you mean `value`?"),
        ({"type": "token_limit", "max": 3}, "known: "),
    ],
)
def test_an_unknown_key_has_a_hint(raw: dict[str, Any], hint: str) -> None:
    assert (first_problem(raw).hint or "").startswith(hint)
