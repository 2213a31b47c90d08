"""Recorded totals that are below the sum of their recorded parts: they are not those of the run, and pass no limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from hostile.suite_edits import suite, trace, write

if TYPE_CHECKING:
    from collections.abc import Sequence

RECORDINGS = Path(__file__).resolve().parents[2] / "recordings"
TOKENS, COST = {"type": "token_limit", "max_total": 1_000_000}, {"type": "cost_limit", "max_usd": 100}
UNKNOWN, PASSED = {"not_evaluable"}, {"passed"}


def judge(folder: Path, check: Any, name: str, content: Any, **fields: Any) -> tuple[set[str], set[str]]:
    """The outcomes of a check of a recorded figure, and the codes of the warnings."""
    whole = {**suite(check, traces=[f"../traces/{name}"], **fields), "scenarios": [{"id": "*", "assertions": [check]}]}
    write(folder, {"evals/s.yaml": whole, f"traces/{name}": content})
    results = evalgate(folder, ["evals/s.yaml"]).results
    trials = [each for scenario in results["suites"][0]["scenarios"] for each in scenario["trials"]]
    return {row["outcome"] for each in trials for row in each["assertions"]}, {
        each["code"] for each in results["warnings"]
    }


def used(*parts: tuple[int, int] | None, costs: Sequence[float | None] = ()) -> list[dict[str, Any]]:
    """Model calls with these tokens and costs; None is unknown."""
    calls: list[dict[str, Any]] = [
        {} if each is None else {"model": "m", "usage": {"input_tokens": each[0], "output_tokens": each[1]}}
        for each in parts
    ]
    return calls + [{"model": "m"} if each is None else {"model": "m", "cost_usd": each} for each in costs]


WHOLE = {"input_tokens": 50, "output_tokens": 5}


@pytest.mark.parametrize(
    ("calls", "outcomes"),
    [
        (used((400, 5), (10, 5)), UNKNOWN),
        (used((25, 5), (25, 5)), UNKNOWN),
        (used((51, 5), None), UNKNOWN),
        (used((50, 5)), PASSED),
        (used((50, 5), None), PASSED),
        (used((20, 2), (10, 1)), PASSED),  # not all calls may be recorded
        ([], PASSED),
    ],
)
def test_tokens_below_those_of_the_calls_are_unknown(tmp_path, calls, outcomes):
    found, codes = judge(tmp_path, TOKENS, "a.json", trace("done", usage=WHOLE, llm_calls=calls))
    assert found == outcomes
    assert "total_mismatch" in codes or found == PASSED


def test_tokens_that_differ_by_rounding_are_known(tmp_path):
    exact = {"input_tokens": 10_000, "output_tokens": 500}
    rounded = {"input_tokens": 9_950, "output_tokens": 500}
    for usage in (rounded, exact):
        found, codes = judge(tmp_path, TOKENS, "a.json", trace("x", usage=usage, llm_calls=used((10_000, 500))))
        assert (found, "total_mismatch" in codes) == (PASSED, False)


@pytest.mark.parametrize(
    ("total", "costs", "outcomes"),
    [
        (0.01, [0.2, 0.3], UNKNOWN),
        (0.0123, [0.02, None], UNKNOWN),
        (0.5, [0.2, 0.3], PASSED),
        (0.9, [0.2, 0.3], PASSED),
        (0.01, [0.0061, 0.0062], PASSED),  # rounded to cents
        (0.00035, [0.0001, 0.0001, 0.0001, 0.0001], PASSED),  # of which each part was rounded
    ],
)
def test_a_cost_below_that_of_the_calls_is_unknown(tmp_path, total, costs, outcomes):
    found, codes = judge(tmp_path, COST, "a.json", trace("done", cost_usd=total, llm_calls=used(costs=costs)))
    assert found == outcomes
    assert ("total_mismatch" in codes) == (outcomes == UNKNOWN)


@pytest.mark.parametrize("fields", [{"cost_usd": 0.001}, {"usage": {"input_tokens": 5, "output_tokens": 1}}])
def test_prices_do_not_replace_a_figure_that_contradicts(tmp_path, fields):
    calls = [{**each, "cost_usd": 0.3} for each in used((50_000, 500))]
    fields = {"usage": {"input_tokens": 50_000, "output_tokens": 500}} | fields
    prices = {"prices": {"m": {"input": 1, "output": 1}}}
    assert judge(tmp_path, COST, "a.json", trace("done", model="m", llm_calls=calls, **fields), **prices)[0] == UNKNOWN


FILES: dict[str, tuple[Any, dict[str, str]]] = {
    "atif/order.json": (TOKENS, {'"total_prompt_tokens": 250': '"total_prompt_tokens": 25'}),
    "atif/order.json ": (COST, {'"total_cost_usd": 0.03': '"total_cost_usd": 0.003'}),
    "codex/rollout.jsonl": (TOKENS, {'"input_tokens": 300': '"input_tokens": 140', ": 330": ": 170"}),
    "exgentic/trajectory.jsonl": (COST, {'"steps": 3, "agent_cost": 0.3': '"steps": 3, "agent_cost": 0.03'}),
    "mini-swe-agent/newer.json": (COST, {'"instance_cost": 0.02': '"instance_cost": 0.002'}),
    "openhands/output.jsonl": (COST, {'"accumulated_cost": 0.5': '"accumulated_cost": 0.05'}),
    "tau2/results.json": (COST, {'"agent_cost": 0.03': '"agent_cost": 0.003'}),
}


@pytest.mark.parametrize("name", FILES)
def test_totals_of_other_formats_are_compared_with_their_parts(tmp_path, name):
    check, less = FILES[name]
    path = RECORDINGS / name.strip()
    content = path.read_text(encoding="utf-8")
    assert judge(tmp_path, check, path.name, content)[0] == PASSED
    for written, changed in less.items():
        assert written in content
        content = content.replace(written, changed)
    found, codes = judge(tmp_path, check, path.name, content)
    assert found == UNKNOWN
    assert "total_mismatch" in codes


@pytest.mark.parametrize(("cost", "outcomes"), [(0.0002, UNKNOWN), (0.002, PASSED), (0.003, PASSED)])
def test_a_cost_of_promptfoo_is_compared_with_that_of_its_answer(tmp_path, cost, outcomes):
    content = json.loads((RECORDINGS / "promptfoo/output.json").read_text(encoding="utf-8"))
    first = content["results"]["results"][0]
    first["response"]["cost"] = 0.002
    content["results"]["results"] = [{**first, "cost": cost}]
    assert judge(tmp_path, COST, "output.json", content)[0] == outcomes
