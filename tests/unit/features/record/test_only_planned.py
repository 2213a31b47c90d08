"""`record --only`: the trials that a plan names, and plans that are refused."""

from __future__ import annotations

import json

import pytest
from in_process_command import evalgate

from evalgate.errors import SettingError
from evalgate.features.record.bootstrap.only_planned import list_planned, read_plan
from evalgate.features.record.bootstrap.record_plan import load_suite

SUITE = """suite: book
traces: ["more/**"]
variants: {x: {match: {tags: [x]}}, y: {match: {tags: [y]}}}
scenarios:
  - {id: a, prompt: Book it., assertions: [{type: tool_called, tool: book}]}
  - {id: b, prompt: Book that., assertions: [{type: tool_called, tool: book}]}
"""


def plan(folder, *scenarios, **fields):
    document = {"schema": "evalgate.misses/1", "scenarios": scenarios, "recordings": 4, "usd": None, **fields}
    (folder / "misses.json").write_text(json.dumps(document))
    (folder / "suite.yaml").write_text(SUITE)


def entry(id_="a", trials=(3, 4), suite="book"):
    return {"suite": suite, "id": id_, "variant": "y", "trials": list(trials)}


def test_a_plan__is_a_trial_for_each_number_in_its_variant(tmp_path):
    plan(tmp_path, entry(), entry(suite="other"))
    suite = load_suite("suite.yaml", str(tmp_path)).suite
    found = list(list_planned(suite, read_plan("misses.json", str(tmp_path))))
    assert [tuple(each.trial) for each in found] == [("book", "a", "y", 3), ("book", "a", "y", 4)]
    assert {each.prompt for each in found} == {"Book it."}


def test_a_scenario_that_the_suite_lacks__is_refused(tmp_path):
    plan(tmp_path, entry("c"))
    suite = load_suite("suite.yaml", str(tmp_path)).suite
    with pytest.raises(SettingError, match="no scenario 'c'"):
        list(list_planned(suite, read_plan("misses.json", str(tmp_path))))


@pytest.mark.parametrize(
    "fields",
    [
        {"scenarios": [entry()] * 21},
        {"scenarios": [entry(trials=[])]},
        {"scenarios": [entry(trials=range(6))]},
        {"scenarios": [entry(trials=[-1])]},
        {"schema": "evalgate.misses/2"},
        {"more": 1},
    ],
)
def test_a_plan_beyond_its_bounds__is_refused(tmp_path, fields):
    plan(tmp_path, **fields)
    with pytest.raises(SettingError, match="is no plan of trials"):
        read_plan("misses.json", str(tmp_path))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--only", "misses.json"], "--only takes --suite"),
        (["--only", "misses.json", "--suite", "suite.yaml", "--trials", "2"], "--only takes --suite"),
        (["--only", "missing.json", "--suite", "suite.yaml"], "missing.json: No such file"),
        (["--only", "misses.json", "--suite", "suite.yaml"], "misses.json names no scenario of the suite"),
    ],
)
def test_what_only_refuses__is_one_line(tmp_path, words, reason):
    plan(tmp_path, entry(suite="other"))
    found = evalgate("record", *words, "--", "true", cwd=str(tmp_path))
    assert (found.exit_code, found.err.count("\n")) == (2, 1)
    assert reason in found.err
