"""The line that approves: its syntax, what is not a command, and what is refused."""

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
def test_a_command_is_parsed(body, command):
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
def test_quotes_code_lookalikes_and_later_lines_are_not_a_command(body):
    assert parse_command(body) is None


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("/evalgate", "has no such command"),
        ("/evalgate reject refund because x", "has no such command"),
        ("/evalgate appr\u043eve all because x", "has no such command"),
        ("/evalgate approve", "names no scenario"),
        ("/evalgate approve `open because x", "names no scenario"),
        ("/evalgate approve * because x", "no wildcards"),
        ("/evalgate approve ref* because x", "no wildcards"),
        ("/evalgate approve refund\u202e because x", "contains invisible characters"),
        ("/evalgate approve refund because x\u200b", "contains invisible characters"),
        ("/evalgate approve refund because x\u2028y", "contains invisible characters"),
        ("/evalgate approve refund because a\tb", "contains invisible characters"),
        ("/evalgate approve refund because \ud800", "contains invisible characters"),
        ("/evalgate approve refund until 2026-1\uff12-01 because x", "the date after `until` must be valid"),
        ("/evalgate approve refund until 2026-02-30 because x", "the date after `until` must be valid"),
        ("/evalgate approve refund until tomorrow because x", "the date after `until` must be valid"),
        ("/evalgate approve refund until because x", "`because REASON` must follow the scenario"),
        ("/evalgate approve refund", "`because REASON` must follow the scenario"),
        ("/evalgate approve refund because", "`because REASON` must follow the scenario"),
        ("/evalgate approve refund becau\u0455e x", "`because REASON` must follow the scenario"),
        ("/evalgate approve refund, gone because x", "`because REASON` must follow the scenario"),
        ("/evalgate approve refund because " + "x" * 501, "longer than 500"),
        ("/evalgate approve " + "y" * 600 + " because x", "at most 512"),
        ("/evalgate approve " + "y" * 100_000, "longer than 1,000"),
    ],
)
def test_an_inexact_command_is_refused_with_the_reason(body, reason):
    found = parse_command(body)
    assert isinstance(found, str)
    assert reason in found


@given(st.text(), st.sampled_from(["", "/evalgate ", "/evalgate approve ", "/evalgate approve a because "]))
def test_any_text_is_a_command_a_refusal_or_ordinary_text(text, start):
    found = parse_command(start + text)
    if isinstance(found, ApproveCommand):
        assert found.reason.strip()
        assert "*" not in (found.scenario or "")
        assert (start + text).startswith("/evalgate approve ")
