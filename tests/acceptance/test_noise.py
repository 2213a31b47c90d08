"""One agent, unchanged, run again on fifty real tasks: all differences are noise and must be reported as such."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from command import evalgate

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

pytestmark = pytest.mark.shared

SUITE = """version: 1
suite: airline
traces: [nothing.json]
scenarios:
  - id: "*"
    assertions:
      - {type: recorded_score, name: reward, min: 1.0}
policy: {regression: POLICY}
"""
CALLED = frozenset({"broken", "regressed", "fixed", "improved"})
ALPHA = 0.05


@pytest.fixture(scope="module")
def recorded(shared):
    (recording,) = (shared / "traces/tau-bench").glob("*.json")
    return json.loads(recording.read_bytes())


def of_trials(recorded, trials: Iterable[int]):
    return [run for run in recorded if run["trial"] in trials]


def compared(folder: Path, before, now, policy: str = "{}"):
    """The run of `now` compared with that of `before`."""
    (folder / "suite.yaml").write_text(SUITE.replace("POLICY", policy), encoding="utf-8")
    for name, runs in (("before", before), ("now", now)):
        (folder / f"{name}.json").write_text(json.dumps(runs), encoding="utf-8")
    first = evalgate(folder, ["suite.yaml", "--traces", "before.json", "--no-baseline-zip"])
    assert first.code == 0
    (folder / ".evalgate/results.json").rename(folder / "main.json")
    arguments = ["--traces", "now.json", "--baseline", "main.json", "--no-baseline-zip"]
    ran = evalgate(folder, ["suite.yaml", *arguments])
    assert len(scenarios(ran)) == 50
    return ran


def scenarios(ran):
    (suite,) = ran.results["suites"]
    return suite["scenarios"]


def kinds(ran):
    return Counter(scenario["change"]["kind"] for scenario in scenarios(ran))


@pytest.mark.parametrize("other", [1, 2, 3])
def test_single_trials_report_no_change_where_evidence_is_required(recorded, tmp_path, other):
    before, now = of_trials(recorded, {0}), of_trials(recorded, {other})
    found = kinds(compared(tmp_path, before, now, "{require_evidence: true}"))
    assert found.keys() == {"unchanged", "inconclusive"}
    assert found["inconclusive"] >= 14


def test_every_change_of_single_trials_is_marked_as_such(recorded, tmp_path):
    ran = compared(tmp_path, of_trials(recorded, {0}), of_trials(recorded, {1}))
    assert kinds(ran) == {"unchanged": 31, "broken": 9, "fixed": 10}
    changed = [scenario["change"] for scenario in scenarios(ran) if scenario["change"]["kind"] in CALLED]
    assert {tuple(change["flags"]) for change in changed} == {("single_trial",)}
    assert all("may be noise" in change["reason"] for change in changed)
    note = "19 changes are based on a single trial and may be noise."
    assert note in ran.text("comment.md")
    assert note in ran.stdout


@pytest.mark.parametrize(
    ("half", "policy"),
    [
        *(({0, other}, "{require_evidence: true}") for other in (1, 2, 3)),
        *(({0, 1}, policy) for policy in ("{correction: holm}", "{correction: bh}", "{pair_by: trial}")),
    ],
)
def test_two_trials_against_the_other_two_give_no_more_false_alarms_than_alpha(recorded, tmp_path, half, policy):
    before, now = of_trials(recorded, half), of_trials(recorded, {0, 1, 2, 3} - half)
    found = kinds(compared(tmp_path, before, now, policy))
    assert sum(found[kind] for kind in CALLED) <= ALPHA * 50
    assert found["inconclusive"] > 0


@pytest.mark.parametrize(("other", "most"), [(1, 6), (2, 6), (3, 6)])
def test_of_two_trials_only_complete_reversals_are_changes(recorded, tmp_path, other, most):
    half = {0, other}
    ran = compared(tmp_path, of_trials(recorded, half), of_trials(recorded, {0, 1, 2, 3} - half))
    changed = [each["change"] for each in scenarios(ran) if each["change"]["kind"] in CALLED]
    assert len(changed) <= most
    assert {tuple(each["flags"]) for each in changed} <= {("few_trials",)}


def test_four_trials_against_themselves_are_unchanged(recorded, tmp_path):
    ran = compared(tmp_path, recorded, recorded)
    assert kinds(ran) == {"unchanged": 50}
    assert Counter(tuple(scenario["change"]["flags"]) for scenario in scenarios(ran)) == {
        (): 24,
        ("flaky",): 26,
    }
    comparison = ran.results["comparison"]
    assert (comparison["compared"], comparison["tested"], comparison["single_trial"]) == (50, 50, 0)
    assert 0 < comparison["expected_false_alarms"] <= ALPHA * 50
    delta = ran.results["figures"]["delta"]
    assert {delta[name] for name in ("pass_rate", "score", "score_min", "score_p50")} == {0.0}
    assert delta["score_interval"] == [0.0, 0.0]


def test_one_of_fifty_scenarios_that_now_always_fails_is_found(recorded, tmp_path):
    passes = Counter(run["task_id"] for run in recorded if run["reward"] == 1.0)
    planted = min(task for task, count in passes.items() if count == 4)
    now = [{**run, "reward": 0.0} if run["task_id"] == planted else run for run in recorded]
    ran = compared(tmp_path, recorded, now)
    assert kinds(ran) == {"unchanged": 49, "broken": 1}
    (found,) = [each for each in scenarios(ran) if each["change"]["kind"] == "broken"]
    assert (found["id"], found["change"]["flags"]) == (str(planted), [])
    assert found["change"]["reason"] == "passed 4 of 4 before, 0 of 4 now"
    assert f"` {planted} `" in ran.text("comment.md")


def test_pass_hat_k_equals_the_recorded_value(recorded, tmp_path):
    ran = compared(tmp_path, recorded, recorded)
    passed = Counter(run["task_id"] for run in recorded if run["reward"] == 1.0)
    found = {each["k"]: each for each in ran.results["figures"]["pass_k"]}
    assert found.keys() == {1, 2, 3, 4}
    assert found[1]["pass_at_k"] == found[1]["pass_hat_k"] == pytest.approx(0.42)
    assert found[4]["pass_hat_k"] == sum(count == 4 for count in passed.values()) / 50
    assert found[4]["pass_at_k"] == len(passed) / 50
