"""Writes a project of two scheduling suites with two variants, runs it, and calls the command in its folder."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any

from in_process_command import CommandResult

from evalgate.cli import main
from evalgate.cli.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PROJECT = """version: 1
suites: ["evals/*.yaml"]
defaults:
  traces: ["traces/*.jsonl"]
  tool: [schedule_task, set_cron]
  variants:
    flat: {match: {tags: [flat]}}
    grouped: {match: {tags: [grouped]}, tool: tasks, action: create}
"""
POSITIVE = """scenarios:
  - id: tea
    prompt: Remind me of my tea, twice.
    category: sequence
    expected_tool: schedule_task
    min_calls: 2
    assertions: [{type: no_run_code, name: "Runs no code, ever"}]
  - id: weekly
    prompt: Every Monday, please.
    category: recurring
    expected_tool: schedule_task
    assertions: []
"""
NEGATIVE = """scenarios:
  - id: joke
    prompt: A joke, please.
    category: negative
    expected_tool: null
    min_calls: 0
"""
ANSWER, ARGUMENT = "That is the final answer.", "argument-of-a-call"
STARTED, ENDED = "2026-11-20T10:00:00Z", "2026-11-20T10:00:03Z"


def a_trace(scenario: str, variant: str, calls: Sequence[tuple[str, Any]], **fields: Any) -> dict[str, Any]:
    """A native trace with these calls, of 3 s and 100 + 20 tokens."""
    requested = [{"id": f"c{number}", "name": name, "arguments": given} for number, (name, given) in enumerate(calls)]
    messages = [
        {"role": "user", "content": f"[2026-11-20T10:00:00Z]\nfirst message of {scenario}"},
        *([{"role": "assistant", "content": None, "tool_calls": requested}] if requested else []),
        *({"role": "tool", "tool_call_id": each["id"], "content": "ok"} for each in requested),
        {"role": "assistant", "content": ANSWER},
    ]
    return {
        "schema": "evalgate.trace/1",
        "trace_id": f"{scenario}-{variant}",
        "scenario_id": scenario,
        "tags": [variant],
        "messages": messages,
        "usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120},
        "started_at": STARTED,
        "ended_at": ENDED,
        "model": "small-1",
        **fields,
    }


CREATE = ("tasks", {"action": "create", "what": ARGUMENT})
TRACES = [
    a_trace("tea", "flat", [("schedule_task", {"what": ARGUMENT})]),
    a_trace("tea", "grouped", [CREATE, CREATE]),
    a_trace("weekly", "flat", [("set_timer", {})]),
    a_trace("weekly", "grouped", [CREATE]),
    a_trace("joke", "flat", []),
    a_trace("joke", "grouped", [CREATE]),
]


def write_project(folder: Path, traces: Sequence[dict[str, Any]] = TRACES) -> None:
    """Writes suites and traces, and judges them."""
    files = {"evalgate.yaml": PROJECT, "evals/positive.yaml": POSITIVE, "evals/negative.yaml": NEGATIVE}
    for name, text in {**files, "traces/all.jsonl": "\n".join(map(json.dumps, traces))}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def evalgate_in(folder: Path, environ: Mapping[str, str], *arguments: str) -> CommandResult:
    """Runs one command in the folder with this environment."""
    shell = Shell(out=StringIO(), err=StringIO(), environ=environ, cwd=str(folder))
    code = main(arguments, shell)
    return CommandResult(code, shell.out.getvalue(), shell.err.getvalue())
