"""Blanks, hyphens and apostrophes that typographers use: no other word hides behind them, and none fails for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from builders import make_trace
from command import evalgate

from evalgate.gate.trajectory.answers import find_literals
from evalgate.gate.trajectory.behaviour import read_steady_answer
from evalgate.measures.text.text_similarity import measure_quality
from hostile.suite_edits import suite, trace, write

if TYPE_CHECKING:
    from pathlib import Path

NO_BREAK, NARROW, FIGURE, HYPHEN, FIXED = "\u00a0", "\u202f", "\u2007", "\u2010", "\u2011"
APOSTROPHE, DASH, MINUS = "\u2019", "\u2013", "\u2212"


def judge(folder: Path, check: Any, answer: str, **fields: Any) -> str:
    """The outcome of a check of an answer."""
    write(folder, {"evals/s.yaml": suite(check), "traces/a.json": trace(answer, **fields)})
    results = evalgate(folder, ["evals/s.yaml"]).results
    (judged,) = results["suites"][0]["scenarios"][0]["trials"][0]["assertions"]
    return str(judged["outcome"])


def write_alike(wanted: str) -> list[dict[str, Any]]:
    """Checks that a text has, as each kind of check writes it."""
    return [
        {"contains": wanted},
        {"type": "icontains", "value": wanted.upper()},
        {"type": "contains_all", "values": [wanted]},
        {"type": "contains_any", "values": [wanted, "nothing of it"]},
        {"type": "starts_with", "value": wanted},
        {"type": "ends_with", "value": wanted},
        {"type": "equals", "value": wanted},
        {"type": "output_contains", "value": wanted},
        {"type": "output_contains", "pattern": wanted, "literal": True},
        {"path": "response.content", "eq": wanted},
        {"path": "response.content", "contains": wanted},
        {"path": "response.content", "in": [wanted]},
        {"path": "turns[-1].content", "contains": wanted},
    ]


PATTERNS = [
    {"regex": "delete account"},
    {"type": "output_contains", "pattern": "delete account"},
    {"path": "response.content", "regex": "delete account"},
]
BLANKS = [NO_BREAK, NARROW, FIGURE, "\u2009", "\u3000"]


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("check", [*write_alike("delete account"), *PATTERNS], ids=str)
def test_another_blank_hides_no_words_from_a_negated_check(tmp_path, check, blank):
    assert judge(tmp_path, {"not": check}, f"delete{blank}account") == "failed"
    assert judge(tmp_path, {"not": check}, f"keep{blank}account") == "passed"


@pytest.mark.parametrize("hyphen", [HYPHEN, FIXED, f"\u00ad{FIXED}"])
@pytest.mark.parametrize("check", write_alike("delete-account"), ids=str)
def test_another_hyphen_hides_no_words_from_a_negated_check(tmp_path, check, hyphen):
    assert judge(tmp_path, {"not": check}, f"delete{hyphen}account") == "failed"


LETTERS = {
    "Cyrillic": "d\u0435lete \u0430cc\u043eunt",
    "Greek": "delete acc\u03bfunt",
    "full width": "\uff44\uff45\uff4c\uff45\uff54\uff45 \uff41\uff43\uff43\uff4f\uff55\uff4e\uff54",
    "bold": "\U0001d41d\U0001d41e\U0001d425\U0001d41e\U0001d42d\U0001d41e account",
    "bold and hidden": "\U0001d41de\u00adlete\u00a0acc\u043eunt",
}


@pytest.mark.parametrize("letters", LETTERS.values(), ids=LETTERS)
@pytest.mark.parametrize("check", [*write_alike("delete account"), *PATTERNS], ids=str)
def test_other_letters_hide_no_words_from_a_negated_check_and_satisfy_none(tmp_path, check, letters):
    assert judge(tmp_path, {"not": check}, letters) == "failed"
    assert judge(tmp_path, check, letters) == "failed"


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("cop", "\u042d\u0442\u043e \u0441\u043e\u0440, not a word"),  # a Russian word alone
        ("102", "10\u00b2 times"),
        ("1", "step \u2460"),
        ("O", "pay 0 \u20ac"),
        ("rn", "m\u00fcm"),
        ("u", "f\u00fcr"),
        ("TM", "EvalGate\u2122"),
        ("...", "wait\u2026"),
    ],
)
def test_what_is_another_word_or_sign_is_not_found_by_a_negated_check(tmp_path, word, answer):
    for check in (
        {"contains": word},
        {"type": "icontains", "value": word},
        {"path": "response.content", "contains": word},
    ):
        assert judge(tmp_path, {"not": check}, answer) == "passed"


@pytest.mark.parametrize("operator", ["ne", "not_in"])
@pytest.mark.parametrize("path", ["response.content", "tool_calls[0].arguments.text"])
def test_another_hyphen_makes_no_other_text(tmp_path, operator, path):
    calls = [{"role": "assistant", "tool_calls": [{"name": "say", "arguments": {"text": f"delete{FIXED}account"}}]}]
    answer = {"role": "assistant", "content": f"delete{FIXED}account"}
    messages = [{"role": "user", "content": "hi"}, *calls, answer]
    value = ["delete-account"] if operator == "not_in" else "delete-account"
    assert judge(tmp_path, {"path": path, operator: value}, "", messages=messages) == "failed"


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        ("20 EUR", f"20{NO_BREAK}EUR"),
        ("20 EUR", f"20{NARROW}EUR"),
        (f"20{NO_BREAK}EUR", "20 EUR"),
        (f"20{NO_BREAK}EUR", f"20{NARROW}EUR"),
        ("e-mail", f"e{FIXED}mail"),
        ("e-mail", f"e{HYPHEN}mail"),
        (f"e{FIXED}mail", "e-mail"),
        ("can't", f"can{APOSTROPHE}t"),
        (f"can{APOSTROPHE}t", "can't"),
    ],
)
def test_a_required_text_may_be_written_by_a_typographer(tmp_path, wanted, answer):
    for check in write_alike(wanted):
        assert judge(tmp_path, check, answer) == "passed", check


@pytest.mark.parametrize("sign", [DASH, "\u2014", MINUS, "_", " ", ""])
def test_dashes_and_minus_signs_are_no_hyphens(tmp_path, sign):
    for check in write_alike("3-4"):
        assert judge(tmp_path, check, f"3{sign}4") == "failed", check


@pytest.mark.parametrize("sign", [NO_BREAK, APOSTROPHE, FIXED])
def test_a_check_of_the_sign_itself_is_exact(tmp_path, sign):
    plain = "it's a plain well-known text"
    for check in (
        {"contains": sign},
        {"type": "output_contains", "value": sign},
        {"path": "response.content", "contains": sign},
    ):
        assert judge(tmp_path, check, plain) == "failed", check
        assert judge(tmp_path, {"not": check}, plain) == "passed", check
        assert judge(tmp_path, check, f"with{sign}it") == "passed", check
        assert judge(tmp_path, {"not": check}, f"with{sign}it") == "failed", check


@pytest.mark.parametrize(
    ("pattern", "answer", "outcome"),
    [
        ("20\\u00a0EUR", f"20{NO_BREAK}EUR", "passed"),
        ("20\\u00a0EUR", "20 EUR", "failed"),
        ("20\\sEUR", f"20{NO_BREAK}EUR", "passed"),
        ("^[ -~]*$", f"20{NO_BREAK}EUR", "failed"),
        ("^[a-z-]+$", f"e{FIXED}mail", "failed"),
    ],
)
def test_a_required_pattern_means_what_it_says(tmp_path, pattern, answer, outcome):
    checks = [
        {"regex": pattern},
        {"type": "output_contains", "pattern": pattern},
        {"path": "response.content", "regex": pattern},
    ]
    assert {judge(tmp_path, each, answer) for each in checks} == {outcome}


@pytest.mark.parametrize(("hyphen", "other"), [(FIXED, "-"), ("-", FIXED)])
def test_arguments_are_compared_as_they_are_and_hide_nothing(tmp_path, hyphen, other):
    calls = [{"role": "assistant", "tool_calls": [{"name": "open", "arguments": {"path": f"report{hyphen}1.pdf"}}]}]
    messages = [{"role": "user", "content": "hi"}, *calls, {"role": "assistant", "content": "done"}]
    for check in (
        {"path": "tool_calls[0].arguments.path", "eq": f"report{other}1.pdf"},
        {"path": "tool_calls[0].arguments.path", "contains": f"report{other}1"},
        {"type": "equals", "path": "tool_calls[0].arguments.path", "value": f"report{other}1.pdf"},
    ):
        assert judge(tmp_path, check, "", messages=messages) == "failed", check
        assert judge(tmp_path, {"not": check}, "", messages=messages) == "failed", check  # it looks the same


@pytest.mark.parametrize("check", [{"path": "text", "ne": "delete-all"}, {"path": "text", "contains": "delete-all"}])
def test_another_hyphen_hides_nothing_in_what_a_run_left_behind(tmp_path, check):
    state = {"after": {"text": f"delete{FIXED}all"}}
    check = {"type": "state", **check}
    assert judge(tmp_path, check if "ne" in check else {"not": check}, "done", state=state) == "failed"


def test_a_reference_and_a_refusal_may_be_written_by_a_typographer(tmp_path):
    wanted, answer = (
        "I can't delete 20 e-mail accounts.",
        f"I can{APOSTROPHE}t delete 20{NO_BREAK}e{FIXED}mail accounts.",
    )
    similar = {"type": "similarity", "metric": "levenshtein", "reference": wanted, "min_score": 1}
    refusal = {"type": "is_refusal", "phrases": ["can't delete 20 e-mail"]}
    for check in (similar, refusal):
        assert judge(tmp_path, check, answer) == judge(tmp_path, check, wanted) == "passed"
    assert measure_quality(answer, wanted, strict=True) == measure_quality(wanted, answer) == 1


def test_an_answer_in_other_blanks_and_hyphens_is_no_other_answer(tmp_path):
    before, now = "Order INV-2024, 80 EUR", f"Order INV{FIXED}2024, 80{NARROW}EUR"
    whole = suite({"contains": "INV-2024"})
    for folder, answer in ((tmp_path / "before", before), (tmp_path / "now", now)):
        files = {
            f"traces/{trial}.json": trace(answer, trial=trial, started_at=f"2026-11-28T1{trial}:00:00Z")
            for trial in (1, 2)
        }
        write(folder, {"evals/s.yaml": whole, **files})
    evalgate(tmp_path / "before", ["evals/s.yaml"])
    ran = evalgate(tmp_path / "now", ["evals/s.yaml", "--baseline", str(tmp_path / "before/.evalgate/baseline.zip")])
    assert ran.results["suites"][0]["scenarios"][0].get("differences", []) == []
    assert "acting differently" not in ran.text("comment.md")
    assert ran.results["suites"][0]["scenarios"][0]["verdict"] == "PASS"


def test_literals_of_an_answer_hold_plain_hyphens():
    assert "INV-2024" in find_literals(read_steady_answer(make_trace(response=f"Order INV{FIXED}2024")))
