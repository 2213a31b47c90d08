"""Which request of an agent's traces a suite names: the one with which the scenario can be recorded again."""

from __future__ import annotations

import pytest
from builders import make_trace
from msgspec.structs import replace

from evalgate.features.learn.application.inference.shared_values import MAX_PROMPT, find_prompt


@pytest.mark.parametrize(
    "request_text", ["Refund A-7.", "two\nlines", "x" * MAX_PROMPT, 'say: "it\'s {order}"', "Grüße an Zoë"]
)
def test_the_one_request_of_all_trials(request_text: str) -> None:
    assert find_prompt([make_trace(user=request_text, trial=number) for number in range(3)]) == request_text


@pytest.mark.parametrize(
    "trials",
    [
        pytest.param([make_trace(user="Refund A-7."), make_trace(user="Refund A-8.")], id="another text"),
        pytest.param([make_trace(user="Yes.", turns=[("Refund A-7.", "Sure?")])], id="a conversation"),
        pytest.param([make_trace(user="")], id="no text"),
        pytest.param([replace(make_trace(), messages=[])], id="no message"),
        pytest.param([make_trace(user="x" * (MAX_PROMPT + 1))], id="too long"),
        pytest.param([make_trace(user="an escape \x1b[2J")], id="what does not print"),
        pytest.param([make_trace(user="my key is sk-proj-Planted0123456789abcdefXYZ")], id="a secret"),
        pytest.param([make_trace(gaps={"messages": ("compacted", "record all")})], id="incomplete messages"),
    ],
)
def test_none_that_would_record_something_else_or_should_not_be_written(trials: list) -> None:
    assert find_prompt(trials) is None
