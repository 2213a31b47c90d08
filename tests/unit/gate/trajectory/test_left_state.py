"""What runs left behind is compared: other values, other records, other files, where all trials of a side agree."""

import pytest
from builders import make_trace

from evalgate.gate.trajectory.behaviour import behaviour_from_trace
from evalgate.gate.trajectory.behaviour_differences import find_differences
from evalgate.scoring.wording import describe_difference

PAID = {"orders": {"A7": {"status": "paid"}, "B2": {"status": "paid"}}}
UUID, OTHER_UUID = "3f1c2a94-1111-4222-8333-444455556666", "9e1c2a94-1111-4222-8333-444455556666"


def left(count=2, *, before=PAID, files=None, **orders):
    """Trials that leave these orders; None removes one."""
    after = {"orders": {name: each for name, each in (before["orders"] | orders).items() if each is not None}}
    state = {"before": before, "after": after}
    return trials([state if files is None else {**state, "files": files}] * count)


def trials(states, **fields):
    return [make_trace([("issue_refund", {"id": "A7"})], state=state, **fields) for state in states]


def lines(before, now, *, passes=True):
    sides = [[behaviour_from_trace(trace) for trace in side] for side in (before, now)]
    return [describe_difference(each) for each in find_differences(*sides, None, passes=passes)]


def status(text):
    return {"status": text}


SHIPPED = left(A7=status("shipped"))


@pytest.mark.parametrize(
    ("now", "line"),
    [
        (left(A7=status("refunded")), 'state `orders.A7.status`: `"shipped"` -> `"refunded"`'),
        (left(), 'state `orders.A7.status`: `"shipped"` -> not touched'),
        (left(A7=None), "state `orders.A7`: changed -> removed"),
        (left(A7=status("shipped"), B2=status("lost")), 'state `orders.B2.status`: not touched -> `"lost"`'),
        (left(A7=status("shipped"), B2=None), "state `orders.B2`: not touched -> removed"),
        (left(A7=status("shipped"), C3=status("new")), "state `orders.C3`: not touched -> added"),
    ],
)
def test_another_value_or_another_record(now, line):
    assert lines(SHIPPED, now) == [f"{line} in 2 of 2"]


def test_an_added_record_is_compared_by_its_values():
    first, second = left(C3={"status": "new", "rows": [1, 2]}), left(C3={"status": "old", "rows": [1, 2]})
    assert lines(first, second) == ['state `orders.C3.status`: `"new"` -> `"old"` in 2 of 2']


def test_a_value_more_in_a_record_that_both_add():
    first, second = left(C3={"status": "new"}), left(C3={"status": "new", "paid": True})
    assert lines(first, second) == ["state `orders.C3.paid`: not touched -> `true` in 2 of 2"]


def test_equal_states_and_other_data_before_the_run_are_no_difference():
    assert lines(SHIPPED, left(A7=status("shipped"))) == []
    other = {"orders": {**PAID["orders"], "D4": status("paid")}}
    assert lines(SHIPPED, left(before=other, A7=status("shipped"))) == []


@pytest.mark.parametrize("passes", [True, False])
def test_one_trial_a_side_counts_where_both_pass(passes):
    found = lines(SHIPPED[:1], left(1, A7=status("refunded")), passes=passes)
    assert found == (['state `orders.A7.status`: `"shipped"` -> `"refunded"` (one trial)'] if passes else [])


def test_trials_that_do_not_agree_are_no_difference():
    mixed = [*SHIPPED[:1], *left(1, A7=status("refunded"))]
    assert lines(SHIPPED, mixed) == lines(mixed, left(A7=status("lost"))) == []
    assert lines(SHIPPED, [*SHIPPED, *left(1, B2=None, A7=status("shipped"))]) == []


@pytest.mark.parametrize(("count", "is_named"), [(2, False), (3, True)])
def test_values_that_differ_among_trials_count_from_three_trials_on(count, is_named):
    now = [left(1, A7=status("shipped"), B2=status(f"lost {number}"))[0] for number in range(count)]
    found = lines(left(count, A7=status("shipped")), now)
    assert found == (["state `orders.B2.status`: not touched -> changed in 3 of 3"] if is_named else [])


def test_trials_of_a_side_that_touch_other_places_than_each_other_are_not_compared():
    now = [*left(1, A7=status("refunded")), *left(1, A7=status("refunded"), B2=None)]
    assert lines(SHIPPED, now) == []


def test_a_record_that_only_one_side_touches_is_one_line():
    both = {"status": "lost", "paid": True}
    assert lines(SHIPPED, left(A7=status("shipped"), B2=both)) == [
        "state `orders.B2`: not touched -> changed in 2 of 2"
    ]
    before = {"a.b": [{"x": 1, "y": 1}, {"x": 1, "y": 1}]}
    first, second = ([{"x": x, "y": x}, {"x": y, "y": y}] for x, y in ((2, 1), (2, 3)))
    sides = [trials([{"before": before, "after": {"a.b": rows}}] * 2) for rows in (first, second)]
    assert lines(*sides) == ['state `"a.b"[1]`: not touched -> changed in 2 of 2']


