"""A figure that the baseline has and this run lacks is named, and a limit on it counts as exceeded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hostile.whole_run.case import FAILED, PASS, SUITE, Case, check, suite, trace, trials

if TYPE_CHECKING:
    from pathlib import Path

CHECK = check("output_contains", value="refund")
GROWTH = {"regression": {name: {"max_increase": 0.2} for name in ("cost", "latency", "tokens")}}
PRICES = {"m1": {"input": 1, "output": 4}}
METERED: dict[str, Any] = trace(model="m1", usage={"input_tokens": 1000, "output_tokens": 100}, latency_seconds=1)
BARE = trace()
TOOLS = [{"name": "lookup_order", "parameters": {}}]
CRASHED = {**BARE, "status": "error", "error": {"type": "exit code 1"}}
STRICT = ("--fail-on", "hard_fail,regression,model_changed")
LENIENT = ("--fail-on", "hard_fail")


def limited(**policy: Any) -> dict[str, Any]:
    """A suite with limits of growth and prices."""
    return {SUITE: suite(CHECK, prices=PRICES, policy={**GROWTH, **policy})}


def without(name: str) -> dict[str, Any]:
    """The metered trace without a field."""
    return {key: value for key, value in METERED.items() if key != name}


def of(given: int, answered: int) -> dict[str, Any]:
    """The metered trace with these tokens."""
    return {**METERED, "usage": {"input_tokens": given, "output_tokens": answered}}


BEFORE = {**limited(), **trials(METERED, METERED)}
CASES = [
    Case(
        "usage, latency and model",
        {**limited(), **trials(BARE, BARE)},
        FAILED,
        ["cost no longer recorded (limit +20%)", "No longer recorded", "usage is missing"],
        STRICT,
        BEFORE,
    ),
    Case("tokens of 0", {**limited(), **trials(*[of(0, 0)] * 2)}, FAILED, ["tokens no longer"], STRICT, BEFORE),
    Case(
        "a time of 0",
        {**limited(), **trials(*[{**METERED, "latency_seconds": 0}] * 2)},
        FAILED,
        ["latency no longer"],
        STRICT,
        BEFORE,
    ),
    Case(
        "tokens of 0 that the baseline has too",
        {SUITE: suite(CHECK, policy=GROWTH), **trials(of(0, 0))},
        PASS,
        (),
        STRICT,
        {SUITE: suite(CHECK, policy=GROWTH), **trials(of(0, 0))},
        ["o longer recorded"],
    ),
    Case(
        "a limit stopped the runs",
        {**limited(), **trials(*[{**BARE, "status": "incomplete", "stopped_by": "the limit of turns"}] * 2)},
        FAILED,
        ["tokens no longer"],
        STRICT,
        BEFORE,
    ),
    Case(
        "only named where no limit is set",
        {SUITE: suite(CHECK), **trials(BARE, BARE)},
        PASS,
        ["No longer recorded", "tokens", "latency", "model"],
        ("--fail-on", "hard_fail,regression"),
        {SUITE: suite(CHECK), **trials(METERED, METERED)},
    ),
    Case("tokens", {**limited(), **trials(*[without("usage")] * 2)}, FAILED, ["tokens no longer"], STRICT, BEFORE),
    Case("latency", {**limited(), **trials(*[without("latency_seconds")] * 2)}, FAILED, ["latency no"], STRICT, BEFORE),
    Case(
        "the model, with `model_changed`",
        {SUITE: suite(CHECK), **trials(BARE)},
        FAILED,
        ["No longer recorded: model", "or no longer recorded them"],
        ("--fail-on", "hard_fail,model_changed"),
        {SUITE: suite(CHECK), **trials(trace(model="m1"))},
    ),
    Case(
        "tool definitions, with `model_changed`",
        {SUITE: suite(CHECK), **trials(BARE)},
        FAILED,
        ["No longer recorded: tool definitions"],
        ("--fail-on", "hard_fail,model_changed"),
        {SUITE: suite(CHECK), **trials(trace(tool_definitions=TOOLS))},
    ),
    Case(
        "a model without a price",
        {**limited(), **trials(*[{**METERED, "model": "m2"}] * 2)},
        FAILED,
        ["cost no longer recorded", "no price"],
        ("--fail-on", "hard_fail,regression"),
        BEFORE,
    ),
    Case(
        "missing in some trials",
        {**limited(), **trials(METERED, without("usage"), METERED)},
        PASS,
        ["1 of 3 trials"],
        STRICT,
        BEFORE,
    ),
    Case(
        "missing in some trials, and the others cost more",
        {**limited(), **trials({**METERED, "usage": {"input_tokens": 5000, "output_tokens": 100}}, without("usage"))},
        FAILED,
        ["cost +", "1 of 2 trials"],
        STRICT,
        BEFORE,
    ),
    Case(
        "a crashed trial does not count",
        {**limited(), **trials(METERED, CRASHED)},
        FAILED,
        ["run_failed"],
        STRICT,
        BEFORE,
        ["o longer recorded", "not recorded in"],
    ),
    Case(
        "the baseline never had it",
        {**limited(), **trials(BARE)},
        PASS,
        (),
        STRICT,
        {**limited(), **trials(BARE)},
        ["o longer recorded"],
    ),
    Case("nothing is missing", {**limited(), **trials(METERED)}, PASS, (), STRICT, BEFORE, ["o longer recorded"]),
    Case(
        "it is no failure where growth fails nothing",
        {**limited(), **trials(BARE, BARE)},
        PASS,
        ["cost no longer recorded"],
        LENIENT,
        BEFORE,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_figure_that_vanishes_is_named(case: Case, tmp_path: Path) -> None:
    assert case.find_faults(case.run(tmp_path)) == []


@pytest.mark.parametrize(
    ("whole", "part", "code"), [(0.01, 3.0, 1), (0.01, 0.0101, 0), (0.03, 0.01, 0), (0.01, None, 0)]
)
def test_a_cost_below_that_of_its_usage_is_unknown(tmp_path, whole, part, code):
    run = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "done"}]}
    usage = {"prompt_tokens": 9, "completion_tokens": 10, "total_tokens": 19, "cost": part}
    limit = check("cost_limit", max_usd=0.05)
    case = Case("cost", {SUITE: suite(limit), "traces/refund.json": {**run, "cost_usd": whole, "usage": usage}}, code)
    assert case.find_faults(case.run(tmp_path)) == []
