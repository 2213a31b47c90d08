"""A tool that a check names and no trace knows is a warning where one with a similar name is called."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

if TYPE_CHECKING:
    from pathlib import Path

CALLED = "update_flights"
MESSAGE = "suite s: no trace calls or defines the forbidden tool {}, did you mean `update_flights`?"


def _run(
    folder: Path, assertion: dict[str, Any], defined: str | None = None, *, is_nested: bool = False
) -> list[dict[str, Any]]:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "name": CALLED, "arguments": {}}]}
    definition = {"name": defined}
    trace = {
        "schema": "evalgate.trace/1",
        "scenario_id": "a",
        "messages": [{"role": "user", "content": "a"}, call, {"role": "tool", "tool_call_id": "1", "content": "b"}],
        "tool_definitions": [] if defined is None else [{"function": definition} if is_nested else definition],
    }
    (folder / "all.jsonl").write_text(json.dumps(trace) + "\n" + json.dumps({**trace, "trace_id": "t"}))
    scenario = {"id": "a", "assertions": [assertion]}
    suite = {"version": 1, "suite": "s", "traces": ["all.jsonl"], "scenarios": [scenario]}
    (folder / "suite.yaml").write_text(json.dumps(suite))
    warnings = evalgate(folder, ["suite.yaml", "--no-baseline-zip"]).results["warnings"]
    return [each for each in warnings if each["code"] == "unknown_tool"]


@pytest.mark.parametrize(
    "assertion",
    [
        {"type": "forbidden_tools", "tools": ["update_flight"]},
        {"type": "forbidden_tools", "params": {"tools": ["update_flight"]}},
        {"type": "no_tool", "tool": "update_flight"},
        {"type": "expected_tool", "expected_tool": None, "tool": "update_flight"},
        {"type": "tool_calls", "forbidden_tools": ["update_flight", "delete_*"]},
        {"all_of": [{"type": "not_empty"}, {"type": "no_tool", "tool": "update_flight"}]},
        {"type": "no_run_code", "tool": "update_flight"},
    ],
)
def test_a_forbidden_tool_that_is_misspelt_is_a_warning_at_its_line(tmp_path: Path, assertion: dict[str, Any]) -> None:
    (found,) = _run(tmp_path, assertion)
    assert found["message"] == MESSAGE.format("`update_flight`")
    assert found["where"] == "suite.yaml:1"


@pytest.mark.parametrize(
    "assertion",
    [
        {"type": "tool_calls", "tool": "UpdateFlights", "max": 1},
        {"type": "tool_calls", "tool": "UpdateFlights", "exactly": 0},
        {"not": {"type": "tool_calls", "tool": "UpdateFlights", "min": 2}},
        {"not": {"type": "tool_called", "tool": "UpdateFlights"}},
        {"type": "tool_called", "tool": "UpdateFlights", "negate": True},
        {"not": {"type": "tool_sequence", "sequence": ["search", {"tool": "UpdateFlights"}]}},
        {"not": {"type": "expected_tool", "expected_tool": "UpdateFlights"}},
        {"not": {"type": "expected_tool", "tool": "UpdateFlights"}},
        {"when": {"type": "tool_called", "tool": "UpdateFlights"}, "then": [{"type": "not_empty"}]},
        {"when": {"type": "tool_calls", "tool": "UpdateFlights", "min": 1}, "then": [{"type": "not_empty"}]},
        {"type": "tool_latency_limit", "tool": "UpdateFlights", "max_seconds": 1, "on_missing": "skip"},
        {"type": "exit_code", "source": {"tool": "UpdateFlights"}, "on_missing": "skip"},
        {"not": {"type": "has_timing", "tool": "UpdateFlights"}},
        {"not": {"type": "trajectory_score", "reference": ["UpdateFlights"], "metric": "f1", "min_score": 0.5}},
        {"not": {"type": "allowed_tools", "tools": ["UpdateFlights"]}},
        {"type": "grounded_arguments", "tools": ["UpdateFlights"]},
        {"type": "no_flow", "from": {"tools": ["web_fetch"]}, "to": {"tools": ["UpdateFlights"]}},
        {"type": "skill_used", "skill": "pdf", "before": "UpdateFlights"},
    ],
)
def test_a_misspelt_tool_without_which_a_check_passes_or_is_skipped_is_a_warning(
    tmp_path: Path, assertion: dict[str, Any]
) -> None:
    (found,) = _run(tmp_path, assertion)
    assert found["message"] == (
        "suite s: no trace calls or defines the tool `UpdateFlights` (a check passes or is skipped without it),"
        " did you mean `update_flights`?"
    )


@pytest.mark.parametrize(
    "assertion",
    [
        {"type": "tool_called", "tool": "UpdateFlights"},
        {"type": "expected_tool", "tool": "UpdateFlights"},
        {"type": "expected_tool", "expected_tool": "UpdateFlights"},
        {"type": "tool_calls", "tool": "UpdateFlights", "exactly": 1},
        {"type": "tool_calls", "tool": "UpdateFlights", "min": 1, "max": 2},
        {"type": "tool_sequence", "sequence": ["update_flights", {"tool": "UpdateFlights"}]},
        {"type": "tool_sequence", "sequence": [{"one_of": ["UpdateFlights", "book"]}]},
        {"type": "trajectory_score", "reference": ["UpdateFlights"], "metric": "f1", "min_score": 0.5},
        {"type": "has_timing", "tool": "UpdateFlights"},
        {"when": {"type": "no_tool", "tool": "UpdateFlights"}, "then": [{"type": "not_empty"}]},
        {"not": {"type": "no_tool", "tool": "UpdateFlights"}},
        {"any_of": [{"type": "tool_called", "tool": "UpdateFlights"}, {"type": "not_empty"}]},
        {"type": "tool_latency_limit", "tool": "UpdateFlights", "max_seconds": 1},
    ],
)
def test_a_misspelt_tool_of_any_other_check_is_a_warning(tmp_path: Path, assertion: dict[str, Any]) -> None:
    (found,) = _run(tmp_path, assertion)
    said = "suite s: no trace calls or defines the tool `UpdateFlights`, did you mean `update_flights`?"
    assert found["message"] == said


@pytest.mark.parametrize(
    "assertion",
    [
        {"type": "output_contains", "source": "UpdateFlights", "value": "b", "on_missing": "skip"},
        {"type": "allowed_tools", "tools": ["UpdateFlights", "update_flights"]},
        {"type": "tool_sequence", "sequence": [{"one_of": ["UpdateFlights", "update_flights"]}]},
        {"any_of": [{"type": "tool_called", "tool": name} for name in ("UpdateFlights", "update_flights")]},
    ],
)
def test_a_tool_whose_check_runs_all_the_same_or_that_is_an_alternative_is_no_warning(
    tmp_path: Path, assertion: dict[str, Any]
) -> None:
    assert _run(tmp_path, assertion) == []


@pytest.mark.parametrize(
    ("tool", "defined"),
    [(CALLED, None), ("update_flight", "update_flight"), ("delete_user", None), ("update_flight*", None)],
)
def test_other_forbidden_tools_are_no_warning(tmp_path: Path, tool: str, defined: str | None) -> None:
    for is_nested in (False, True):
        assert _run(tmp_path, {"type": "forbidden_tools", "tools": [tool]}, defined, is_nested=is_nested) == []


@pytest.mark.parametrize(
    "name",
    ["update_.*", "update_flights|cancel", "update_flights, cancel", "{update_flights,cancel}", "^update", "update_%"],
)
def test_a_forbidden_tool_that_is_meant_as_another_pattern_is_a_warning(tmp_path: Path, name: str) -> None:
    (found,) = _run(tmp_path, {"type": "forbidden_tools", "tools": [name]})
    beginning = f"suite s: no trace calls or defines the forbidden tool `{name}`: only `*` matches"
    assert found["message"].startswith(beginning)


@pytest.mark.parametrize("name", ["filesystem.*", "update_*_now", "Search the web (all)", "a/b:c-d"])
def test_a_forbidden_tool_that_a_server_may_have_is_none(tmp_path: Path, name: str) -> None:
    assert _run(tmp_path, {"type": "forbidden_tools", "tools": [name]}) == []


def test_a_pattern_that_is_the_name_of_a_tool_is_none(tmp_path: Path) -> None:
    assert _run(tmp_path, {"type": "forbidden_tools", "tools": ["100 % refund"]}, defined="100 % refund") == []
