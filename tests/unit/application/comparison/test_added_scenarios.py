"""Added scenarios alone are no other rules; anything else that differs is."""

from __future__ import annotations

import orjson
import pytest

from evalgate.application.comparison.added_scenarios import only_adds_scenarios

A, B, ALL = {"id": "a", "assertions": [1]}, {"id": "b", "assertions": [2]}, {"id": "*", "assertions": [3]}
JUDGED = {("s", "a"), ("s", "seen")}


def suites(*scenarios, project=None, path="s.yaml", more=(), **rest):
    suite = {"suite": "s", "scenarios": list(scenarios), **rest}
    return {"project": project or {}, "project_path": None, "suites": [{"path": path, "suite": suite}, *more]}


@pytest.mark.parametrize(
    "today",
    [
        suites(A, B, ALL),
        suites(B, A, ALL),
        suites(A, ALL, B),
        suites(A, ALL, more=[{"path": "t.yaml", "suite": {"suite": "t", "scenarios": [B]}}]),
    ],
    ids=["between", "before", "after", "suite"],
)
def test_added(today):
    assert only_adds_scenarios(orjson.dumps(suites(A, ALL)), today, JUDGED)


@pytest.mark.parametrize(
    "today",
    [
        suites(A),
        suites(ALL, A),
        suites({**A, "assertions": []}, ALL, B),
        suites(A, ALL, B, threshold=0.5),
        suites(A, ALL, B, project={"policy": {}}),
        suites(A, ALL, B, path="t.yaml"),
        suites(A, ALL, {**B, "id": "seen"}),
        suites(A, ALL, {**B, "id": "b*"}),
        suites(A, ALL, {**B, "match": {"tags": ["x"]}}),
        suites(A, ALL, B, 1),
    ],
    ids=["removed", "order", "changed", "setting", "project", "moved", "judged", "glob", "condition", "invalid"],
)
def test_other_rules(today):
    assert not only_adds_scenarios(orjson.dumps(suites(A, ALL)), today, JUDGED)


@pytest.mark.parametrize("kept", [None, b"", b"[]", b"{}", b"1", b'{"suites": 1}'])
def test_a_baseline_without_suites_has_other_rules(kept):
    assert not only_adds_scenarios(kept, suites(A), JUDGED)


def test_an_added_scenario_could_take_the_traces_of_one_with_conditions():
    old = {"id": "x", "match": {"path": "*.json"}}
    assert not only_adds_scenarios(orjson.dumps(suites(old)), suites(old, B), JUDGED)
