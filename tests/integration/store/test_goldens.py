"""Golden conversations in a store."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from evalgate.errors import SettingError
from evalgate.features.store.ports import DeletionCounts, GoldenFilter, Page
from evalgate.models.run.golden import Golden

REFUND = Golden(
    "refund",
    title="A refund within thirty days",
    description="The customer is right",
    conversation_id="c-7",
    intent="task_execution",
    primary_stance="helpful",
    secondary_stances=("formal", "supportive"),
    required_memory_recall=("episodic",),
    required_tool_usage=("correct_invocation",),
    required_refusal=("not_applicable",),
    user_messages=("I want my money back", "Order 42"),
    golden_responses=("Which order?", "Refunded"),
    tags=("refunds", "smoke"),
    creator="ada",
)


def drop_store_fields(golden):
    """What a person wrote, without what the store adds."""
    return replace(golden, version=1, created_at=None, updated_at=None)


def test_a_golden_comes_back_as_it_was(store):
    created = store.goldens.create(REFUND)

    assert drop_store_fields(created) == REFUND
    assert store.goldens.get("refund") == created
    assert created.version == 1
    assert created.created_at == created.updated_at
    assert created.created_at.tzinfo is UTC


def test_an_id_is_taken_once(store):
    store.goldens.create(REFUND)

    with pytest.raises(SettingError, match="the golden `refund` already exists"):
        store.goldens.create(replace(REFUND, title="another"))
    assert store.goldens.get("refund").title == REFUND.title


def test_there_is_nothing_under_an_unknown_id(store):
    assert store.goldens.get("refund") is None
    assert store.goldens.delete("refund") is None


def test_an_update_raises_the_version_and_keeps_the_creation_time(store):
    created = store.goldens.create(REFUND)
    updated = store.goldens.update(replace(created, title="Within sixty days", tags=("smoke",)))

    assert updated.version == 2
    assert updated.title == "Within sixty days"
    assert updated.created_at == created.created_at
    assert store.goldens.list(by=GoldenFilter(tag="refunds")) == []
    assert store.goldens.list(by=GoldenFilter(tag="smoke")) == [updated]


def test_of_two_updates_of_one_version_the_second_is_refused(store):
    created = store.goldens.create(REFUND)
    store.goldens.update(replace(created, title="first"))

    with pytest.raises(SettingError, match="has changed to version 2 in the meantime"):
        store.goldens.update(replace(created, title="second"))
    assert store.goldens.get("refund").title == "first"


def test_an_update_of_an_unknown_golden_suggests_similar_ids(store):
    store.goldens.create(REFUND)

    with pytest.raises(SettingError, match="did you mean `refund`"):
        store.goldens.update(replace(REFUND, id="refunds"))


def test_keeping_stores_updates_and_leaves_what_is_the_same(store):
    first = store.goldens.upsert(REFUND)
    again = store.goldens.upsert(replace(REFUND, version=9))
    changed = store.goldens.upsert(replace(REFUND, golden_responses=("Which one?", "Refunded")))

    assert [first.version, again.version, changed.version] == [1, 1, 2]
    assert first == again


def test_lists_are_paged_and_in_the_order_of_ids(store):
    for name in ("c", "a", "e", "b", "d"):
        store.goldens.create(replace(REFUND, id=name))

    assert [each.id for each in store.goldens.list(Page(2))] == ["a", "b"]
    assert [each.id for each in store.goldens.list(Page(2, 2))] == ["c", "d"]
    assert [each.id for each in store.goldens.list(Page(2, 4))] == ["e"]
    assert store.goldens.list(Page(0)) == []
    assert store.goldens.ids() == list("abcde")
    assert store.goldens.count() == 5


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (GoldenFilter(), ["a", "b", "c"]),
        (GoldenFilter(intent="debugging"), ["a", "b"]),
        (GoldenFilter(stance="cautious"), ["b"]),
        (GoldenFilter(creator="grace"), ["c"]),
        (GoldenFilter(tag="smoke"), ["a", "c"]),
        (GoldenFilter(intent="debugging", tag="smoke"), ["a"]),
        (GoldenFilter(intent="navigation"), []),
        (GoldenFilter(tag="%"), []),
    ],
)
def test_lists_are_filtered(store, by, expected):
    plain = replace(REFUND, tags=(), intent="debugging")
    store.goldens.create(replace(plain, id="a", tags=("smoke", "smoke")))
    store.goldens.create(replace(plain, id="b", primary_stance="cautious"))
    store.goldens.create(replace(plain, id="c", intent="learning", creator="grace", tags=("smoke",)))

    assert [each.id for each in store.goldens.list(by=by)] == expected
    assert store.goldens.count(by) == len(expected)


def test_goldens_are_chosen_by_id_or_tag_or_intent(store):
    for name, intent, tags in (
        ("a", "learning", ()),
        ("b", "other", ("x",)),
        ("c", "other", ()),
        ("d", "analysis", ()),
    ):
        store.goldens.create(Golden(name, intent=intent, tags=tags))

    chosen = store.goldens.select(ids=["c", "c", "unknown"], tags=["x"], intents=["learning"])

    assert [each.id for each in chosen] == ["a", "b", "c"]
    assert store.goldens.select() == []


def test_deleting_a_golden_deletes_its_evaluations_and_keeps_feedback(store, evaluation, feedback, suite):
    store.goldens.create(REFUND)
    store.goldens.create(replace(REFUND, id="other"))
    for name in ("refund", "refund", "other"):
        store.evaluations.create(evaluation(name))
    word = store.feedback.create(feedback(golden_id="refund"))
    store.suites.create(suite(golden_ids=("refund", "other")))

    assert store.goldens.delete("refund") == DeletionCounts(evaluations=2, suites=1)

    assert store.goldens.ids() == ["other"]
    assert store.evaluations.list(golden_id="refund") == []
    assert [each.golden_id for each in store.evaluations.list()] == ["other"]
    assert store.feedback.list() == [replace(word, golden_id=None)]
    assert store.suites.get("nightly").golden_ids == ("other",)


def test_times_are_those_of_the_clock_and_in_utc(store_url):
    from evalgate.features.store.bootstrap.store import open_store

    with open_store(store_url, "/", source_date_epoch="1767225600") as store:
        created = store.goldens.create(REFUND)

    assert created.created_at == datetime(2026, 1, 1, tzinfo=UTC)
