"""The comment in six states, as the gate makes it from traces: what a reader sees before opening anything."""

from __future__ import annotations

import re
from functools import cache

import pytest
from comment_states import RUN_URL, STATES, make_comment
from markdown_check import find_flaws

made = cache(make_comment)


def unfolded(comment: str) -> str:
    """What a reader sees before opening a fold."""
    return re.sub(r"(?s)<details>.*?</details>", "", comment)


@pytest.mark.parametrize("name", STATES)
def test_a_comment_fits_and_is_made_only_of_our_markup(name):
    assert len(made(name)) < 12_000
    marker = "evalgate:sticky v1 key=evalgate"
    assert find_flaws(made(name), links=[RUN_URL], comments=[marker], repositories="acme/support-agent") == []


@pytest.mark.parametrize("name", STATES)
def test_a_comment_shows_nothing_unknown_and_no_empty_column(name):
    rows = [line for line in unfolded(made(name)).split("\n") if line.startswith("|")]
    assert [row for row in rows if re.search(r"\|\s*\u2013?\s*\|", row)] == []
    figures = re.findall(r"(?m)^\*\*Score\*\*.*$", made(name))
    assert [line for line in figures if "unknown" in line] == []


def test_what_is_red_is_on_the_first_screen_of_25_suites():
    shown = unfolded(made("25-suites")).split("\n")
    rows = [line.split("`")[1].strip() for line in shown if line.startswith("| `")]
    assert rows == ["stock", "vouchers", "zones"]
    assert next(number for number, line in enumerate(shown) if "HARD" in line) < 30


def test_300_failures_are_counted_and_named():
    comment = made("300-failures")
    assert "### Failures (300)" in comment
    assert {f"case-{number:03}" for number in range(300)} <= set(re.findall(r"case-\d{3}", comment))


def test_each_cause_is_written_once():
    lines = unfolded(made("mixed")).split("\n")
    assert [line for line in lines if "must not be called" in line] == [
        "- ` no refund ` (required: a hard fail): ` issue_refund ` must not be called, but was (call 2)"
    ]
    assert sum("passed 4 of 4 before, 0 of 4 now" in line for line in lines) == 2
    assert not [line for line in lines if "0 of 4 trials passed" in line or "in 4 of 4 trials" in line]


def test_what_to_do_about_chance_is_not_cut_off():
    [row] = [line for line in made("mixed").split("\n") if "may be chance" in line]
    assert re.search(r"3 of 4 now: record at least (\d+) trials on each side \(` --trials \1 `\) to be sure \|$", row)


def test_a_name_in_hebrew_moves_no_number_of_the_line():
    [line] = [line for line in made("long-texts").split("\n") if "HARD" in line]
    assert re.search("\u2068` [\u0590-\u06ff ]+ `\u2069$", line)


def test_a_comment_with_a_downloaded_baseline_fetches_it():
    assert (
        "gh run download 8211 -R acme/support-agent -n evalgate-baseline -D .evalgate/baseline-8211\nevalgate run "
    ) in made("mixed")
    assert "gh run" not in made("first-run")
