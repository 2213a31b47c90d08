"""Ids as people paste them: whole, their beginning, or cut in the middle by a report."""

import pytest

from evalgate.measures.text.ids import cut_middle, find_ids, list_ids, suggest_id

IDS = ["refund", "refund-late", "refund-soon", "goodbye", "a" * 90 + "-first", "a" * 90 + "-second"]


@pytest.mark.parametrize("limit", [3, 4, 40, 41])
def test_a_cut_id__has_the_limits_length_and_finds_its_id_alone(limit):
    cut = cut_middle(IDS[4], limit)
    assert len(cut) == limit
    assert (cut[0], cut[-1]) == ("a", "t")
    assert find_ids(cut, IDS)[0] == IDS[4]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("refund", ["refund"]),
        ("refund-", ["refund-late", "refund-soon"]),
        ("good", ["goodbye"]),
        ("aaaa\u2026-second", [IDS[5]]),
        ("goodb\u2026 (+2)", ["goodbye"]),  # as earlier versions cut it
        ("goodb\u2026 (2 more characters)", ["goodbye"]),
        ("goodb\u2026", ["goodbye"]),
        ("goodbye!", []),
        ("refund\u2026refund", []),
        ("", []),
        ("\u2026", []),
    ],
)
def test_an_id__is_found_whole_by_its_beginning_or_as_it_was_cut(given, found):
    assert find_ids(given, IDS) == found


@pytest.mark.parametrize(
    ("given", "known", "suggested"),
    [
        ("refund-lat3", IDS, "refund-late"),
        ("cefund", ["refund", "cancel"], "refund"),
        # The longest common text is not at the beginning of the second id.
        ("order-12-refund-outside-the-window", ["order-1", "x-12-refund-outside-the-window"], "order-1"),
        ("airline-task-77\u2026 (+112)", ["airline-task-7", "retail-task-77-x"], "airline-task-7"),
    ],
)
def test_the_suggested_id__begins_alike_if_any_does(given, known, suggested):
    assert suggest_id(given, known) == f"did you mean `{suggested}`?"


def test_few_other_ids__are_listed_and_many_are_not():
    assert suggest_id("zzz", ["refund", "cancel"]) == "known: cancel, refund"
    assert suggest_id("zzz", [f"case-{number}" for number in range(11)]) is None
    assert list_ids([f"c{number}" for number in range(7)]) == "`c0`, `c1`, `c2`, `c3`, `c4` and 2 more"
