"""What an approvals file can contain, and the errors of an invalid one."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.adapters.suites.approvals_file import read_approvals
from evalgate.errors import InvalidInput, OverLimit, SuiteError
from evalgate.models.approvals.approval import Approval, ApprovalFile

WHOLE = """\
version: 1
approvals:
  - suite: s
    scenario: 12
    variant: v
    assertion: a
    change: broken
    limit: {score: 0.7}
    trace: {sha}
    reason: outage
    who: Ana
    until: 2026-12-31
""".replace("{sha}", "a" * 64)


def read(text):
    return read_approvals(ApprovalFile("evalgate-approvals.yaml", text.encode()))


def read_problems(text):
    with pytest.raises(SuiteError) as caught:
        read(text)
    return [str(problem).removeprefix("evalgate-approvals.yaml") for problem in caught.value.problems]


def test_an_approval_with_every_field_is_read():
    [found] = read(WHOLE)
    location = found.location
    assert found == Approval(
        *("s", "12", "v", "a", "broken", 0.7, "outage", "Ana", date(2026, 12, 31)),
        frozenset({"a" * 64}),
        location,
    )
    assert (location.line, location.column) == (3, 5)


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "approvals: []\n"])
def test_an_empty_file_approves_nothing(text):
    assert read(text) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("until: 2026-12-31", "until: 31.12.2026", ":12:5"),
        ("until: 2026-12-31", "until: 2026-02-30", ":12:5"),
        ("until: 2026-12-31", "until: never", ":12:5"),
        ("    until: 2026-12-31\n", "", ":3:5: `until` is missing"),
        ("    who: Ana\n", "", ":3:5: `who` is missing"),
        ("    reason: outage\n", "", ":3:5: `reason` is missing"),
        ("reason: outage", "reason: ''", ":10:5"),
        ("suite: s", "suites: s", ':3:5: unknown key "suites" (did you mean `suite`?)'),
        ("change: broken", "change: brokn", ":7:5: `change` can't be text"),
        ("score: 0.7", "score: 70", ":8:13"),
        ("score: 0.7", "cost: 1", ":8:13: unknown key"),
        ("a" * 64, "abc", ":9:5"),
        ("approvals:", "approval:", ":2:1: unknown key"),
    ],
)
def test_an_error_is_reported_with_its_location(old, new, expected):
    assert old in WHOLE
    found = read_problems(WHOLE.replace(old, new))
    assert any(each.startswith(expected) for each in found), found


def test_all_errors_are_reported_at_once():
    assert len(read_problems("approvals: [{suite: s}, {scenario: a}]")) == 8


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a: [", b"- 1\n", b"x", b"approvals: &a [*a]"])
def test_invalid_file_content_is_refused(content):
    with pytest.raises(SuiteError):
        read_approvals(ApprovalFile("a.yaml", content))


def test_a_file_that_is_too_large_is_refused():
    with pytest.raises(OverLimit, match="larger than 256,000 bytes"):
        read("#" * 256_001)


def test_at_most_a_thousand_approvals_are_read():
    one = "{suite: s, scenario: a, reason: r, who: w, until: 2026-12-31}"
    assert len(read(f"approvals: [{', '.join([one] * 1_000)}]")) == 1_000
    assert read_problems(f"approvals: [{', '.join([one] * 1_001)}]")


@given(st.binary(max_size=200))
def test_any_bytes_give_approvals_or_an_error(content):
    try:
        read_approvals(ApprovalFile("a.yaml", b"approvals:\n" + content))
    except InvalidInput:
        return
