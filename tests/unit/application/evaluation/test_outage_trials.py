"""What is decided before an outage stays so: no calls that could have followed undo the failure."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from hostile.recorded_calls import read

from evalgate.adapters.suites.yaml_tree import load
from evalgate.application.evaluation.outage_trials import judge_before_outage
from evalgate.models.trace.trace import Trace
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.parse import SharedDefaults, parse_suite
from evalgate.suite.suite_file import Defaults

PAYS = "tool_calls[?name == 'pay']"
LISTS = [PAYS, "tool_calls[].name", "tool_calls[].arguments.usd", f"{PAYS}.arguments.usd", "tool_calls[*]"]
NUMBERS = [
    f"length({PAYS})",
    f"{PAYS} | length(@)",
    "metadata.tool_call_count",
    "max(tool_calls[].arguments.usd)",
    "min(tool_calls[].arguments.usd)",
    "sum(tool_calls[].arguments.usd)",
    "tool_calls[-1].arguments.usd",
    "tool_calls[0].arguments.usd",
    f"{PAYS} | [0].arguments.usd",
    "length(tool_calls[?name != 'pay'])",
    "length(tool_calls) || `0`",
]
TRUTHS = [
    f"length({PAYS}) > `0`",
    f"`1` >= length({PAYS})",
    f"length({PAYS}) == `0`",
    f"length({PAYS}) == `1`",
    f"length({PAYS}) != `0`",
    "contains(tool_calls[].name, 'pay')",
    "!contains(tool_calls[].name, 'pay')",
    "contains(tool_calls[].name, 'look') && contains(tool_calls[].name, 'pay')",
    "!contains(tool_calls[].name, 'pay') || contains(tool_calls[].name, 'ask')",
    f"!({PAYS})",
    "tool_calls[-1].name == 'pay'",
    "tool_calls[0].name == 'pay'",
]
OF_LISTS: list[dict[str, Any]] = [
    *({"length": size} for size in (0, 1, 2)),
    *({"length": {name: size}} for name in ("gte", "lte", "gt", "lt") for size in (0, 1, 2)),
    *({"length": {"gte": 1, "lte": 1}}, {"contains": "pay"}, {"contains": 9}, {"eq": []}, {"eq": ["pay"]}, {"ne": []}),
]
OF_NUMBERS: list[dict[str, Any]] = [
    *({name: bound} for name in ("eq", "ne", "gt", "gte", "lt", "lte") for bound in (0, 1, 2, 9)),
    *({name: listed} for name in ("in", "not_in") for listed in ([0], [0, 1], [9])),
]
OF_TRUTHS: list[dict[str, Any]] = [{name: value} for name in ("eq", "ne") for value in (True, False)]
CHECKS = [
    {"not": each, "required": True} if is_negated else {**each, "required": True}
    for paths, operators in ((LISTS, OF_LISTS), (NUMBERS, OF_NUMBERS), (TRUTHS, OF_TRUTHS))
    for path, operator in product(paths, operators)
    for is_negated in (False, True)
    for each in ({"path": path, **operator},)
]
MEMBERS: list[dict[str, Any]] = [
    {"type": "forbidden_tools", "tools": ["pay"]},
    {"type": "tool_called", "tool": "pay"},
    {"type": "tool_called", "tool": "ask"},
    {"type": "tool_calls", "tool": "pay", "exactly": 1},
    {"type": "tool_sequence", "sequence": ["look", "pay"]},
    {"type": "max_tool_calls", "max": 1},
    {"type": "tool_arguments", "tool": "pay", "schema": {"properties": {"usd": {"maximum": 5}}}},
    {"type": "grounded_arguments", "tools": ["pay"]},
    {"type": "no_loops", "max_repeats": 1},
    {"path": f"length({PAYS})", "eq": 0},
    {"path": f"length({PAYS})", "gte": 2},
    {"path": "tool_calls[1].name == 'pay'", "eq": False},
    {"path": "tool_calls[-1].name", "ne": "pay"},
    {"path": "turns[0].content", "contains": "pay"},
    {"path": "length(turns)", "lte": 5},
]
EITHER = [*MEMBERS, *({"not": each} for each in MEMBERS)]
GROUPED = [
    {**group, "required": True}
    for one, other in product(EITHER, EITHER)
    for group in (
        {"any_of": [one, other]},
        {"when": one, "then": [other]},
        {"at_least": {"k": 2, "of": [one, other, {"contains": "paid"}]}},
        {"not": {"all_of": [one, other]}},
        {"not": {"when": one, "then": [{"any_of": [other, {"contains": "paid"}]}]}},
    )
]
CALLS = {"look": {}, "ask": {"usd": 1}, "pay": {"usd": 9}, "pay less": {"usd": -3}}
OUTAGE = {"type": "RateLimitError", "message": "429 too many requests", "status_code": 429}


def trace_of(*names: str) -> Trace:
    messages: list[Any] = [{"role": "user", "content": "pay 9"}]
    for number, name in enumerate(names):
        call = {"id": f"c{number}", "name": name.partition(" ")[0], "arguments": CALLS[name]}
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "done"})
    step = len(names) + 1
    record = {"schema": "evalgate.trace/1", "messages": messages, "llm_calls": [{"step": step, "error": OUTAGE}]}
    (trace,) = read(json.dumps(record).encode())
    assert isinstance(trace, Trace)
    return trace


@pytest.mark.parametrize("made", [("pay",), ("look", "pay less")], ids=" ".join)
@pytest.mark.parametrize("checks", [CHECKS, GROUPED[::13]], ids=["alone", "grouped"])
def test_no_later_call_undoes_what_was_decided(made: tuple[str, ...], checks: list[dict[str, Any]]) -> None:
    text = json.dumps({"version": 1, "suite": "s", "scenarios": [{"id": "a", "assertions": checks}]})
    diagnostics = Diagnostics()
    suite, _ = parse_suite(load(text, "s.yaml"), "s.yaml", "", SharedDefaults(None, Defaults()), diagnostics)
    assert suite is not None
    assert not diagnostics.problems
    (scenario,) = suite.scenarios
    judged = judge_before_outage(trace_of(*made), scenario)
    assert judged is not None
    decided = [check for check, row in zip(scenario.assertions, judged[1], strict=True) if row.outcome == "failed"]
    later = [trace_of(*made, *[name] * count) for count in (1, 2) for name in CALLS]
    undone = {
        check.name for check in decided for trace in later if check.assess(trace).outcome in ("passed", "skipped")
    }
    assert len(decided) > 5
    assert undone == set()
