"""Added scenarios alone are no other rules; anything else that differs is."""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime

import orjson
import pytest
from in_process_command import evalgate

from evalgate.application.comparison.added_scenarios import only_adds_scenarios
from evalgate.application.comparison.baseline import Rules, load_baseline
from evalgate.application.messages.request import BaselinePlan
from evalgate.bootstrap.sources import build_baseline_files
from evalgate.models.comparison.comparison import BaselineInfo

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


def test_a_found_baseline_whose_suites_are_damaged_is_compared_as_one_of_other_suites(tmp_path):
    (tmp_path / "s.yaml").write_text(
        "version: 1\nsuite: s\ntraces: t.jsonl\nscenarios: [{id: '*', assertions: [{contains: x}]}]\n"
    )
    (tmp_path / "t.jsonl").write_text('{"scenario_id": "a", "messages": [{"role": "assistant", "content": "x"}]}\n')
    assert evalgate("run", "s.yaml", cwd=str(tmp_path)).exit_code == 0
    with zipfile.ZipFile(tmp_path / ".evalgate/baseline.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "found.zip", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    damaged = (tmp_path / "found.zip").read_bytes().replace(b'"project":{}', b'"project":[]')
    (tmp_path / "found.zip").write_bytes(damaged)
    plan = BaselinePlan(BaselineInfo("exact", path="found.zip"))
    loaded = load_baseline(plan, build_baseline_files(str(tmp_path)), Rules("other", "paths", {}), datetime.now(UTC))
    assert loaded.info.status == "drifted"