@pytest.mark.parametrize("value", [UUID, "2026-11-27T20:00:00Z", 1795860000, "2026-11-28", "w " * 9, "x" * 81])
def test_ids_of_one_run_times_and_free_text_are_no_difference(value):
    day = {"started_at": "2026-11-28T10:00:00Z"}
    before, now = (
        trials([{"before": {"at": "never"}, "after": {"at": at}}] * 2, **day) for at in ("2026-11-28T10:00:00Z", value)
    )
    assert lines(before, now) == []


def test_ids_of_one_run_in_paths_are_masked_and_records_counted():
    def sides(*ids):
        return trials([{"before": {"refunds": {}}, "after": {"refunds": dict.fromkeys(ids, 5)}}] * 2)

    assert lines(sides(UUID), sides(OTHER_UUID)) == []
    assert lines(sides(UUID), sides(OTHER_UUID, UUID)) == ["state `refunds.* (2)`: not touched -> `5` in 2 of 2"]


def test_files_that_were_touched_and_their_content():
    def sides(count=2, **files):
        return trials([{"files": {path.replace("_", "/"): each for path, each in files.items()}}] * count)

    one = sides(out_a={"change": "added", "text": "12\n"})
    assert lines(one, sides(out_a={"change": "added", "text": "13\n"})) == ['file `out/a`: `"12"` -> `"13"` in 2 of 2']
    assert lines(one[:1], sides(1, out_a={"change": "added", "text": "13\n"})) == []
    assert lines(one, sides(out_a={"change": "changed", "text": "12\n"})) == [
        "file `out/a`: added -> changed in 2 of 2"
    ]
    assert lines(one, sides(out_a={"change": "added", "text": "12\n"}, b={"change": "removed"})) == [
        "file `b`: not touched -> removed in 2 of 2"
    ]
    digests = [sides(a={"change": "changed", "sha256": letter * 64}) for letter in "ab"]
    assert lines(*digests) == ["file `a`: other content in 2 of 2"]
    assert lines(one, sides(out_a={"change": "added", "text": "12\n"}, b={"sha256": "a" * 64})) == []
    copies = {path: {"change": "added"} for path in ("a.py", "a.py.bak")}
    assert len(lines(sides(), sides(**copies))) == 2


def test_a_state_after_the_run_alone_is_compared_whole():
    before, now = (trials([{"after": {"db": {"rows": rows}}}] * 2) for rows in ([1], [1, 2]))
    assert lines(before, now) == ["state `db.rows[1]`: not touched -> `2` in 2 of 2"]


@pytest.mark.parametrize("trace", [make_trace(["issue_refund"]), make_trace(["issue_refund"], state={})])
def test_a_state_that_one_trial_does_not_record_is_not_compared(trace):
    assert not any("state" in each for each in lines(SHIPPED, [trace, *left(1, A7=status("refunded"))]))


def test_many_differences_are_five_lines_and_a_number():
    many = {f"C{number}": status("new") for number in range(8)}
    found = lines(SHIPPED, left(A7=status("shipped"), **many))
    assert len(found) == 6
    assert found[-1] == "3 more of the state in 2 of 2"


def test_a_state_that_changed_in_very_many_places_is_compared_by_its_digest():
    def sides(value):
        after = {f"key {number}": value for number in range(10_000)}
        return trials([{"before": {}, "after": after}] * 2)

    assert lines(sides(1), sides(2)) == ["state: other content in 2 of 2"]
    assert lines(sides(1), sides(1)) == lines(sides(1)[:1], sides(2)[:1]) == []


def test_a_secret_in_a_path_or_a_value_is_not_shown():
    token = "ghp_" + "a1B2" * 9
    state = {"before": {}, "after": {token: 1, "api_key": "hunter2", "note": token}}
    shown = "\n".join(lines(trials([{"before": {}, "after": {}}] * 2), trials([state] * 2)))
    assert "[redacted: " in shown
    assert token not in shown
    assert "hunter2" not in shown


def deep(levels):
    value = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def test_a_deep_state_is_bounded():
    found = lines(trials([{"before": {}, "after": {}}] * 2), trials([{"before": {}, "after": deep(60)}] * 2))
    assert found == ["state `a`: not touched -> added in 2 of 2"]
    wide = {"x" * 5_000: "\x1b[31m\u202e`<b>`" * 3}
    (shown,) = lines(trials([{"before": {}, "after": {}}] * 2), trials([{"before": {}, "after": wide}] * 2))
    assert len(shown) < 600
