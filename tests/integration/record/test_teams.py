"""Runs of several agents with real frameworks: what is recorded, and what the framework's tracer wrote, is what was called.

Each program logs the calls as its tools run. A proxy sees no names, so the recorder's actors are compared by what they
called; a tracer's by name where it knows agents. `make teams` prints the runs as a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from team_runs.frameworks import AT_ONCE, FRAMEWORKS, run_framework
from team_runs.harnesses import HARNESSES, RAN
from team_runs.rows import read

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = {"Pydantic AI": ["nested", "twins"]}
"""What `make test` runs: two runs of one process."""


def choices() -> list[Any]:
    whole = [pytest.param(name, [], marks=pytest.mark.matrix) for name in FRAMEWORKS]
    return [*(pytest.param(name, shapes, id=f"{name}-sample") for name, shapes in SAMPLE.items()), *whole]


@pytest.mark.parametrize(("name", "shapes"), choices())
def test_the_calls_of_all_agents_are_recorded_and_traced_as_they_ran(tmp_path, name, shapes):
    if not FRAMEWORKS[name].python.exists():
        pytest.skip("`make sdks` and `make examples` install the frameworks")
    rows = run_framework(tmp_path, name, shapes)
    assert {row.shape: row.wrong for row in rows if row.wrong} == {}
    for row in rows:
        if (
            row.shape != "transfer"
        ):  # the agent that takes over has a conversation of its own, with that of the first as text
            require_end(tmp_path, row.shape)


def require_end(folder: Path, shape: str) -> None:
    """Asserts the answer and the results of a recording, and that calls to ask an agent started the others."""
    (trace,) = read(folder, f"traces/{shape}/0.jsonl")
    assert trace.response["content"] == ("cleaner is done" if shape == "handoff" else "planner is done")
    assert all(call["result_text"] for call in trace.tool_calls)
    for call in trace.tool_calls:
        started_by = call.get("started_by")
        assert started_by is None or trace.tool_calls[started_by]["name"].startswith("ask_")
        assert started_by is not None or call.get("actor") == "root" or shape in AT_ONCE


@pytest.mark.matrix
@pytest.mark.parametrize("shape", RAN)
@pytest.mark.parametrize("name", HARNESSES)
def test_coding_agents_are_recorded_and_their_files_read_as_they_ran(tmp_path, name, shape):
    if HARNESSES[name].program is None:
        pytest.skip("`make examples` installs Claude Code with the Claude Agent SDK, `make harnesses` Codex")
    assert HARNESSES[name].run(tmp_path, shape).wrong == []
