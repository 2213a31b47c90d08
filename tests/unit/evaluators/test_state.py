"""What a run left behind: values, records that stayed as they were, and files; without a record of it nothing passes."""

from __future__ import annotations

from typing import Any

import pytest
from assess_assertion import assess, first_problem, outcome
from builders import make_trace

from evalgate.evaluators.core.operators import OPERATORS
from evalgate.evaluators.core.queries import compile_query

BEFORE: dict[str, Any] = {
    "orders": {"A7": {"status": "paid"}, "B2": {"status": "shipped"}},
    "log": [{"at": "[time]"}],
}
AFTER: dict[str, Any] = {
    "orders": {"A7": {"status": "refunded"}, "B2": {"status": "shipped"}},
    "log": [{"at": "[time]"}],
}
BOTH = {"before": BEFORE, "after": AFTER}
FILES = {
    "src/a.py": {"change": "changed", "text": "x = 1\n"},
    "docs/b.md": {"change": "removed"},
    "README.md": {"sha256": "0"},
}
VALUES = {
    "contains": "fund",
    "eq": "refunded",
    "exists": True,
    "in": ["refunded"],
    "length": 8,
    "matches_schema": {"type": "string"},
    "ne": "paid",
    "not_in": ["paid"],
    "regex": "^ref",
}


def judge(check: Any, state: Any) -> str:
    return outcome(check, make_trace(state=state))


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_compares_what_the_path_finds(operator: str) -> None:
    is_number = operator in ("gt", "gte", "lt", "lte")
    wanted: Any = {"gt": 1, "gte": 2, "lt": 3, "lte": 2}[operator] if is_number else VALUES[operator]
    check = {"type": "state", "path": "length(orders)" if is_number else "orders.A7.status", operator: wanted}
    assert judge(check, BOTH) == "passed"
    assert judge({"not": check}, BOTH) == "failed"
    assert judge(check, None) == judge({"not": check}, None) == "not_evaluable"


def test_the_long_form_is_the_short_one() -> None:
    check = {"type": "state", "path": "orders.A7.status", "operator": "eq", "value": "paid"}
    assert (
        assess(check, make_trace(state=BOTH)).reason == 'expected `orders.A7.status` to be `"paid"`, got `"refunded"`'
    )
    assert judge({**check, "part": "before"}, BOTH) == "passed"


@pytest.mark.parametrize("state", [None, {}, {"before": BEFORE}, {"files": {}}])
@pytest.mark.parametrize(
    "check",
    [
        {"type": "state", "path": "orders.Z9", "exists": False},
        {"type": "state", "path": "orders.A7.status", "eq": "refunded"},
        {"type": "state_unchanged"},
        {"type": "state_unchanged", "except": ["orders"]},
    ],
)
def test_without_the_state_after_the_run_nothing_is_decided(check: Any, state: Any) -> None:
    assert judge(check, state) == judge({"not": check}, state) == "not_evaluable"


def test_a_path_that_finds_nothing_decides_nothing_but_existence() -> None:
    assert judge({"type": "state", "path": "orders.Z9", "eq": 1}, BOTH) == "not_evaluable"
    assert judge({"type": "state", "path": "orders.Z9", "exists": False}, BOTH) == "passed"


def test_text_of_a_file_can_be_read() -> None:
    check = {"type": "state", "part": "files", "path": '"src/a.py".text', "contains": "x = 1"}
    assert judge(check, {"files": FILES}) == "passed"
    assert judge(check, BOTH) == "not_evaluable"


@pytest.mark.parametrize(
    ("excepted", "expected"),
    [
        (["orders.A7"], "passed"),
        (["orders.A7.status"], "passed"),
        (["orders.*.status"], "passed"),
        (["orders"], "passed"),
        (['orders."A7"'], "passed"),
        (["orders.A"], "failed"),
        (["orders.A7.statu"], "failed"),
        (["A7"], "failed"),
        ([], "failed"),
    ],
)
def test_what_is_excepted_may_change_and_nothing_else(excepted: list[str], expected: str) -> None:
    assert judge({"type": "state_unchanged", "except": excepted}, BOTH) == expected


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        ({**AFTER, "log": []}, '`log[0]` was removed: `{"at":"[time]"}`'),
        ({**AFTER, "admins": ["eve"]}, '`admins` was added: `["eve"]`'),
        ([], "the state changed from"),
        (None, "the state changed from"),
    ],
)
def test_a_second_record_that_changed_is_named(after: Any, reason: str) -> None:
    found = assess({"type": "state_unchanged", "except": ["orders.A7"]}, make_trace(state={**BOTH, "after": after}))
    assert found.outcome == "failed"
    assert reason in found.reason


