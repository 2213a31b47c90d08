"""Approvals in a store: what is approved, by whom, and for how long it holds."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from msgspec.structs import replace

from evalgate.errors import SettingError
from evalgate.features.store.ports import Page
from evalgate.models.approvals.approval import Approval, Provenance, StoredApproval

TODAY = date(2026, 5, 1)
COMMENT = Provenance("comment", 12, 99, "https://example.com/c/99", "ab" * 20, "write", self_approved=True)


def approval(provenance=Provenance("shell"), until=date(2026, 6, 1), **changes):  # noqa: B008  constants
    fields = {
        "suite": "refunds",
        "scenario": "late",
        "variant": None,
        "assertion": None,
        "change": None,
        "least_score": None,
        "reason": "known, issue 7",
        "who": "ada",
        "until": until,
        "traces": frozenset(),
        "location": None,
        "provenance": provenance,
    }
    return StoredApproval("", Approval(**fields | changes), provenance)


def test_an_approval_comes_back_as_it_was(store):
    given = approval(
        COMMENT,
        variant="fast",
        assertion="polite",
        change="broken",
        least_score=0.7,
        traces=frozenset({"aa", "bb"}),
        checks=frozenset({"polite", "quick"}),
        covers=frozenset({"ab" * 16, "cd" * 16}),
    )

    created = store.approvals.create(given)

    assert created.id
    assert created.recorded_at.tzinfo is UTC
    assert replace(created, id="", recorded_at=None) == given
    assert store.approvals.list() == [created]


def test_no_checks_are_other_than_any_checks(store):
    none = store.approvals.create(approval(checks=frozenset()))
    anything = store.approvals.create(approval(checks=None))

    assert none.approval.checks == frozenset()
    assert anything.approval.checks is None


def test_the_same_comment_is_stored_once_per_scope(store):
    first = store.approvals.create(approval(COMMENT))
    again = store.approvals.create(approval(COMMENT, reason="edited later"))
    store.approvals.create(approval(COMMENT, scenario="early"))
    store.approvals.create(approval(COMMENT._replace(comment_id=100)))
    store.approvals.create(approval(COMMENT._replace(head_commit="cd" * 20)))

    assert again == first
    assert len(store.approvals.list()) == 4


def test_two_approvals_from_a_shell_are_both_kept(store):
    store.approvals.create(approval())
    store.approvals.create(approval())

    assert len(store.approvals.list()) == 2


def test_approvals_hold_unless_expired_or_withdrawn(store):
    def create(scenario, until):
        return store.approvals.create(approval(scenario=scenario, until=until))

    create("past", date(2026, 4, 30))
    create("last day", TODAY)
    gone = create("withdrawn", date(2026, 6, 1))

    assert store.approvals.withdraw(gone.id)

    assert [each.approval.scenario for each in store.approvals.active(TODAY)] == ["last day"]
    assert len(store.approvals.list()) == 3
    assert not store.approvals.withdraw(gone.id)
    assert not store.approvals.withdraw("unheard")
    (withdrawn,) = [each for each in store.approvals.list() if each.withdrawn_at]
    assert withdrawn.id == gone.id


def test_an_approval_of_another_commit_does_not_hold_for_this_one(store):
    store.approvals.create(approval(COMMENT, scenario="here"))
    store.approvals.create(approval(COMMENT._replace(head_commit="cd" * 20), scenario="there"))
    store.approvals.create(approval(scenario="anywhere"))

    held = store.approvals.active(TODAY, head_commit="ab" * 20)

    assert sorted(each.approval.scenario for each in held) == ["anywhere", "here"]


def test_approvals_are_paged_the_oldest_first(store):
    for hour in (3, 1, 2):
        when = datetime(2026, 1, 1, hour, tzinfo=UTC)
        store.approvals.create(replace(approval(), id=f"a{hour}", recorded_at=when))

    assert [each.id for each in store.approvals.list(Page(2))] == ["a1", "a2"]
    assert [each.id for each in store.approvals.list(Page(2, 2))] == ["a3"]


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        (approval(least_score=1.1), "approval least score is 0 to 1"),
        (approval(Provenance("rumour")), "approval source is known"),  # type: ignore[arg-type]
    ],
    ids=["score", "source"],
)
def test_an_invalid_approval_is_refused(store, made, rule):
    with pytest.raises(SettingError, match=rule):
        store.approvals.create(made)
    assert store.approvals.list() == []
