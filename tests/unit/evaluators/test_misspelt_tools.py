"""A check that fails as nothing calls a tool with this name says which called tool has a similar one."""

from __future__ import annotations

from typing import Any

import pytest
from assess_assertion import assess
from builders import make_trace

CALLS = ["get_cart", "modify_cart"]
LISTED = "`get_cart` and `modify_cart`"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"type": "tool_called", "tool": "ModifyCart"}, "were, did you mean `modify_cart`?"),
        ({"type": "expected_tool", "expected_tool": "modfy_cart"}, "did you mean `modify_cart`?"),
        ({"type": "has_timing", "tool": "modfy_cart"}, "were, did you mean `modify_cart`?"),
        (
            {"type": "tool_sequence", "sequence": ["get_cart", "modfy_cart"]},
            "it was not called (got `modify_cart`), did you mean `modify_cart`?",
        ),
        (
            {"type": "allowed_tools", "tools": ["get_cart", "modfy_cart"]},
            "`modify_cart` is no allowed tool, but was called (first: call 2); the check allows `modfy_cart`, did you mean `modify_cart`?",
        ),
        ({"type": "tool_arguments", "tool": "modify-cart"}, "were, did you mean `modify_cart`?"),
    ],
)
def test_reason__names_the_called_tool_with_a_similar_name(raw: dict[str, Any], reason: str) -> None:
    assert assess(raw, make_trace(calls=CALLS)).reason.endswith(reason)


@pytest.mark.parametrize("raw", [{"type": "tool_called", "tool": "refund"}, {"type": "tool_called", "tool": "modf*"}])
def test_reason__suggests_nothing_for_another_name(raw: dict[str, Any]) -> None:
    assert "did you mean" not in assess(raw, make_trace(calls=CALLS)).reason
