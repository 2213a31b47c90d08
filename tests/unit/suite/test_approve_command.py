"""The one line that approves: what it may say, what is talk, and what is refused."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.suite.approve_command import ApproveCommand, parse_command

COMMAND = "/evalgate approve refund because the API is down"


@pytest.mark.parametrize(
    ("body", "command"),
    [
        (COMMAND, ApproveCommand("refund", None, "the API is down")),
        (f"{COMMAND}  \r\nand more", ApproveCommand("refund", None, "the API is down")),
        ("/evalgate approve all because x", ApproveCommand(None, None, "x")),
        ("/evalgate approve `all` because x", ApproveCommand("all", None, "x")),
        ("/evalgate  approve  all  because  x", ApproveCommand(None, None, "x")),
        (
            "/evalgate approve a[0]|b:c until 2026-12-31 because x y",
            ApproveCommand("a[0]|b:c", date(2026, 12, 31), "x y"),
        ),
        ("/evalgate approve `two words` because x", ApproveCommand("two words", None, "x")),
        ("/evalgate approve ` s / a ` because x", ApproveCommand("s / a", None, "x")),
        ("/evalgate approve ``a`b`` because x", ApproveCommand("a`b", None, "x")),
        ("/evalgate approve `a because b` because x", ApproveCommand("a because b", None, "x")),
        ("/evalgate approve because because because", ApproveCommand("because", None, "because")),
        ("/evalgate approve r\u0435fund because x", ApproveCommand("r\u0435fund", None, "x")),
    ],
)
def test_what_it_says(body, command):
    assert parse_command(body) == command


@pytest.mark.parametrize(
    "body",
    [
        "",
        f"> {COMMAND}",
        f"```\n{COMMAND}\n```",
        f"    {COMMAND}",
        f"\n{COMMAND}",
        f"<!--\n{COMMAND}\n-->",
        f"<details>\n\n{COMMAND}\n",
        f"looks fine\n{COMMAND}",
        f"`{COMMAND}`",
        f"\u200b{COMMAND}",
        f"\ufeff{COMMAND}",
        "\uff0fevalgate approve all because x",
        "/ev\u0430lgate approve all because x",
        "/EVALGATE approve all because x",
        "/evalgate\u00a0approve all because x",
        "/evalgates approve all because x",
    ],
)
def test_quotes_code_look_alikes_and_later_lines_are_talk(body):
    assert parse_command(body) is None


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("/evalgate", "knows no such command"),
        ("/evalgate reject refund because x", "knows no such command"),
        ("/evalgate appr\u043eve all because x", "knows no such command"),
        ("/evalgate approve", "names no scenario"),
        ("/evalgate approve `open because x", "names no scenario"),
        ("/evalgate approve * because x", "no wildcards"),
        ("/evalgate approve ref* because x", "no wildcards"),
        ("/evalgate approve refund\u202e because x", "characters that nobody can see"),
        ("/evalgate approve refund because x\u200b", "characters that nobody can see"),
        ("/evalgate approve refund because x\u2028y", "characters that nobody can see"),
        ("/evalgate approve refund because a\tb", "characters that nobody can see"),
        ("/evalgate approve refund because \ud800", "characters that nobody can see"),
        ("/evalgate approve refund until 2026-1\uff12-01 because x", "one of the calendar"),
        ("/evalgate approve refund until 2026-02-30 because x", "one of the calendar"),
        ("/evalgate approve refund until tomorrow because x", "one of the calendar"),
        ("/evalgate approve refund until because x", "must go on with"),
        ("/evalgate approve refund", "must go on with"),
        ("/evalgate approve refund because", "must go on with"),
        ("/evalgate approve refund becau\u0455e x", "must go on with"),
        ("/evalgate approve refund, gone because x", "must go on with"),
        ("/evalgate approve refund because " + "x" * 501, "longer than 500"),
        ("/evalgate approve " + "y" * 600 + " because x", "at most 512"),
        ("/evalgate approve " + "y" * 100_000, "longer than 1,000"),
    ],
)
def test_what_is_not_said_exactly_is_refused(body, why):
    found = parse_command(body)
    assert isinstance(found, str)
    assert why in found


@given(st.text(), st.sampled_from(["", "/evalgate ", "/evalgate approve ", "/evalgate approve a because "]))
def test_any_text_is_a_command_a_refusal_or_talk(text, start):
    found = parse_command(start + text)
    if isinstance(found, ApproveCommand):
        assert found.reason.strip()
        assert "*" not in (found.scenario or "")
        assert (start + text).startswith("/evalgate approve ")
