"""A suite with another name and the same demands is compared as before, and its approvals follow."""

from __future__ import annotations

import json

import pytest
from comment_states import LOOKUP, REFUND, RULES, Workspace, green_traces, make_suite, trials
from in_process_command import evalgate

from evalgate.application.comparison.renamed_suites import find_renames

BAD = trials("refund-outside-window", [LOOKUP, REFUND], "Done: 34.00 has been refunded.")


class Renaming(Workspace):
    """A workspace whose only suite gets another name."""

    def rename(self, name, traces, rules=RULES):
        for path in self._suites:
            (self._folder / path).unlink()
        self._suites.clear()
        self.add(make_suite(name, rules), traces)

    @property
    def results(self):
        return json.loads((self._folder / ".evalgate/results.json").read_bytes())


@pytest.fixture
def work(tmp_path):
    found = Renaming(tmp_path / "work")
    found.add(make_suite("a", RULES), green_traces())
    found.judge_main()
    return found


def broken():
    return [*(each for each in green_traces() if each["scenario_id"] != "refund-outside-window"), *BAD]


def test_a_renamed_suite_is_one_line(work):
    work.rename("b", green_traces())
    text = work.comment()
    assert "\u26a0 renamed ` a ` \u2192 ` b `: compared as the same suite" in text
    assert (work.results["removed"], work.results["summary"]["new"]) == ([], 0)
    assert [each["kind"] for each in work.results.get("weakenings", [])] in ([], ["traces_changed"])


def test_what_breaks_in_it_broke(work):
    work.rename("b", broken())
    assert "failed: scenario ` refund-outside-window ` broke" in work.comment()


def test_a_suite_that_demands_something_else_is_another_one(work):
    work.rename("b", green_traces(), {**RULES, "more": [{"type": "no_loops"}]})
    assert "renamed" not in work.comment().split("<details>")[0]
    assert len(work.results["removed"]) == len(RULES)


def test_an_approval_of_the_old_name_counts(work, tmp_path):
    folder = tmp_path / "work"
    (folder / "evalgate-approvals.yaml").write_text(
        "approvals:\n  - {suite: a, scenario: refund-outside-window, reason: r, who: ann, until: 2999-01-01}\n"
    )
    work.rename("a", broken())
    assert evalgate("run", "evals/a.yaml", cwd=str(folder)).exit_code == 0
    (folder / ".evalgate/baseline.zip").replace(folder / "baseline.zip")
    work.rename("b", broken())
    ran = evalgate("run", "evals/b.yaml", "--baseline", "baseline.zip", cwd=str(folder))
    assert "(known failure refund-outside-window, approved)" in ran.out
    assert "warning: renamed a -> b: compared as the same suite" in ran.out
    assert "approval_added" not in [each["kind"] for each in work.results["weakenings"]]


class Named:
    def __init__(self, name, content):
        self.name, self.content = name, {"suite": name, **content}


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ([("a", 1)], [("b", 1)], {"a": "b"}),
        ([("a", 1)], [("b", 2)], {}),
        ([("a", 1)], [("b", 1), ("c", 1)], {}),
        ([("a", 1), ("c", 1)], [("b", 1)], {}),
        ([("a", 1), ("b", 2)], [("c", 2), ("d", 1)], {"a": "d", "b": "c"}),
        ([("a", 1)], [("a", 1), ("b", 1)], {}),
    ],
)
def test_only_a_suite_without_a_double_is_renamed(before, now, expected):
    sides = [[Named(name, {"threshold": demand}) for name, demand in side] for side in (before, now)]
    assert find_renames(*sides) == expected
