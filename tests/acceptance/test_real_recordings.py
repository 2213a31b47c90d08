"""Traces recorded by other projects, judged by their recorded rewards."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from command import evalgate

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.shared

SUITE = """version: 1
suite: recorded
traces: [nothing.json]
scenarios:
  - id: "*"
    assertions:
      - {type: recorded_score, name: reward, min: 1.0, required: REQUIRED}
"""
TAU2 = "tau2-bench/{}_default_gpt-4.1_1trials.json"
MAIN = {
    "retail": "tau2-bench/gpt-4.1_retail_defautl_gpt-4.1_1trials.json",
    "airline": TAU2.format("gpt-4.1_airline"),
}
TUNED = "ft_gpt-4.1-2025-04-14_sierra_tau2-full-sft_BzrYdMNm_{}"


def judged(folder: Path, recording: Path, *more: str, required: bool = True, policy: str = ""):
    suite = f"{SUITE.replace('REQUIRED', str(required).lower())}{policy}"
    (folder / "suite.yaml").write_text(suite, encoding="utf-8")
    ran = evalgate(folder, ["suite.yaml", "--traces", str(recording), *more])
    assert "Traceback" not in ran.stderr
    return ran


def scenarios(ran):
    (suite,) = ran.results["suites"]
    return suite["scenarios"]


def trials(ran):
    return [trial for scenario in scenarios(ran) for trial in scenario["trials"]]


def verdicts(ran):
    return Counter(scenario["verdict"] for scenario in scenarios(ran))


def by_kind(ran):
    kinds: dict[str, set[str]] = {}
    for scenario in scenarios(ran):
        kinds.setdefault(scenario["change"]["kind"], set()).add(scenario["id"])
    return kinds


def rewards(recording: Path) -> dict[str, float]:
    simulations = json.loads(recording.read_bytes())["simulations"]
    return {run["task_id"]: run["reward_info"]["reward"] for run in simulations}


@pytest.fixture
def tau(shared):
    (recording,) = (shared / "traces/tau-bench").glob("*.json")
    return recording


@pytest.fixture
def tau2(shared):
    def pair(domain):
        return shared / "traces" / MAIN[domain], shared / "traces" / TAU2.format(TUNED.format(domain))

    return pair


def test_tau_bench_with_the_reward_required(tau, tmp_path):
    ran = judged(tmp_path, tau, "--no-baseline-zip")
    assert ran.code == 1
    assert verdicts(ran) == {"PASS": 10, "HARD_FAIL": 40}
    assert [len(scenario["trials"]) for scenario in scenarios(ran)] == [4] * 50
    passes = [sum(trial["status"] == "passed" for trial in scenario["trials"]) for scenario in scenarios(ran)]
    assert Counter("never" if n == 0 else "always" if n == 4 else "mixed" for n in passes) == {
        "always": 10,
        "never": 14,
        "mixed": 26,
    }
    assert ran.results["summary"]["score"] == pytest.approx(0.42)
    recorded = Counter((str(run["task_id"]), run["reward"]) for run in json.loads(tau.read_bytes()))
    assert recorded == Counter(
        (scenario["id"], trial["score"]) for scenario in scenarios(ran) for trial in scenario["trials"]
    )


def test_tau_bench_with_the_reward_not_required_never_reads_as_a_clean_pass(tau, tmp_path):
    ran = judged(tmp_path, tau, "--no-baseline-zip", required=False)
    assert ran.code == 0
    assert verdicts(ran) == {"PASS": 10, "PARTIAL": 26, "FAIL": 14}
    assert ran.results["summary"]["score"] == pytest.approx(0.42)
    heading = ran.text("comment.md").splitlines()[1]
    assert "passed, but 40 scenarios are below threshold (not in fail_on)" in heading


@pytest.mark.parametrize(
    ("domain", "passed", "broke", "fixed"), [("retail", (34, 34, 40), 6, 6), ("airline", (10, 13, 20), 3, 6)]
)
def test_tau2_names_what_broke_and_what_was_fixed(tau2, tmp_path, domain, passed, broke, fixed):
    before, after = tau2(domain)
    main = judged(tmp_path, before)
    main_passed, main_cost = verdicts(main)["PASS"], main.results["summary"]["cost_usd"]
    (tmp_path / ".evalgate/baseline.zip").rename(tmp_path / "main.zip")

    ran = judged(tmp_path, after, "--baseline", "main.zip", "--fail-on", "broken", "--no-baseline-zip")

    old, new = rewards(before), rewards(after)
    broken = {task for task in old if old[task] == 1.0 > new[task]}
    repaired = {task for task in old if old[task] < 1.0 == new[task]}
    assert (len(broken), len(repaired)) == (broke, fixed)
    assert by_kind(ran) == {"broken": broken, "fixed": repaired, "unchanged": set(old) - broken - repaired}
    assert (main_passed, verdicts(ran)["PASS"], len(scenarios(ran))) == passed
    summary = ran.results["summary"]
    assert (summary["regressions"], summary["improvements"]) == (broke, fixed)
    assert ran.code == 1
    assert {reason["scenario"] for reason in ran.results["reasons"]} == broken
    comment = ran.text("comment.md")
    assert [task for task in broken | repaired if f"` {task} `" not in comment] == []
    assert {each["change"]["kind"] for each in scenarios(ran) if each["change"]["flags"] == ["single_trial"]} == {
        "broken",
        "fixed",
    }
    assert main_cost > 0
    assert summary["cost_usd"] is None
    assert {trial["cost_usd"] for trial in trials(ran)} == {None}


def test_tau2_single_trials_decide_nothing_where_evidence_is_required(tau2, tmp_path):
    before, after = tau2("retail")
    judged(tmp_path, before, "--no-baseline-zip")
    (tmp_path / ".evalgate/results.json").rename(tmp_path / "main.json")
    ran = judged(
        tmp_path,
        after,
        "--baseline",
        "main.json",
        "--no-baseline-zip",
        policy="policy: {regression: {require_evidence: true}}\n",
    )
    assert {kind: len(found) for kind, found in by_kind(ran).items()} == {"unchanged": 28, "inconclusive": 12}
