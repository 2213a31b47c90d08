"""`evalgate store feedback` on a real store."""

from __future__ import annotations

import pytest
from store_builders import make_golden

ON_SQLITE = pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
SECRET = "ghp_" + "a1B2" * 9
USER = "0b5ac1ab-5a5c-4e7f-9a51-0d4f2ad2a3c1"


def test_added_feedback_is_listed(verbs, store):
    store.goldens.create(make_golden())
    done = verbs(
        *("feedback", "add", "talk-1", "--rating", "2", "--comment", "asked twice", "--issue", "slow"),
        *("--issue", "rude", "--user-id", USER.upper(), "--message-id", "m1", "--golden", "refund"),
    )
    [one] = verbs("feedback", "list", "--json").json
    assert done.out == f"added: {one['id']}\n"
    assert one == {
        "id": one["id"],
        "conversation_id": "talk-1",
        "message_id": "m1",
        "golden_id": "refund",
        "user_id": USER,
        "rating": 2,
        "feedback": "negative",
        "comment": "asked twice",
        "issues": ["slow", "rude"],
        "time": "2025-12-31T22:40:49Z",
    }
    head, row = verbs("feedback", "list").out.splitlines()
    assert head.split() == ["TIME", "CONVERSATION", "RATING", "FEEDBACK", "GOLDEN", "ISSUES", "COMMENT"]
    assert "2/5" in row
    assert "slow, rude" in row


def test_feedback_is_listed_by_conversation_and_golden(verbs, store):
    store.goldens.create(make_golden())
    verbs("feedback", "add", "talk-1", "--rating", "5")
    verbs("feedback", "add", "talk-2", "--rating", "5", "--golden", "refund")

    def conversations(*words):
        return [one["conversation_id"] for one in verbs("feedback", "list", "--json", *words).json]

    assert sorted(conversations()) == ["talk-1", "talk-2"]
    assert conversations("--conversation", "talk-1") == ["talk-1"]
    assert conversations("--golden", "refund") == ["talk-2"]
    assert len(conversations("--limit", "1")) == 1
    assert verbs("feedback", "list", "--conversation", "none").err == "no feedback\n"


@ON_SQLITE
def test_a_rating_decides_the_feedback_unless_it_is_given(verbs):
    usual = {"5": "positive", "4": "positive", "3": "neutral", "2": "negative", "1": "negative"}
    for rating in usual:
        verbs("feedback", "add", rating, "--rating", rating)
    verbs("feedback", "add", "given", "--rating", "1", "--feedback", "neutral")
    found = {one["conversation_id"]: one["feedback"] for one in verbs("feedback", "list", "--json").json}
    assert found == {**usual, "given": "neutral"}


MISTAKES = [
    (["talk-1"], "--rating"),
    (["talk-1", "--rating", "6"], "invalid choice: 6"),
    (["talk-1", "--rating", "1", "--feedback", "bad"], "invalid choice: 'bad'"),
    (["talk-1", "--rating", "1", "--user-id", "ada"], "a user id must be a UUID, not `ada`"),
    (
        ["talk-1", "--rating", "1", "--golden", "refnd"],
        "the store has no golden `refnd` (did you mean `refund`?)",
    ),
    (["", "--rating", "1"], "CONVERSATION must have 1 to 512 characters"),
    (["c" * 513, "--rating", "1"], "CONVERSATION must have 1 to 512 characters"),
    (["c", "--rating", "1", "--comment", "x" * 10_000_000], "--comment must have at most 10,000 characters"),
    (["c", "--rating", "1", "--issue", ""], "--issue 1 must have 1 to 512 characters"),
    (["c", "--rating", "1", *["--issue", "x"] * 101], "--issue may be given at most 100 times"),
]


@ON_SQLITE
def test_invalid_feedback_is_one_clear_line(verbs, store):
    store.goldens.create(make_golden())
    for words, reason in MISTAKES:
        done = verbs("feedback", "add", *words, code=2)
        assert reason in done.err, words
        assert done.err.count("\n") == 1, words
    assert store.feedback.list() == []


def test_secrets_are_not_stored_and_hostile_text_reaches_no_terminal(verbs, store):
    hostile = "\x1b[2J::error::x \u202e\x00\ud800"
    verbs(
        *("feedback", "add", f"::error::{hostile}", "--rating", "1", "--comment", f"{hostile} {SECRET}"),
        *("--issue", f"{hostile} {SECRET}", "--message-id", hostile),
    )
    assert SECRET not in repr(store.feedback.list())
    for words in ((), ("--json",)):
        out = verbs("feedback", "list", *words).out
        assert out.replace("\n", "").isprintable()
        assert not [line for line in out.splitlines() if line.lstrip().startswith("::")]
