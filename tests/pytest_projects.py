"""Writes projects with suites and traces into a pytester's folder, and runs pytest on them."""

from __future__ import annotations

import json
from typing import Any

import pytest

INI = "[pytest]\nevalgate_suites = evals/**/*.yaml\n"
# By its module, for environments made before the plugin had an entry point.
WORDS = ["-p", "no:randomly", "-p", "no:evalgate", "-p", "evalgate.pytest_plugin"]
SUITE = """suite: support
traces: [../traces/*.jsonl]
scenarios:
  - id: refund
    tags: [money]
    assertions: [{type: output_contains, value: refunded, required: true}]
  - id: greet
    assertions: [{type: output_contains, value: Hello}, {type: output_contains, value: again}]
  - id: budget
    assertions: [{type: cost_limit, max_usd: 1}]
"""


def make_trace(scenario: str, answer: str, **fields: Any) -> str:
    """One native trace in a line."""
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": answer}]
    return json.dumps({"schema": "evalgate.trace/1", "scenario_id": scenario, "messages": messages, **fields}) + "\n"


GOOD = {
    "refund": make_trace("refund", "It is refunded.", cost_usd=0.5, usage={"total_tokens": 12}),
    "greet": make_trace("greet", "Hello again"),
    "budget": make_trace("budget", "Fine", cost_usd=0.5),
}


def write_project(pytester: pytest.Pytester, suite: str = SUITE, ini: str = INI, **traces: str | None) -> None:
    """A suite, and a file of traces each; by default all of them pass, and None is no file."""
    write(pytester, {"evals/support.yaml": suite, "pytest.ini": ini})
    write(pytester, {f"traces/{name}.jsonl": text for name, text in {**GOOD, **traces}.items() if text})


def write(pytester: pytest.Pytester, files: dict[str, str]) -> None:
    """Files below the project's folder."""
    for name, text in files.items():
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def run_pytest(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    """Runs pytest in this process."""
    return pytester.runpytest_inprocess(*WORDS, *words)


def start_pytest(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    """Runs pytest in a process of its own, with no other plugins than this one and xdist, which start faster."""
    words = ("-p", "xdist", "-p", "evalgate.pytest_plugin", *words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        return pytester.runpytest_subprocess(*words, timeout=300)
