"""User feedback and regression suites in a store."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from evalgate.errors import SettingError
from evalgate.features.store.adapters.database import Database
from evalgate.features.store.adapters.schema.tables import FEEDBACK
from evalgate.features.store.adapters.store_url import parse_store_url
from evalgate.features.store.ports import Page
from evalgate.models.run.golden import Golden

USER = "6f1c1c5e-7a1f-4b0e-9a56-7f3f0b0c2d11"


def test_feedback_comes_back_as_it_was(store, feedback):
    store.goldens.create(Golden("refund"))
    given = feedback(issues=("slow", "curt"), user_id=USER, message_id="m-1", golden_id="refund")

    created = store.feedback.create(given)

    assert created.id
    assert created.created_at.tzinfo is UTC
    assert replace(created, id="", created_at=None) == given
    assert store.feedback.list() == [created]
    assert store.feedback.list(golden_id="refund") == [created]


def test_feedback_is_listed_by_conversation_the_oldest_first(store, feedback):
    for hour, conversation in ((3, "c-7"), (1, "c-7"), (2, "c-8")):
        when = datetime(2026, 1, 1, hour, tzinfo=UTC)
        store.feedback.create(feedback(id=f"f{hour}", conversation_id=conversation, created_at=when))

    assert [each.id for each in store.feedback.list(conversation_id="c-7")] == ["f1", "f3"]
    assert [each.id for each in store.feedback.list(Page(1, 1), conversation_id="c-7")] == ["f3"]
    assert [each.id for each in store.feedback.list(Page(2))] == ["f1", "f2"]
    assert store.feedback.list(conversation_id="c-9") == []


def test_every_rating_and_word_is_accepted(store, feedback):
    for rating in (1, 2, 3, 4, 5):
        for sentiment in ("positive", "negative", "neutral"):
            created = store.feedback.create(feedback(rating=rating, feedback=sentiment))
            assert (created.rating, created.feedback) == (rating, sentiment)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rating": 0}, "a rating must be a number from 1 to 5"),
        ({"rating": 6}, "a rating must be a number from 1 to 5"),
        ({"feedback": "meh"}, "feedback must be one of positive, negative, neutral"),
        ({"user_id": "ada"}, "a user id must be a UUID, not `ada`"),
        ({"golden_id": "unheard"}, "there is no golden `unheard`"),
    ],
    ids=str,
)
def test_other_feedback_is_refused(store, feedback, change, message):
    with pytest.raises(SettingError, match=message):
        store.feedback.create(feedback(**change))
    assert store.feedback.list() == []


@pytest.mark.parametrize("rating", [0, 6])
def test_the_tables_themselves_hold_ratings_to_1_to_5(store_url, rating):
    database = Database(parse_store_url(store_url, "/"))
    row = {
        "id": "f",
        "conversation_id": "c",
        "rating": rating,
        "feedback": "neutral",
        "comment": "",
        "issues": [],
    }
    with pytest.raises(SettingError, match="feedback rating is 1 to 5"), database.writing() as connection:
        connection.execute(FEEDBACK.insert(), row | {"created_at": datetime(2026, 1, 1, tzinfo=UTC)})
    database.close()


def test_an_id_of_feedback_is_taken_once(store, feedback):
    store.feedback.create(feedback(id="f"))
    with pytest.raises(SettingError, match="the feedback `f` already exists"):
        store.feedback.create(feedback(id="f", rating=1))


def test_a_suite_comes_back_as_it_was(store, suite):
    for name in ("b", "a"):
        store.goldens.create(Golden(name))
    given = suite(
        golden_ids=("b", "a"),
        golden_tags=("smoke",),
        golden_intents=("debugging",),
        passing_score=0.9,
        critical_issue_threshold=2,
        evaluate_tone=False,
        creator="ada",
    )

    created = store.suites.create(given)

    assert replace(created, created_at=None, updated_at=None) == given
    assert store.suites.get("nightly") == created
    assert store.suites.list() == [created]


def test_a_suite_names_goldens_that_are_stored(store, suite):
    with pytest.raises(SettingError, match="there is no golden `unheard`"):
        store.suites.create(suite(golden_ids=("unheard",)))
    assert store.suites.list() == []


def test_a_name_of_a_suite_is_taken_once(store, suite):
    store.suites.create(suite())
    with pytest.raises(SettingError, match="the regression suite `nightly` already exists"):
        store.suites.create(suite(description="another"))


def test_suites_are_updated_listed_by_name_and_deleted(store, suite):
    store.goldens.create(Golden("a"))
    store.suites.create(suite(name="z"))
    made = store.suites.create(suite(golden_ids=("a",)))

    changed = store.suites.update(replace(made, golden_ids=(), description="each week"))

    assert changed.created_at == made.created_at
    assert store.suites.get("nightly") == changed
    assert [each.name for each in store.suites.list()] == ["nightly", "z"]
    assert [each.name for each in store.suites.list(Page(1, 1))] == ["z"]
    assert store.suites.delete("nightly")
    assert not store.suites.delete("nightly")
    assert store.goldens.ids() == ["a"]
    with pytest.raises(SettingError, match="there is no regression suite `nightly`"):
        store.suites.update(made)


@pytest.mark.parametrize("change", [{"passing_score": 1.2}, {"critical_issue_threshold": -1}], ids=str)
def test_a_suite_with_no_sensible_bound_is_refused(store, suite, change):
    with pytest.raises(SettingError, match=r"the store refuses a value: suite \w+ "):
        store.suites.create(suite(**change))