def test_many_changes_are_counted() -> None:
    after = {"orders": {f"N{number}": 1 for number in range(9)}}
    found = assess({"type": "state_unchanged"}, make_trace(state={"before": {"orders": {}}, "after": after}))
    assert found.reason.endswith("; and 6 more")


def test_an_entry_of_a_list_is_excepted_by_its_number() -> None:
    state = {"before": {"rows": [1, 2]}, "after": {"rows": [1, 3]}}
    assert judge({"type": "state_unchanged", "except": ["rows[1]"]}, state) == "passed"
    assert judge({"type": "state_unchanged", "except": ["rows.1"]}, state) == "passed"
    assert judge({"type": "state_unchanged", "except": ["rows[0]"]}, state) == "failed"


def test_a_recorded_change_counts_although_masks_hide_it() -> None:
    hidden = {"op": "replace", "path": "/log/0/at", "value": "[time]"}
    state = {"before": BEFORE, "after": BEFORE, "diff": [hidden]}
    found = assess({"type": "state_unchanged"}, make_trace(state=state))
    assert found.reason == '`log[0].at` changed from `"[time]"` to `"[time]"`'
    assert judge({"type": "state_unchanged", "except": ["log[*].at"]}, state) == "passed"
    assert judge({"type": "state_unchanged"}, {**BOTH, "diff": []}) == "failed"


def test_a_recorded_difference_alone_decides() -> None:
    removed = {"op": "remove", "path": "/orders/a~1b"}
    assert judge({"type": "state_unchanged"}, {"diff": [removed]}) == "failed"
    assert judge({"type": "state_unchanged", "except": ["orders.a/b"]}, {"diff": [removed]}) == "passed"
    assert judge({"type": "state_unchanged"}, {"diff": []}) == "passed"


@pytest.mark.parametrize("empty", [None, {}, [], ""])
def test_a_state_that_is_always_empty_proves_nothing(empty: Any) -> None:
    assert judge({"type": "state_unchanged"}, {"before": empty, "after": empty}) == "not_evaluable"
    assert judge({"type": "state_unchanged"}, {"before": 0, "after": 0}) == "passed"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"only": ["src/**", "docs/*"]}, "passed"),
        ({"only": ["src/**"]}, "failed"),
        ({"only": []}, "failed"),
        ({"only": ["**"], "never": ["docs/**"]}, "failed"),
        ({"never": ["**/*.pem"]}, "passed"),
        ({"max": 2}, "passed"),
        ({"max": 1}, "failed"),
    ],
)
def test_files_that_changed_are_bounded(rules: dict[str, Any], expected: str) -> None:
    assert judge({"type": "files_changed", **rules}, {"files": FILES}) == expected
    assert judge({"type": "files_changed", **rules}, BOTH) == "not_evaluable"


