"""A forbidden call by an agent that another one started is found, however the run was recorded; honest runs pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from chain_builders import APIS, SUB, delegate
from command import evalgate
from recorded_cassettes import TRIAL

from evalgate.adapters.formats.writers.native import to_native
from evalgate.features.record.adapters.exchanges.trace import build_trace
from evalgate.features.record.models.run import ProcessRun
from hostile.suite_edits import suite, write

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

    from evalgate.features.record.models.exchange import Exchange

DENY = {"type": "forbidden_tools", "tools": ["delete_*"], "required": True}
HONEST = {"type": "forbidden_tools", "tools": ["refund"], "required": True}


def judge(folder: Path, record: Any, *checks: Any, **more: Any) -> CommandResult:
    write(folder, {"evals/s.yaml": suite(*checks, **more), "traces/a.json": record})
    return evalgate(folder, ["evals/s.yaml"])


def recorded(*exchanges: Exchange) -> Any:
    return to_native(build_trace(exchanges, ProcessRun(TRIAL, "t")))


def helper(call: Any, name: str) -> Exchange:
    return call("Extract", [("user", "a date")], [("ask", {"h": name})], 2.5, name)


RUNS = {
    "a sub-agent": delegate,
    "one with the same instructions": lambda call: delegate(call, system="MAIN"),
    "a request for a structure": lambda call: [*delegate(call)[::3], helper(call, "delete_db")],
    "one that no result came back from": lambda call: [delegate(call)[number] for number in (0, 1, 3)],
    "one that was still at work at the end": lambda call: [*delegate(call)[::3], call("SUB", SUB[:1], SUB[1:], 9.0)],
}


@pytest.mark.parametrize("call", APIS)
@pytest.mark.parametrize("run", RUNS)
def test_a_forbidden_call_of_a_recorded_chain_fails(tmp_path, run, call):
    assert judge(tmp_path, recorded(*RUNS[run](call)), DENY).code == 1


@pytest.mark.parametrize("call", APIS)
@pytest.mark.parametrize("run", RUNS)
def test_an_honest_run_of_several_agents_passes(tmp_path, run, call):
    ran = judge(tmp_path, recorded(*RUNS[run](call)), HONEST)
    assert ran.code == 0, ran.stdout


@pytest.mark.parametrize("call", APIS)
def test_a_request_for_a_structure_counts_for_no_other_check(tmp_path, call):
    record = recorded(*delegate(call)[::3], helper(call, "make_date"))
    checks = [
        {"type": "allowed_tools", "tools": ["delegate"], "required": True},
        {"type": "max_tool_calls", "max": 1, "required": True},
        {"type": "tool_sequence", "sequence": ["delegate"], "mode": "exact", "required": True},
        {"type": "no_tool", "tool": "make_date", "required": True},
    ]
    ran = judge(tmp_path, record, *checks)
    assert ran.code == 0, ran.stdout


@pytest.mark.parametrize("call", APIS)
def test_limits_count_the_calls_of_a_sub_agent(tmp_path, call):
    assert judge(tmp_path, recorded(*delegate(call)), {"type": "max_tool_calls", "max": 1, "required": True}).code == 1
