"""Goldens of a store in a suite: judged, stored, and compared with their regression suite."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from command import evalgate

from evalgate.models.goldens import RegressionSuite
from evalgate.models.run.golden import Golden

if TYPE_CHECKING:
    from pathlib import Path

    from evalgate.features.store.ports import Store

HELLO = Golden(
    "hello",
    tags=("talk",),
    intent="other",
    user_messages=("Hello",),
    golden_responses=("Hello! How are you?",),
)
REFUND = Golden(
    "refund",
    tags=("money",),
    intent="task_execution",
    user_messages=("Refund order 42",),
    golden_responses=("Done.",),
    required_tool_usage=("refund",),
)


@pytest.fixture
def folder(tmp_path: Path, store: Store) -> Path:
    """Traces of two goldens that the store holds, one of them a call short."""
    for golden in (HELLO, REFUND):
        store.goldens.create(golden)
        record = {
            "schema": "evalgate.trace/1",
            "scenario_id": golden.id,
            "messages": [
                {"role": "user", "content": golden.user_messages[0]},
                {"role": "assistant", "content": golden.golden_responses[0]},
            ],
        }
        path = tmp_path / f"w/traces/{golden.id}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record))
    return tmp_path / "w"


def run(folder: Path, store_url: str, chosen: dict[str, Any], **fields: Any):
    document = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "goldens": [{"store": chosen}], **fields}
    (folder / "suite.yaml").write_text(yaml.safe_dump(document))
    return evalgate(folder, ["suite.yaml", "--store-url", store_url])


def verdicts(ran) -> dict[str, str]:
    return {each["id"]: each["verdict"] for each in ran.results["suites"][0]["scenarios"]}


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"ids": ["hello"]}, {"hello": "PASS"}),
        ({"tags": ["money"]}, {"refund": "FAIL"}),
        ({"intents": ["task_execution", "other"]}, {"hello": "PASS", "refund": "FAIL"}),
    ],
)
def test_goldens__are_chosen_by_id_tag_or_intent(folder, store_url, chosen, expected):
    assert verdicts(run(folder, store_url, chosen)) == expected


def test_regression_suite__brings_its_own_strictness(folder, store, store_url):
    lenient = RegressionSuite(
        "release",
        golden_ids=("refund",),
        passing_score=0.1,
        critical_issue_threshold=1,
        evaluate_memory=False,
    )
    store.suites.create(lenient)
    ran = run(folder, store_url, {"suite": "release"})
    (scenario,) = ran.results["suites"][0]["scenarios"]
    assert (ran.code, scenario["verdict"], scenario["threshold"]) == (0, "PASS", 0.1)
    assert "memory_recall" not in scenario["dimensions"]
    strict = run(folder, store_url, {"suite": "release"}, policy={"critical_issue_threshold": 0})
    assert strict.code == 1


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"ids": ["helo"]}, "suite.yaml:2:3: the store has no golden `helo` (did you mean `hello`?)"),
        ({"tags": ["weather"]}, "no golden in the store matches"),
        ({"suite": "nightly"}, "the store has no regression suite `nightly`"),
        ({"id": ["hello"]}, "did you mean `ids`?"),
    ],
)
def test_what_the_store_lacks__is_an_error(folder, store_url, chosen, message):
    ran = run(folder, store_url, chosen)
    assert (ran.code, message in ran.stderr) == (2, True), ran.stderr


def test_run__is_stored_with_its_evaluations(folder, store, store_url):
    run(folder, store_url, {"intents": ["task_execution", "other"]})
    (evaluation,) = store.evaluations.list(golden_id="refund")
    assert evaluation.dimensions["tool_success_rate"] == 0.0
    assert (evaluation.level, evaluation.regression_status) == ("failing", "fail")
    assert evaluation.turns[0].issues[0].severity == "critical"
    assert evaluation.statistics.critical_issue_count == 1
