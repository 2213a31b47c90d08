"""tau2's two models: equal pass rates that hide as many broken as repaired tasks."""

from __future__ import annotations

import json

import pytest
from in_process_command import evalgate

pytestmark = pytest.mark.shared

SUITE = """suite: retail
scenarios:
  - id: "*"
    assertions:
      - {type: recorded_score, name: reward, min: 1.0, required: true}
"""
FILES = {
    "old": "gpt-4.1_retail_defautl_gpt-4.1_1trials.json",
    "new": "ft_gpt-4.1-2025-04-14_sierra_tau2-full-sft_BzrYdMNm_retail_default_gpt-4.1_1trials.json",
}


def test_broken_and_repaired_tasks__are_named(shared, tmp_path):
    (tmp_path / "suite.yaml").write_text(SUITE)
    rewards = {}
    for name, file in FILES.items():
        recording = shared / "traces/tau2-bench" / file
        runs = json.loads(recording.read_bytes())["simulations"]
        rewards[name] = {run["task_id"] for run in runs if run["reward_info"]["reward"] == 1.0}
        evalgate("run", "suite.yaml", "--traces", str(recording), "--output-dir", name, "-q", cwd=str(tmp_path))
    found = evalgate("migrate", "old", "new", "--json", cwd=str(tmp_path))
    (compared,) = json.loads(found.out)["variant_comparisons"]
    kinds = {
        kind: {each["id"] for each in compared["scenarios"] if each["kind"] == kind} for kind in ("broken", "repaired")
    }
    assert kinds == {"broken": rewards["old"] - rewards["new"], "repaired": rewards["new"] - rewards["old"]}
    assert (compared["broken"], compared["repaired"], compared["same"], compared["p_value"]) == (6, 6, 28, 1.0)
    assert (found.exit_code, len(rewards["old"])) == (0, len(rewards["new"]))
