"""Which literals of the answers `init` expects again: at `strict` as checks, else as comments."""

from __future__ import annotations

from typing import Any

import pytest
from builders import make_call, make_trace
from msgspec.structs import replace

from evalgate.features.learn.application.inference.draft import SuiteHead
from evalgate.features.learn.application.inference.infer import infer_suite

HEAD = SuiteHead("desk", ["../traces/*.json"])
FEE = '{"eur": "4.20", "until": "2026-12-21", "loan": "L-7741", "file": "B-L-7741"}'


def infer(*answers: str, strictness: Any = "strict", result: str = FEE) -> list[str]:
    """The lines about the answer in a suite learnt from trials with these answers."""
    call = make_call("list_fees", {"card": "C-1"}, result=result)
    response: dict[str, Any] = {"finish_reason": None, "message_index": None}
    traces = [
        replace(make_trace([call]), scenario_id="fees", response={**response, "content": answer}) for answer in answers
    ]
    text = infer_suite(traces, HEAD, strictness).render()[0]
    return [line.strip() for line in text.splitlines() if "output_contains" in line]


CHECK = '- {type: output_contains, value: "4.20", required: true}  # in all 3 answers'


def test_a_literal_of_all_answers_that_a_result_has_is_expected() -> None:
    answers = ("You owe 4.20 EUR.", "Open: 4.20 EUR", "Fees of 4.20 EUR are due")
    assert infer(*answers) == [CHECK]
    assert infer(*answers, strictness="normal") == [f"# {CHECK}"]
    assert infer(*answers[:2]) == [f"# {CHECK.replace('3', '2')}"], "two trials may agree by chance"
    assert infer(answers[0]) == []


@pytest.mark.parametrize(
    ("answers", "result"),
    [
        (["You owe 4.20 EUR."] * 3, '{"eur": "14.20"}'),
        (["You owe 4.20 EUR."] * 2 + ["You owe nothing."], FEE),
        (["It ends on 2026-12-21."] * 3, FEE),
        (["It ends in 2026."] * 3, '{"year": "2026"}'),
    ],
    ids=["another number in the result", "in two of three answers", "a day", "a year"],
)
def test_what_is_not_expected(answers: list[str], result: str) -> None:
    assert infer(*answers, result=result) == []


def test_a_part_of_another_literal_is_not_expected_beside_it() -> None:
    assert infer(*["Loan L-7741 is B-L-7741."] * 3) == [
        "- {type: output_contains, value: B-L-7741, required: true}  # in all 3 answers"
    ]


def test_a_short_amount_is_expected_as_a_whole_number() -> None:
    result = '{"eur": 80, "room": "B-180", "from": "2080-12-01"}'
    assert infer(*["Room B-180 at 80 EUR from 2080-12-01."] * 3, result=result) == [
        r'- {type: output_contains, pattern: "\\b80\\b", required: true}  # in all 3 answers',
        "- {type: output_contains, value: B-180, required: true}  # in all 3 answers",
    ]
