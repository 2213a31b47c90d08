"""A failing run that is made undefined anywhere never turns green, unless the report says what happened."""

from __future__ import annotations

import itertools
import shutil
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate
from mutations import Mutation, mutations, write_document

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

EACH = 25
"""Mutations of each failing run in a usual test run; `make matrix` tries all, and pairs of them."""

SUITE: dict[str, Any] = {
    "version": 1,
    "suite": "support",
    "traces": ["traces/*.jsonl"],
    "threshold": 0.8,
    "policy": {"fail_on": ["hard_fail", "below_threshold"], "regression": {"threshold": 0.05}},
    "defaults": {"assertions": [{"type": "cost_limit", "max_usd": 0.02, "required": True}]},
    "scenarios": [
        {
            "id": "refund",
            "threshold": 0.9,
            "assertions": [
                {
                    "name": "order",
                    "type": "tool_sequence",
                    "sequence": ["lookup", "refund"],
                    "required": True,
                },
                {
                    "name": "amount",
                    "path": "tool_calls[?name=='refund'] | [0].arguments.amount",
                    "lte": 42,
                    "required": True,
                },
                {"name": "says", "type": "output_contains", "value": "refunded", "weight": 2},
            ],
        },
        {
            "id": "greet",
            "trials": {"min": 2, "min_pass_rate": 1.0},
            "assertions": [
                {"name": "hello", "regex": "^Hello", "required": True},
                {"name": "quick", "type": "latency_limit", "max_seconds": 5, "required": True},
                {"name": "tokens", "path": "usage.total_tokens", "lt": 1000},
            ],
        },
    ],
}


def refund(text: str = "refunded", *, amount: int = 40, cost: float = 0.01, first: str = "lookup") -> Any:
    second = "refund" if first == "lookup" else "lookup"
    messages: list[Any] = [{"role": "user", "content": "my money, please"}]
    for number, name in enumerate((first, second)):
        arguments = {"amount": amount} if name == "refund" else {"id": 1}
        messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{number}", "name": name, "arguments": arguments}],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": "ok"},
        ]
    return trace("refund", [*messages, {"role": "assistant", "content": text}], cost, 1.0)


def greet(trial: int, text: str = "Hello you", *, seconds: float = 1.0) -> Any:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": text}]
    return {**trace("greet", messages, 0.01, seconds), "trial": trial}


def trace(scenario: str, messages: list[Any], cost: float, seconds: float) -> Any:
    return {
        "schema": "evalgate.trace/1",
        "scenario_id": scenario,
        "messages": messages,
        "usage": {"input_tokens": 100, "output_tokens": 20},
        "cost_usd": cost,
        "latency_seconds": seconds,
    }


GOOD = [refund(), greet(0), greet(1)]
FAILING = {
    "calls in the wrong order": [refund(first="refund"), greet(0), greet(1)],
    "an amount over its limit": [refund(amount=50), greet(0), greet(1)],
    "a cost over its limit": [refund(cost=0.5), greet(0), greet(1)],
    "a wrong text in one of two trials": [refund(), greet(0), greet(1, "Go away")],
    "too slow in one of two trials": [refund(), greet(0), greet(1, seconds=9.0)],
    "below the threshold": [refund("no"), greet(0), greet(1)],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, SUITE, GOOD)
    assert evalgate(tmp_path, ["suite.yaml"]).code == 0
    shutil.move(tmp_path / ".evalgate" / "baseline.zip", tmp_path / "baseline.zip")
    return tmp_path


def write(folder: Path, suite: Any, traces: Any) -> None:
    (folder / "traces").mkdir(exist_ok=True)
    (folder / "suite.yaml").write_text(write_document(suite), encoding="utf-8")
    lines = (
        "".join(f"{write_document(each)}\n" for each in traces) if isinstance(traces, list) else write_document(traces)
    )
    (folder / "traces" / "all.jsonl").write_text(lines, encoding="utf-8")


def judged(folder: Path, suite: Any, traces: Any) -> CommandResult:
    write(folder, suite, traces)
    return evalgate(folder, ["suite.yaml", "--baseline", "baseline.zip", "--no-baseline-zip"])


def problem(ran: CommandResult) -> str | None:
    """What is wrong with how the run ended; None if it is correct."""
    if ran.code == 70 or "Traceback" in ran.stderr:
        return "a bug in EvalGate"
    if ran.code != 0:
        return None
    reported = [key for key in ("weakenings", "removed", "unclaimed", "warnings") if ran.results[key]]
    heading = next(line for line in ran.text("comment.md").splitlines() if line.startswith("## "))
    if not reported and "passed, but" not in heading:
        return "green, and nothing is reported"
    return None


def cases(suite: Any, traces: Any) -> list[tuple[str, Mutation, Any, Any]]:
    found = [("suite", each, each.document, traces) for each in mutations(suite)]
    return found + [("traces", each, suite, each.document) for each in mutations(traces)]


def run_mutations(folder: Path, chosen: list[tuple[str, Mutation, Any, Any]]) -> list[str]:
    wrong = []
    for where, mutation, suite, traces in chosen:
        found = problem(judged(folder, suite, traces))
        if found is not None:
            wrong.append(f"{where} {mutation.place} {mutation.done}: {found}")
    return wrong


@pytest.mark.parametrize("name", FAILING)
def test_the_unchanged_run_fails(folder, name):
    assert judged(folder, SUITE, FAILING[name]).code == 1


@pytest.mark.parametrize("name", FAILING)
def test_a_failing_run_undefined_in_one_place(folder, name):
    chosen = Random(name).sample(cases(SUITE, FAILING[name]), EACH)  # noqa: S311  (the same in every run)
    assert run_mutations(folder, chosen) == []


@pytest.mark.matrix
@pytest.mark.parametrize("name", FAILING)
def test_a_failing_run_undefined_in_each_place(folder, name):
    assert run_mutations(folder, cases(SUITE, FAILING[name])) == []


@pytest.mark.matrix
@pytest.mark.parametrize("name", FAILING)
def test_a_failing_run_undefined_in_two_places(folder, name):
    random = Random(name)  # noqa: S311  (the same in every run)
    pairs = [
        ("both", first, second.document, first.document)
        for first, second in itertools.islice(
            zip(
                random.choices(list(mutations(FAILING[name])), k=300),
                random.choices(list(mutations(SUITE)), k=300),
                strict=True,
            ),
            300,
        )
    ]
    assert run_mutations(folder, pairs) == []


def test_a_good_trace_does_not_hide_a_bad_one(folder):
    ran = judged(folder, SUITE, [refund(), refund(amount=50), refund(), greet(0), greet(1)])
    assert ran.code == 1


def test_a_bad_trial_that_is_left_out_is_reported_as_a_weakening(folder):
    suite = {**SUITE, "scenarios": [SUITE["scenarios"][0], {**SUITE["scenarios"][1], "trials": {}}]}
    write(folder, suite, GOOD)
    assert evalgate(folder, ["suite.yaml"]).code == 0
    shutil.move(folder / ".evalgate" / "baseline.zip", folder / "baseline.zip")

    ran = judged(folder, suite, [refund(), greet(0)])

    assert [(each["kind"], each["scenario"]) for each in ran.results["weakenings"]] == [("trials_missing", "greet")]