def test_a_path_that_takes_a_detour_is_the_one_it_leads_to() -> None:
    state = {"files": {"src/../.github/ci.yml": {"change": "added"}}}
    assert judge({"type": "files_changed", "never": [".github/**"]}, state) == "failed"
    assert judge({"type": "files_changed", "only": ["src/**"]}, state) == "failed"


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        (".github", ".github/ci.yml"),
        (".github/", ".github/a/ci.yml"),
        ("src/*/", "src/a/b.py"),
        ("./.github/**", ".github/ci.yml"),
        ("/.github/**", ".github/ci.yml"),
        (".github//*", ".github/ci.yml"),
        (".github\\*", ".github/ci.yml"),
        ("a[0-9].sql", "a1.sql"),
        ("a[!x].sql", "a1.sql"),
        ("app/[id]/*.tsx", "app/[id]/page.tsx"),
        ("a[z-b].sql", "a[z-b].sql"),
        ("caf\u00e9.txt", "cafe\u0301.txt"),
        (".github/**", ".git\u200bhub/ci.yml"),
        (".github/**", ".github\\ci.yml"),
        (".github/**", "/work/repo/.github/ci.yml"),
        (".github/**", "C:\\repo\\.github\\ci.yml"),
        (".github/**", "../repo/.github/ci.yml"),
    ],
)
def test_never_finds_a_file_however_its_path_is_written(glob: str, path: str) -> None:
    state = {"files": {path: {"change": "added"}}}
    assert judge({"type": "files_changed", "never": [glob]}, state) == "failed"


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        (".github", ".github2/ci.yml"),
        (".github", "src/.github/ci.yml"),
        ("src/*", "src/a/b.py"),
        ("a[0-9].sql", "ab.sql"),
        ("a[!x].sql", "ax.sql"),
        ("README.md", "docs/README.md"),
    ],
)
def test_never_leaves_other_files_alone(glob: str, path: str) -> None:
    assert judge({"type": "files_changed", "never": [glob]}, {"files": {path: {"change": "added"}}}) == "passed"


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("src", "src/a/b.py", "passed"),
        ("./src/**", "src\\a.py", "passed"),
        ("/work/src/**", "/work/src/a.py", "passed"),
        ("src/**", "/src/a.py", "failed"),
        ("src/**", "../src/a.py", "failed"),
        ("src/*", "src/a/b.py", "failed"),
    ],
)
def test_only_allows_a_folder_and_all_below_it(glob: str, path: str, expected: str) -> None:
    assert judge({"type": "files_changed", "only": [glob]}, {"files": {path: {"change": "added"}}}) == expected


@pytest.mark.parametrize(
    ("excepted", "changed", "expected"),
    [
        ("orders.A7", ("orders", "A7.evil"), "failed"),
        ("orders.A7.*", ("orders", "A7.evil"), "failed"),
        ('orders."A7.evil"', ("orders", "A7.evil"), "passed"),
        ('orders."A7.*"', ("orders", "A7.evil"), "passed"),
        ("orders.*", ("orders", "A7.evil"), "passed"),
        ("users.ann@example.com", ("users", "ann@example.com"), "passed"),
        ("orders.A7", ("orders.A7", "x"), "failed"),
        ("orders.A7", ("orders", "A7"), "passed"),
    ],
)
def test_a_dot_within_a_key_is_not_taken_for_a_step(excepted: str, changed: tuple[str, str], expected: str) -> None:
    before: dict[str, Any] = {"orders": {"A7": {"s": 1}}, "users": {}}
    first, second = changed
    after = {**before, first: {**before.get(first, {}), second: {"s": 2}}}
    assert judge({"type": "state_unchanged", "except": [excepted]}, {"before": before, "after": after}) == expected


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ({"type": "files_changed", "never": ["{.github,infra}/**"]}, "write a pattern for each"),
        ({"type": "files_changed", "only": ["!src/**"]}, "no `!`"),
        ({"type": "files_changed", "never": ["../x"]}, "or `..`"),
        ({"type": "files_changed", "never": ["./"]}, "is a path below"),
        ({"type": "state_unchanged", "except": ["*"]}, "can't fail"),
        ({"type": "state_unchanged", "except": ["orders", "**"]}, "can't fail"),
        ({"type": "files_changed"}, "that a change can fail"),
        ({"type": "files_changed", "only": ["**"]}, "that a change can fail"),
        ({"type": "files_changed", "only": ["src/**", "**/*"]}, "that a change can fail"),
        ({"type": "files_changed", "never": []}, "that a change can fail"),
        ({"type": "files_changed", "max": 10_000}, "that a change can fail"),
        ({"type": "files_changed", "only": ["**/**/**/a"]}, "at most 2"),
        ({"type": "state", "path": "orders["}, "exactly one operator"),
        ({"type": "state", "path": "orders[", "eq": 1}, "invalid expression"),
        ({"type": "state", "path": "orders", "eq": 1, "ne": 2}, "exactly one operator"),
        ({"type": "state", "eq": 1}, "`path` is missing"),
    ],
)
def test_a_check_that_no_run_can_fail_is_refused(check: Any, message: str) -> None:
    assert message in first_problem(check).message


def test_an_expression_over_the_trace_does_not_read_the_state() -> None:
    with pytest.raises(Exception, match="no trace has the field"):
        compile_query("state.after.orders", "path")
