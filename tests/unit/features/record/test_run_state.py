"""What a run left behind: the difference is one that RFC 6902 applies, masks hide values and no change."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalgate.features.record.application.run_state import MOST_OPERATIONS, MOST_TEXT, build_state
from evalgate.features.record.measures.masks import Mask, Masks
from evalgate.features.record.models.state import SeenFile, Snapshot
from evalgate.measures.sequences.differences import ABSENT
from evalgate.measures.values.json_values import json_equal

NO_MASKS = Masks(has_built_in=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text("a/~", max_size=2),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab/~0", max_size=2), inner, max_size=3),
    max_leaves=12,
)


def apply(value: Any, operations: list[dict[str, Any]]) -> Any:
    """RFC 6902, as far as differences use it."""
    value = deepcopy(value)
    for each in operations:
        *names, last = [name.replace("~1", "/").replace("~0", "~") for name in each["path"].split("/")] or [""]
        if not each["path"]:
            value = each["value"]
            continue
        place = value
        for name in names[1:]:
            place = place[int(name)] if isinstance(place, list) else place[name]
        key: Any = int(last) if isinstance(place, list) else last
        if each["op"] == "remove":
            del place[key]
        elif each["op"] == "add" and isinstance(place, list):
            place.insert(key, each["value"])
        else:
            assert each["op"] == "add" or place[key] is not ABSENT
            place[key] = each["value"]
    return value


def differ(before: Any, after: Any, masks: Masks = NO_MASKS) -> Any:
    return build_state(Snapshot(before), Snapshot(after), masks)


@given(JSON, JSON)
@example([1, 2, 3], [1])
@example({"a": [1]}, {"a": [1, 2, 3], "/": None})
def test_the_difference_makes_the_one_of_the_other(before: Any, after: Any) -> None:
    found = differ(before, after)
    assert json_equal(apply(before, found["diff"]), after)
    assert (found["diff"] == []) is json_equal(before, after)


def test_a_difference_of_many_places_is_one_operation() -> None:
    after = {str(number): 1 for number in range(MOST_OPERATIONS + 1)}
    assert differ({}, after)["diff"] == [{"op": "replace", "path": "", "value": after}]


def test_masks_hide_values_and_not_that_they_changed() -> None:
    before, after = ({"orders": {"B2": {"at": f"2026-01-0{day}T10:00:00Z"}}} for day in (1, 2))
    found = differ(before, after, Masks())
    assert found["before"] == found["after"] == {"orders": {"B2": {"at": "[time]"}}}
    assert found["diff"] == [{"op": "replace", "path": "/orders/B2/at", "value": "[time]"}]


def test_a_mask_of_a_path_hides_all_below_it() -> None:
    masks = Masks([Mask("[rows]", path=("state", "rows"))], has_built_in=False)
    found = differ({"rows": [1]}, {"rows": [2]}, masks)
    assert (found["before"], found["after"]) == ({"rows": "[rows]"}, {"rows": "[rows]"})
    assert found["diff"] == [{"op": "replace", "path": "/rows/0", "value": "[rows]"}]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_state_that_can_not_be_read_is_an_outage_and_nothing_else(when: str) -> None:
    good, bad = Snapshot({"a": 1}), Snapshot(problem="its command ended with exit code 1")
    sides = (bad, good) if when == "before" else (good, bad)
    reason = f"the state {when} the run can't be read: its command ended with exit code 1"
    assert build_state(*sides, NO_MASKS) == {"outage": reason}


def seen(text: str | None = None, digest: str | None = "d", **fields: Any) -> SeenFile:
    return SeenFile(**{"kind": "file", "size": 3, "digest": digest, "touched": (1, 1), "text": text, **fields})


def compare(before: dict[str, SeenFile], after: dict[str, SeenFile], masks: Masks = NO_MASKS) -> Any:
    return build_state(Snapshot(files=before), Snapshot(files=after), masks)["files"]


def test_files_are_added_changed_removed_or_as_they_were() -> None:
    before = {"gone": seen(digest="g"), "kept": seen("k\n"), "new": seen("1\n2\n", "1"), "to-link": seen()}
    after = {
        "added": seen("a"),
        "kept": seen("k\n", touched=(9, 9)),
        "new": seen("1\n3\n", "2"),
        "to-link": seen(kind="link", digest="l"),
    }
    assert compare(before, after) == {
        "added": {"bytes": 3, "sha256": "d", "change": "added", "text": "a"},
        "gone": {"change": "removed", "was": "g"},
        "kept": {"bytes": 3, "sha256": "d", "text": "k\n"},
        "new": {
            "bytes": 3,
            "sha256": "2",
            "change": "changed",
            "was": "1",
            "text": "1\n3\n",
            "diff": "--- a/new\n+++ b/new\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n",
        },
        "to-link": {"kind": "link", "bytes": 3, "sha256": "l", "change": "changed", "was": "d"},
    }


@pytest.mark.parametrize(
    ("now", "expected"),
    [({}, None), ({"digest": "d"}, None), ({"size": 4}, "changed"), ({"touched": (2, 1)}, "changed")],
)
def test_a_file_that_was_not_read_changed_if_its_size_or_time_did(now: dict[str, Any], expected: str | None) -> None:
    found = compare({"a": seen(digest=None)}, {"a": seen(**{"digest": None, **now})})
    assert found["a"].get("change") == expected


def test_texts_of_changed_files_come_first_and_all_are_bounded() -> None:
    size = 60_000
    before = {f"{number:03}": seen("b" * size, "1") for number in range(40)}
    after = {**before, "039": seen("a" * size, "2")}
    found = compare(before, after)
    assert "text" in found["039"]
    assert sum(len(each.get("text", "")) for each in found.values()) <= MOST_TEXT
    assert compare({"a": seen("\n" * 3_000, "1")}, {"a": seen("\n" * 3_001, "2")})["a"].get("diff") is None
